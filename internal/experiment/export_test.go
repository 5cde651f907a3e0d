package experiment

// Tell says how an experiment ended that Next was asked for. One that ended
// before its first look at the scores could not err and need not be told.
func (l *Levels) Tell(kept bool) { l.Charge(l.Next(), kept, false) }
