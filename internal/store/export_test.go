package store

// SchemaVersion that this Kasoku writes.
func SchemaVersion() int { return len(migrations) }
