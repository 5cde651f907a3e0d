package ini

import "slices"

// Written lists the keys that stand in the section of that very name, as first
// written, in order: those of sections that a MariaDB server reads with it, which
// a MySQL server leaves alone, are not among them.
func (c *Config) Written(section string) []string {
	var out, seen []string
	for _, p := range c.places() {
		if p.line.kind != entry || p.special || p.section != section {
			continue
		}
		if k := c.dialect.canonicalKey(p.line.key); !slices.Contains(seen, k) {
			seen = append(seen, k)
			out = append(out, p.line.key)
		}
	}
	return out
}
