package experiment

import "kasoku/internal/stat"

// Levels hands out the false-keep rate of each experiment of a session, so that
// what a whole session keeps holds, too: the chance that a session keeps
// anything that brings nothing is at most Session, however many experiments it
// makes.
//
// It is alpha-spending with a refund. The session begins with Session to spend.
// Each experiment may err at a fraction of what is left; if it keeps nothing that
// is spent, if it keeps something it is given back: either it kept something
// true, which is no error, or the session has erred already. So until the first
// false keep all candidates without effect have spent at most Session together,
// and the chance of it is no larger (the union bound of online fallback, Tian &
// Ramdas 2021, Stat. Methods Med. Res. 30:976, and of alpha-investing without a
// reward, Foster & Stine 2008, J. R. Stat. Soc. B 70:429). It needs of each
// experiment only that it holds its level whatever came before. A coin of its own
// sees to that where pairs are independent; docs/explanation/verdict.md tells how far the
// noise of real runs departs from it.
type Levels struct {
	// Each is the most that one experiment may have, as a fraction.
	Each float64
	// Session is the most that all may have together; 0: SessionTimes × Each.
	Session float64

	spent float64
}

const (
	// SessionTimes: by default one session in twenty keeps anything in vain when
	// an experiment alone does so one time in a hundred.
	SessionTimes = 5
	// spending is the share of what is left that one experiment may spend. A
	// session of cases/login keeps nothing in about ten experiments; up to there
	// none has a lower level than with a twentieth, and the first, which bring
	// most, have twice as much.
	spending = 1.0 / 10
)

// Next is the level of the experiment that begins now. It never is less than
// what the sequential test can be asked for.
func (l *Levels) Next() float64 {
	return max(min(l.Each, l.left()*spending), stat.MinAlpha)
}

// Charge says how an experiment ended that had the given level. One that ended
// before its first look at the scores could not err and need not be told. One
// that went on with another's looks, at its level, is the same test: it was
// charged then.
func (l *Levels) Charge(level float64, kept, goesOn bool) {
	switch {
	case !kept && !goesOn:
		l.spent += level
	case kept && goesOn:
		l.spent = max(l.spent-level, 0)
	}
}

// left is what the session may still spend.
func (l *Levels) left() float64 {
	all := l.Session
	if all == 0 {
		all = SessionTimes * l.Each
	}
	return max(all-l.spent, 0)
}
