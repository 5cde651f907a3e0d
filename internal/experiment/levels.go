package experiment

// Levels hands out the false-keep rate of each experiment of a session, so that
// what a whole session keeps holds, too.
type Levels struct {
	// Each is the most that one experiment may have, as a fraction.
	Each float64
}

// Next is the level of the experiment that begins now.
func (l *Levels) Next() float64 { return l.Each }

// Tell says how the experiment that Next was asked for ended.
func (l *Levels) Tell(kept bool) {}
