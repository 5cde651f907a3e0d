// Command mutants looks whether the tests notice when the code is wrong. It
// draws small changes ("mutants") of internal/change, internal/experiment,
// internal/stat, internal/confedit and internal/digest, as many of each and of
// each kind: a comparison turned (< to <=, == to !=), + for -, a condition
// negated, an assignment or a call left out, a constant one higher, nil for an
// error, one side of && or || left out. Only what compiles is drawn.
//
//  1. draw   the seed and N tell the mutants; the same sources, the same draw
//  2. build  the package's test binary, with go test -overlay: no file of the
//     tree is written
//  3. run    the tests of files named like the mutated one and those that name
//     the mutated function; if they pass, all others of the package; with
//     -wide also the tests of packages of the group that import it
//  4. tell   which test killed it, that its time was up (counts as killed), or
//     that it survived
//
// Tests run in namespaces of their own, over a copy-on-write view of the
// machine, where those are to be had (box.go): a mutant of what removes files
// does not reach any. No test is left out: those of internal/change take four
// minutes as a whole, but few mutants outlive its first, near ones.
//
// Mutants that no test can tell stand in equal.txt, each with the reason.
//
// In: the repository (the folder that it runs in). Out: a line per mutant and
// a table; with -write a JSON that -known takes, so that later runs try only
// mutants that survived or whose file or tests changed. Exit status 0 if the
// share of -bar is killed, 1 if not, 2 if the run itself failed, 130 if
// interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settings are the command line.
type settings struct {
	seed         int64
	count        int
	only         map[int]bool // numbers; nil: all
	known, write string
	equal        string
	bar          float64
	limit        time.Duration
	wide, list   bool
	table        bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings passed in.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	ok := false
	if err == nil {
		ok, err = s.session(ctx, stdout)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "mutants: interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	var only string
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Int64Var(&s.seed, "seed", 1, "which mutants are drawn")
	f.IntVar(&s.count, "n", 60, "how many are drawn")
	f.StringVar(&only, "only", "", "numbers of the mutants to try, as 3,17")
	f.StringVar(&s.known, "known", "", "results of an earlier run: try only what survived or changed")
	f.StringVar(&s.write, "write", "", "file for the results, written after each mutant")
	f.StringVar(&s.equal, "equal", "bench/mutants/equal.txt", "list of mutants that no test can tell")
	f.Float64Var(&s.bar, "bar", 0.9, "the share that has to be killed, 0 to 1")
	f.DurationVar(&s.limit, "timeout", 3*time.Minute, "how long the tests of one mutant may take (five times that in internal/change)")
	f.BoolVar(&s.wide, "wide", false, "run the tests of packages that import the mutated one, too")
	f.BoolVar(&s.list, "list", false, "only print the mutants")
	f.BoolVar(&s.table, "table", false, "only print the table of -known")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("%q is not understood; see -h", f.Arg(0))
	}
	if only != "" {
		s.only = map[int]bool{}
		for _, part := range strings.Split(only, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || n < 1 || n > s.count {
				return s, fmt.Errorf("-only %q: wanted numbers of 1 to %d with commas", only, s.count)
			}
			s.only[n] = true
		}
	}
	return s, nil
}

// session tries the mutants and tells whether the bar is reached.
func (s settings) session(ctx context.Context, stdout io.Writer) (bool, error) {
	root, err := os.Getwd()
	if err != nil {
		return false, err
	}
	known, err := readResults(s.known)
	if err != nil {
		return false, err
	}
	if s.table {
		list := slices.SortedFunc(maps.Values(known), func(a, b result) int { return a.Number - b.Number })
		return table(stdout, list).share() >= s.bar, nil
	}
	reasons, err := readEqual(s.equal)
	if err != nil {
		return false, err
	}
	drawn, all, err := draw(ctx, root, s.seed, s.count)
	if err != nil {
		return false, err
	}
	if s.list {
		for _, m := range drawn {
			fmt.Fprintf(stdout, "%3d %-10s %s:%d %s: %s\n", m.number, m.kind, m.file, m.line, m.function, m.what())
		}
		return true, nil
	}
	box, err := newBox(ctx, root)
	if err != nil {
		return false, err
	}
	defer box.close()
	if !box.apart {
		fmt.Fprintln(stdout, "without namespaces of their own: not root, or no unshare")
	}
	t := &trier{root: root, box: box, limit: s.limit, wide: s.wide, all: all, clean: map[string]bool{}}
	done := results{Seed: s.seed, Count: s.count}
	for _, m := range drawn {
		r, err := s.one(ctx, t, m, known, reasons)
		if err != nil {
			return false, err
		}
		if r.Status == "" {
			continue
		}
		fmt.Fprintln(stdout, r.line())
		done.Results = append(done.Results, r)
		if s.write != "" {
			if err := done.merged(drawn, known).write(s.write); err != nil {
				return false, err
			}
		}
	}
	fmt.Fprintln(stdout)
	return table(stdout, done.Results).share() >= s.bar, nil
}

// one is the result of one mutant: known, or tried. Its status is empty if
// neither was asked for.
func (s settings) one(ctx context.Context, t *trier, m mutant, known map[string]result, reasons map[string]string) (result, error) {
	file, tests, err := hashes(t.root, m)
	if err != nil {
		return result{}, err
	}
	r, was := known[m.id()]
	reason, same := reasons[m.id()]
	switch {
	case s.only != nil && !s.only[m.number]:
		return result{}, nil
	case same:
		first := r.First
		r = newResult(m)
		r.Status, r.Reason, r.First = equal, reason, first
		if first == "" {
			r.First = equal
		}
	case was && r.Status.dead() && r.FileHash == file && r.TestHash == tests:
		r.Number = m.number
	default:
		first := r.First
		if r, err = t.try(ctx, m); err != nil {
			return result{}, fmt.Errorf("mutant %d: %w", m.number, err)
		}
		if r.First = first; first == "" {
			r.First = r.Status
		}
	}
	r.FileHash, r.TestHash = file, tests
	return r, nil
}

func (r result) line() string {
	what := string(r.Status)
	if r.By != "" {
		what += " by " + r.By
	}
	_, mutation, _ := strings.Cut(r.Mutant, " ")
	return fmt.Sprintf("%3d %s:%d %s — %s (%.0f s)", r.Number, r.File, r.Line, mutation, what, r.Seconds)
}

// merged adds what an earlier run knew of mutants that this one has not come to.
func (r results) merged(drawn []mutant, known map[string]result) results {
	have := map[string]result{}
	for _, x := range r.Results {
		have[x.Mutant] = x
	}
	out := results{Seed: r.Seed, Count: r.Count}
	for _, m := range drawn {
		if x, ok := have[m.id()]; ok {
			out.Results = append(out.Results, x)
		} else if x, ok := known[m.id()]; ok {
			x.Number = m.number
			out.Results = append(out.Results, x)
		}
	}
	return out
}
