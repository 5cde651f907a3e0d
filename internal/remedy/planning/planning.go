// Package planning holds what the families of remedies share: what is known
// (Input), what a plan is (Plan), and how files become changes. It plans
// nothing itself and touches no host.
package planning

import (
	"math"
	"strconv"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
)

// MiB in bytes.
const MiB = 1 << 20

// Input of planning: all that is known, nothing that acts.
type Input struct {
	Stack     *stack.Stack
	Evidence  *evidence.Evidence // of the latest diagnostic run
	Snapshot  *evidence.Snapshot
	Diagnosis *diagnose.Diagnosis
	// Rights of the user who runs Kasoku; nil: nobody asked, all is planned.
	Rights *stack.Rights
}

// Remedy is one entry of the table.
type Remedy struct {
	ID       string   // "mariadb.index"
	Title    string   // "Missing indexes"
	Measures []string // IDs of MEASURES
	// Rules are the diagnose rules whose findings it answers.
	Rules []string
	// Reason says why it helps, Source where that is written.
	Reason, Source string
	// Reach is the part, 0–1, that such a remedy usually takes away of the demand
	// whose end is the finding's bound (Expected). It only orders what is tried
	// first; the experiment decides. The values are rough: what experiments on
	// cases/login reached.
	Reach float64
	// Small remedies bring little each and disturb nothing: Together joins
	// those that are called for into one plan.
	Small bool
	// Trades that it always makes; a Plan may add more.
	Trades []regulation.Trade
	// Plan returns the plans for one finding; none if it does not apply.
	Plan func(in Input, f diagnose.Finding) ([]Plan, error)
	// Command is what a person would write or type instead, by example; Undo
	// is what taking it back does.
	Command, Undo string
	// Effect is what was measured here, with the command that repeats it;
	// "" if nothing was.
	Effect string
	// Unmeasured says why no small stack shows an effect, "" if one can.
	Unmeasured string
	// Test names the test that shows it on the real server.
	Test string
}

// Plan is one way to act on a finding.
type Plan struct {
	ID       string   `json:"id"` // stable for the same act: "mariadb.index:db.users(login)"
	Remedy   string   `json:"remedy"`
	Measures []string `json:"measures"`
	Title    string   `json:"title"`
	Why      string   `json:"why"` // with the finding's numbers
	// Bound and Reach are the finding's and the remedy's, unless the planner knows what its
	// own changes act on.
	Bound float64 `json:"bound"`
	Reach float64 `json:"reach"`
	// Spares is the part (0–1) of a request's CPU that goes if all goes that it acts on;
	// 0: that is not CPU. Service spends it, and the part Spent of a request's CPU in all,
	// so that no group is expected to take away more; "" and 0 unknown.
	Spares  float64 `json:"spares,omitempty"`
	Service string  `json:"service,omitempty"`
	Spent   float64 `json:"spent,omitempty"`
	// Limit is the factor that what the Service has no part in allows; 0 unknown.
	Limit   float64            `json:"limit,omitempty"`
	Rule    string             `json:"rule"` // of the finding
	Trades  []regulation.Trade `json:"trades,omitempty"`
	Changes []change.Change    `json:"changes"`
	// Prepare are transactions of their own that the switch, Changes, needs and
	// that no client sees, such as a unit that is started on another host. They
	// are put in place in this order before the first pair, and back after the
	// last in the reverse order unless Changes are kept.
	Prepare [][]change.Change `json:"prepare,omitempty"`
	// Fills: it has a cache that is empty whenever the plan is put in place, so
	// that what an experiment would see first is how it is filled.
	Fills bool `json:"fills,omitempty"`
	// Workload, if not 0, is a new number of virtual users (L01): it changes
	// the load, not the target.
	Workload int `json:"workload,omitempty"`
	// Fresh, if not nil, is what a cache of whole pages must keep to; the loop
	// compares it with what the application itself answers.
	Fresh *Fresh `json:"fresh,omitempty"`
	// EditsSettings: it changes an application's own settings, which the
	// regulation must permit.
	EditsSettings bool `json:"edits_settings,omitempty"`
	// EditsSource: it changes an application's source, which the regulation must permit.
	EditsSource bool `json:"edits_source,omitempty"`
	// Back is the ID of the plan that would lead back once this one is kept, or, for
	// a search, once it is judged: it is not tried while the same binds. "" if no
	// plan does.
	Back string `json:"back,omitempty"`
	// Build is about the longest that putting it in place takes beside the
	// activation of services, e.g. building indexes; 0 = nothing worth a word.
	Build time.Duration `json:"build,omitempty"`
	// Alone: it may make requests fail that did not, or contradicts what was kept, so it is
	// tried by itself: a group with it would fail as a whole.
	Alone bool `json:"alone,omitempty"`
	// Deadlocks: with its indexes transactions may end in deadlocks that did not. A group with it
	// that makes requests fail is tried again without it.
	Deadlocks bool `json:"deadlocks,omitempty"`
	// Parts, if there are any, are the plans that this one joins.
	Parts []Part `json:"parts,omitempty"`
	// Search asks the loop to look for the best of several values; Values are
	// the candidates in the order to try, At plans one of them.
	Search *Search `json:"search,omitempty"`
}

// All are the changes of the plan with those that prepare it, in order.
func (p Plan) All() []change.Change {
	var out []change.Change
	for _, cs := range p.Prepare {
		out = append(out, cs...)
	}
	return append(out, p.Changes...)
}

// Fresh is what a cache of whole pages promises: strangers get each page at
// most MaxAge older than the application would have answered it.
type Fresh struct {
	URLs   []string      `json:"urls"`
	MaxAge time.Duration `json:"max_age"`
}

// Search over one number, e.g. the count of PHP-FPM processes.
type Search struct {
	Name    string                                   `json:"name"` // "pm.max_children"
	Current int                                      `json:"current"`
	Values  []int                                    `json:"values"` // ascending, without Current
	At      func(value int) ([]change.Change, error) `json:"-"`
	// Threshold: a value may help only from some size on, where everything fits, so
	// that one which does worse than those below it does not end the search.
	Threshold bool `json:"threshold,omitempty"`
}

// searchCost is what a search takes beside a plain experiment: its probes (two
// rounds of about five values, with a switch before each) take as long again,
// and more.
const searchCost = 2.5

// Worth is what is known beforehand of what a plan brings.
type Worth struct {
	Bound, Reach, Spares float64 // as Plan has them
	// Limit is the most that is expected, as what goes leaves other resources as full as
	// they are; 0: none is known.
	Limit float64
}

// Worth of the plan by itself.
func (p Plan) Worth() Worth { return Worth{p.Bound, p.Reach, p.Spares, p.Limit} }

// Expected is the factor of throughput, ≥ 1, that is expected of a remedy which takes
// away the part Reach (0–1) of a demand. The law of the bottleneck (throughput = 1 /
// demand of the busiest resource; Denning and Buzen, 1978) gives, where the demand is
// the part Spares of a request's CPU,
//
//	1 / (1 − Reach·Spares)
//
// and no more than Bound, nor than Limit. A bound holds more than that: CPU that is idle now, and work
// that others do cheaper then, of which nothing is certain. Where what goes is not CPU,
// the demand is the share 1 − 1/Bound of what binds.
//
// A bound ranks nothing: of something that could bring ×50 and takes away three
// tenths, ×1.4 is expected; of an index that could bring ×10 and takes away nine
// tenths, ×5.3.
func (w Worth) Expected() float64 {
	if w.Spares > 0 {
		gone := math.Min(math.Max(w.Reach, 0), 1) * math.Min(w.Spares, mostSpared)
		most := math.Max(w.Bound, 1)
		if w.Limit > 0 {
			most = math.Min(most, w.Limit)
		}
		return math.Min(1/(1-gone), most)
	}
	return PartOf(w.Bound, w.Reach)
}

// mostSpared keeps what is expected finite.
const mostSpared = 0.99

// PartOf is the bound of what acts on a part (0–1) of the demand that a bound is for.
func PartOf(bound, part float64) float64 {
	share := 1 - 1/math.Max(bound, 1)
	return 1 / (1 - math.Min(math.Max(part, 0), 1)*share)
}

// BindingReach is the reach of more workers where they are what binds, while CPU is idle:
// requests wait for nothing else. On uWSGI with one process on two CPUs the bound was
// ×1.9; on PHP-FPM with one process ×2.4 was measured (make bench-bounds).
const BindingReach = 0.7

// WorkersReach is the reach of another number of a service's workers; usual where they
// are not what binds.
func WorkersReach(in Input, service string, usual float64) float64 {
	if in.Diagnosis.WorkersBind(service) {
		return BindingReach
	}
	return usual
}

// SaidReach is the part (0–1) of a finding's demand that goes, where its rule estimated it
// from the evidence; 0 if not.
func SaidReach(f diagnose.Finding) float64 {
	reach, err := strconv.ParseFloat(f.Subject["reach"], 64)
	if err != nil {
		return 0
	}
	return min(max(reach, 0), 1)
}

// Joint is what several are worth that act on parts of one demand, whose own bound is
// most: their parts add up. Spared is all of the demand, 0 if it is not of CPU.
func Joint(most, spared float64, parts []Part) Worth {
	var all, gone, cpu, ofCPU float64
	for _, p := range parts {
		share := 1 - 1/math.Max(p.Bound, 1)
		all, gone = all+share, gone+p.Reach*share
		cpu, ofCPU = cpu+p.Spares, ofCPU+p.Reach*p.Spares
	}
	if all = math.Min(all, 1-1/math.Max(most, 1)); all <= 0 {
		return Worth{Bound: 1}
	}
	w := Worth{Bound: 1 / (1 - all), Reach: math.Min(gone/all, 1)}
	if cpu = math.Min(cpu, spared); cpu > 0 {
		w.Spares, w.Reach = cpu, math.Min(ofCPU/cpu, 1)
	}
	return w
}

// Promise orders plans: the gain that is expected, divided by the time that it takes
// (1 = one experiment).
func (p Plan) Promise() float64 {
	gain := p.Worth().Expected() - 1
	if p.Search != nil || p.Workload > 0 {
		return gain / searchCost
	}
	return gain
}
