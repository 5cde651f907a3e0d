package patch

// takesValues reads ON DUPLICATE KEY UPDATE to its end: columns that are given the value
// of the row that is there already, which is the same for one row and for several.
func (p *sqlParser) takesValues() bool {
	for _, w := range []string{"ON", "DUPLICATE", "KEY", "UPDATE"} {
		if !p.take(w) {
			return false
		}
	}
	for {
		column, _, ok := p.name()
		if !ok || !p.take("=") || !p.take("VALUES") || !p.take("(") {
			return false
		}
		if of, _, ok := p.name(); !ok || of != column || !p.take(")") {
			return false
		}
		if !p.take(",") {
			return p.at == len(p.ws)
		}
	}
}
