package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

const (
	// freshPages are compared: those named first stand for the others, which
	// are kept by the same lines of configuration.
	freshPages = 10
	// mostNarrowed is how often a cache of pages is tried again without those that were
	// too old: each time is an experiment.
	mostNarrowed = 3
	// A comparison lasts twice the limit, so that an answer can be too old, but
	// no shorter and no longer than this.
	freshLeast, freshMost = 3 * time.Second, 20 * time.Second
)

// stale says why a candidate that keeps whole pages may not stay: while the
// load writes, it compares what strangers get with what the application itself
// answers. "" if nothing is wrong, or the plan keeps no pages.
func (t *Tuner) stale(ctx context.Context, step *store.Step, sw *switcher) (string, error) {
	fresh := step.Plan.Fresh
	if fresh == nil || sw == nil || len(fresh.URLs) == 0 {
		return "", nil
	}
	if err := sw.to(ctx, experiment.Candidate); err != nil {
		return "", err
	}
	opts := t.Bench.loadOptions(t.course.workload)
	check := load.FreshCheck{URLs: fresh.URLs[:min(len(fresh.URLs), freshPages)], MaxAge: fresh.MaxAge, For: freshTime(fresh.MaxAge)}
	opts.Window = check.For + opts.Warmup // the load goes on until the comparison is over, by time
	t.UI.Info(fmt.Sprintf("comparing %d pages with the application's own answers for %s while the load goes on", len(check.URLs), check.For))
	done := make(chan error, 1)
	go func() {
		_, err := load.Run(ctx, opts)
		done <- err
	}()
	report, err := load.CheckFresh(ctx, opts, check)
	if err = errors.Join(err, <-done); err != nil {
		return "", fmt.Errorf("compare cached pages with the application: %w", err)
	}
	t.UI.Info(fmt.Sprintf("%d answers compared, %d could not be told, %d wrong", report.Compared, report.Unknown, len(report.Wrong)))
	if narrower := t.narrows(check.URLs, report); narrower != "" {
		return narrower, nil
	}
	if len(report.Wrong) > 0 {
		return "the cache gives wrong answers: " + strings.Join(report.Wrong[:min(len(report.Wrong), 3)], "; "), nil
	}
	return "", nil
}

// narrows takes pages that were too old out of what may be kept, if that leaves some: one
// page that changes must not cost all others their cache. What somebody else was to get
// ends it for good. It says what is left out; "" if it narrows nothing.
func (t *Tuner) narrows(asked []string, r load.FreshReport) string {
	if r.Others > 0 || len(r.Old) == 0 || len(r.Old) >= len(asked) || t.course.narrowed >= mostNarrowed {
		return ""
	}
	if t.Bench.Instruments.unkept == nil {
		t.Bench.Instruments.unkept = map[string]string{}
	}
	var said []string
	for _, url := range slices.Sorted(maps.Keys(r.Old)) {
		t.Bench.Instruments.unkept[url] = r.Old[url]
		said = append(said, url+": "+r.Old[url])
	}
	t.course.narrowed++
	t.course.lookAgain = true
	return "too old for the regulation, and left out from now on: " + strings.Join(said, "; ")
}

// leaveOutPages marks pages and files that were too old when they were kept, so that no
// plan keeps them again.
func (b *Bench) leaveOutPages(l *load.Result) {
	for i := range l.Pages {
		if why := b.Instruments.unkept[l.Pages[i].URL]; why != "" {
			l.Pages[i].Private = why
		}
	}
	for i := range l.Assets {
		if why := b.Instruments.unkept[l.Assets[i].Path]; why != "" {
			l.Assets[i].Private = why
		}
	}
}

// freshTime is how long pages that may be maxAge old are compared.
func freshTime(maxAge time.Duration) time.Duration { return min(max(2*maxAge, freshLeast), freshMost) }
