package tune

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// TamperedError says what of the judge a proposal changes.
type TamperedError struct{ Why string }

func (e *TamperedError) Error() string { return e.Why }

// judge watches what a proposal must leave alone: the files that say what is
// measured and what may be traded, Kasoku's own state, and the clock. A nil
// judge watches nothing: Kasoku's own plans have none.
//
// Files are compared when the experiment begins, before and after each switch
// and after each run. Those that the load's commands merely name may be their
// output, so they are compared over each switch alone.
type judge struct {
	bench  *Bench
	exec   *change.Executor
	dir    string // .kasoku
	files  []guarded
	prints map[string]print // by path, at the beginning
	seal   change.Seal
	mark   string
	clock  func() (wall, running time.Duration) // since the beginning
	over   bool                                 // it has told; what follows is putting back
	loose  map[string]print                     // before the switch under way
}

// slack of the clock: two readings of the wall clock, and a clock that a time
// service steers, which is at most 500 ppm off (adjtimex(2)), differ by less;
// a clock that is set to gain score is set by more.
const slack = time.Second

// newJudge remembers everything as it is.
func newJudge(b *Bench, exec *change.Executor) (*judge, error) {
	begun := time.Now()
	j := &judge{bench: b, exec: exec, dir: filepath.Join(b.Stack.Dir, ".kasoku"), files: guardedFiles(b), prints: map[string]print{},
		clock: func() (time.Duration, time.Duration) {
			now := time.Now()
			// Without its monotonic part a time tells what the wall clock says.
			return now.Round(0).Sub(begun.Round(0)), now.Sub(begun)
		}}
	for _, f := range j.files {
		p, err := printOf(f, true)
		if err != nil {
			return nil, fmt.Errorf("remember %s: %w", f, err)
		}
		j.prints[f.path] = p
	}
	var err error
	if j.mark, err = b.Store.Mark(); err != nil {
		return nil, err
	}
	if exec != nil {
		j.seal, err = exec.Seal()
	}
	return j, err
}

// before looks at everything right before a switch.
func (j *judge) before() error {
	if j == nil || j.over {
		return nil
	}
	j.loose = map[string]print{}
	for _, f := range j.files {
		if !f.loose {
			continue
		}
		p, err := printOf(f, false)
		if err != nil {
			return fmt.Errorf("look at %s: %w", f, err)
		}
		j.loose[f.path] = p
	}
	return j.look("before the next switch")
}

// after looks at everything right after a switch.
func (j *judge) after(when string) error {
	if j == nil || j.over {
		return nil
	}
	for _, f := range j.files {
		if !f.loose {
			continue
		}
		p, err := printOf(f, false)
		if err != nil {
			return fmt.Errorf("look at %s: %w", f, err)
		}
		if was, ok := j.loose[f.path]; ok && !was.same(p) {
			return j.tell("%s was changed when %s", f, when)
		}
	}
	return j.look("when " + when)
}

// look compares all that must not change with how it was at the beginning.
func (j *judge) look(when string) error {
	if j == nil || j.over {
		return nil
	}
	if wall, running := j.clock(); (wall - running).Abs() > slack {
		return j.tell("the clock of this machine was set by %s, seen %s", (wall - running).Round(time.Millisecond), when)
	}
	for _, f := range j.files {
		if f.loose {
			continue
		}
		p, err := printOf(f, false)
		if err != nil {
			return fmt.Errorf("look at %s: %w", f, err)
		}
		if was := j.prints[f.path]; !was.same(p) {
			return j.tell("%s was changed, seen %s", f, when)
		} else if f.rerun && was.touched != p.touched {
			return j.tell("%s was written to meanwhile, seen %s", f, when)
		}
	}
	mark, err := j.bench.Store.Mark()
	if err != nil {
		return err
	}
	if mark != j.mark {
		return j.tell("somebody else has written to %s, seen %s", j.bench.Store.Path(), when)
	}
	if j.exec == nil {
		return nil
	}
	why, err := j.exec.Since(j.seal)
	if err != nil {
		return err
	}
	if why != "" {
		return j.tell("%s, seen %s", why, when)
	}
	return nil
}

func (j *judge) tell(format string, args ...any) error {
	j.over = true
	return &TamperedError{fmt.Sprintf(format, args...)}
}

// putBack writes the files back that are not as they were, and tells what
// became of each. What Kasoku reads anew would else judge the next proposal.
func (j *judge) putBack(ctx context.Context) []string {
	if j == nil {
		return nil
	}
	var told []string
	for _, f := range j.files {
		was, known := j.prints[f.path], true
		if f.loose {
			if was, known = j.loose[f.path]; known {
				was.state = j.prints[f.path].state
			}
		}
		now, err := printOf(f, false)
		if !known || err == nil && was.same(now) {
			continue
		}
		if err == nil {
			err = j.restore(ctx, f, was, now.target)
		}
		if err != nil {
			told = append(told, fmt.Sprintf("%s is still changed, put it right by hand: %v", f, err))
		} else {
			told = append(told, fmt.Sprintf("%s was put back", f))
		}
	}
	return told
}

func (j *judge) restore(ctx context.Context, f guarded, was print, real string) error {
	switch {
	case was.state == nil:
		return errors.New("its bytes were not kept")
	case was.state.Hash == "":
		return errors.New("it was not there before; remove it")
	case real != "" && real != was.target: // whatever lies there is not to be written over
		return fmt.Errorf("it leads to %s now", real)
	case host.HashOf(was.state.Content) != was.hash:
		return errors.New("it had changed already before this switch")
	}
	if err := change.Handback(ctx, j.bench.Hosts[stack.LocalHost], f.path, *was.state); err != nil {
		return err
	}
	if now, err := printOf(f, false); err != nil || !was.same(now) {
		return errors.Join(errors.New("mode, owner or bytes are not as they were"), err)
	}
	return nil
}

// touches says which of the judge's files changes would write; "" if none.
// Only changes on this machine count: the judge is here.
func (j *judge) touches(paths []string) string {
	for _, path := range paths {
		real := resolved(path)
		if within(real, resolved(j.dir)) {
			return fmt.Sprintf("it changes %s, which is Kasoku's own state", path)
		}
		i := slices.IndexFunc(j.files, func(f guarded) bool { return f.is(real) })
		if i >= 0 {
			return fmt.Sprintf("it changes %s, which judges it", j.files[i])
		}
	}
	return ""
}
