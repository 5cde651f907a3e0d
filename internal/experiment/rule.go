package experiment

import (
	"time"

	"kasoku/internal/stat"
)

// Rule says how sure a verdict must be.
type Rule struct {
	// Alpha is the false-keep rate of one experiment, from stat.MinAlpha to
	// stat.MaxAlpha.
	Alpha float64
	// MaxPairs of runs; at least 3. See stat.NewSequential for those that are
	// used fully.
	MaxPairs int
	// Fitted: MaxPairs is what the time left allows (Fit). What so few cannot show is not
	// shown to be without effect.
	Fitted bool
	// SmallestEffect worth keeping, as a fraction: 0.01 = 1 %.
	SmallestEffect float64
	// MaxRepeats of one unfit run before the experiment gives up.
	MaxRepeats int
	// MemoryHeadroom is the share of each host's memory that a candidate must leave
	// free, 0 to 0.9; 0 = not judged. Where the baseline leaves less already, the
	// candidate may not take more.
	MemoryHeadroom float64
	// Losses: a loss is asked for, too. What would end because a gain is unlikely goes
	// on while a loss is likely (one-sided, 90 %), and only the levels of the looks
	// call it regressed. Otherwise a single test at Alpha does when it ends, to say
	// what became of it.
	Losses bool
	// AnyTail turns the guard on tail latency off: more users wait longer by
	// nature when the load itself is what is tried.
	AnyTail bool
	// AnyAnswers turns the guards on wrong answers and failures off.
	AnyAnswers bool
	// WrongBefore of AskedBefore answers were wrong in runs without any candidate, before
	// the experiment, those that were no evidence among them.
	WrongBefore, AskedBefore int64
	// Deadline after which no pair begins any more; zero: none. An experiment
	// that it ends is inconclusive and says so in Verdict.OutOfTime.
	Deadline time.Time
	// Latest, if later than Deadline: where the 95 % interval is above
	// SmallestEffect at Deadline, it goes on until then, as a verdict is near.
	Latest time.Time
	// Shared: Deadline is the experiment's share of a time that others wait for.
	Shared bool
	// Patience is the number of pairs after which one that does not lead by then
	// makes way for others that wait, or before that if so many will not show
	// anything. It is inconclusive then, says so in Verdict.Shared, and may go on
	// with its pairs later, at the same level. 0: nobody waits.
	Patience int
	// Spread is how far runs of like states differ, as the session knows it: variances
	// of the log of scores. With it a great effect is judged after two to four pairs.
	Spread stat.Variance
	// Earlier are the runs of an experiment with the same two sides that was cut
	// off. Its complete pairs are the first ones of this. With that one's Alpha
	// and MaxPairs both together are one test as any other: when to pause says
	// nothing of how it ends, and no look is taken twice.
	Earlier []Sample
	// Seed of the coin that orders the pairs.
	Seed uint64
}

// DefaultRule: 1 % false keeps, 1 % smallest effect, at most 400 pairs, with which
// 2 % can be shown where pairs differ by 9 % (docs/explanation/verdict.md). Most experiments
// end long before.
func DefaultRule() Rule {
	return Rule{Alpha: 0.01, MaxPairs: 400, SmallestEffect: 0.01, MaxRepeats: 3}
}

// Fit is how many pairs an experiment may have where each takes so long and so much time
// is left, at most most: levels that are made for more than there is time for find less.
// At least stat.FirstLook.
func Fit(most int, pair, left time.Duration) int {
	if pair <= 0 {
		return most
	}
	return min(most, max(int(left/pair), stat.FirstLook))
}
