package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// Observe makes a diagnostic run: it takes a snapshot, sets the instruments
// through the journal, runs the load, takes them away again, follows single
// requests (not if b.Plain or b.Unwalked) and diagnoses what was seen.
func Observe(ctx context.Context, exec *change.Executor, b *Bench, workload int, label string, ui Reporter) (*store.Run, *evidence.Snapshot, error) {
	b.Listeners.feed.doing("Look where the time goes, with statements recorded")
	snap, err := evidence.Take(ctx, b.Stack, b.Hosts, evidence.TakeOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
	b.Stamp.ConfigHash = snap.Hash()
	var run *store.Run
	spans, health, err := withSpans(ctx, b, func() (err error) {
		run, err = instrumented(ctx, exec, b, snap, workload, label, ui)
		if err != nil || !b.Foreign() || b.Answered(run) == nil {
			return err
		}
		// A benchmark with narrow limits fails now and then, more so while all is recorded.
		ui.Warn(fmt.Sprintf("with statements recorded, %v", b.Answered(run)), "it is run once more")
		run, err = instrumented(ctx, exec, b, snap, workload, label, ui)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	run.Evidence.Health = append(run.Evidence.Health, health...)
	if err := b.Answered(run); err != nil {
		return nil, nil, err
	}
	if !b.Instruments.Plain && !b.Instruments.Unwalked {
		b.Listeners.feed.doing("Follow single requests")
		walk, health, err := walkOnce(ctx, exec, b, snap, ui)
		if err != nil {
			return nil, nil, err
		}
		run.Evidence.Requests = join(walk, spans)
		run.Evidence.Health = append(run.Evidence.Health, health...)
		confirmConnections(run, b.Stack)
	}
	if h, ok := passedBy(b.Stack, run.Evidence); ok {
		ui.Warn(h.Text, "")
		run.Evidence.Health = append(run.Evidence.Health, h)
	}
	if b.Foreign() {
		ui.Info("not judged: which pages could be kept by a cache, and whether more users score better; load.command does not tell its answers and has its own users")
		if err := filesOf(ctx, b.loadOptions(workload), run); err != nil {
			return nil, nil, err
		}
	}
	if err := askAgain(ctx, b.loadOptions(workload), run); err != nil {
		return nil, nil, err
	}
	b.leaveOutPages(run.Evidence.Load)
	b.Listeners.feed.doing("Find the bottleneck")
	// Again, now that the instruments are gone and the answers are known.
	if snap, err = evidence.Take(ctx, b.Stack, b.Hosts, evidence.TakeOptions{Assets: run.Evidence.Load.Assets}); err != nil {
		return nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
	snap.GoProfiles = b.keepProfiles(run)
	run.Evidence.Tables = snap.Shapes()
	patches := SourcePatches(ctx, b.Stack, b.Hosts, run.Evidence, heldFiles(exec))
	patches.Into(snap)
	run.Evidence.Health = append(run.Evidence.Health, patches.Looked...)
	run.Evidence.Versions = snap.Versions()
	seen, reference := b.seen(run)
	run.Diagnosis, err = diagnose.Diagnose(diagnose.Input{Stack: b.Stack, Evidence: seen, Snapshot: snap})
	if err != nil {
		return nil, nil, err
	}
	remedy.Rank(run.Diagnosis)
	remedy.Explain(remedy.Input{Stack: b.Stack, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis})
	run.Diagnosis.Reference = reference
	doubted(run)
	return run, snap, b.Store.SaveRun(run)
}

// doubted marks a diagnosis whose numbers are all of a run that is no evidence. Where
// throughput and CPU are of a fit scored run, the counts of this one may stand.
func doubted(run *store.Run) {
	if run.Unfit != "" && run.Diagnosis.Reference == 0 {
		run.Diagnosis.Doubt(run.Unfit)
	}
}

// filesOf asks for what the access log says somebody else's benchmark asked for, so
// that its files are known as those of Kasoku's own load are.
func filesOf(ctx context.Context, opts load.Options, run *store.Run) error {
	var asked []load.Asked
	for _, t := range run.Evidence.Targets {
		asked = append(asked, load.Asked{Target: t.Target, Count: t.Count, Total: t.Total})
	}
	opts.SkipTLSVerify = true // nothing secret is sent, and the benchmark takes the certificate, whatever it is
	files, unasked, err := load.FilesOf(ctx, opts, asked)
	if err != nil {
		return err
	}
	run.Evidence.Load.Assets = files
	text := fmt.Sprintf("%d of %d targets of the access log are files, by asking for each as a stranger would", len(files), len(asked))
	if unasked != "" {
		text += "; " + unasked
	}
	if len(asked) > 0 {
		run.Evidence.Health = append(run.Evidence.Health, evidence.Health{Source: "files of the benchmark", OK: unasked == "", Text: text})
	}
	return nil
}

// askAgain asks for the run's files, pages and health checks as strangers
// would. What gets no answer (no local port may be left) is not confirmed; the
// run's health says why.
func askAgain(ctx context.Context, opts load.Options, run *store.Run) error {
	ev := run.Evidence
	note := func(source, unasked string) {
		if unasked != "" {
			ev.Health = append(ev.Health, evidence.Health{Source: source, Text: unasked})
		}
	}
	unasked, err := load.ConfirmStatic(ctx, opts, ev.Load.Assets)
	if err != nil {
		return err
	}
	note("files, asked for again", unasked)
	if unasked, err = load.ConfirmPages(ctx, opts, ev.Load.Pages); err != nil {
		return err
	}
	note("pages, asked for again", unasked)
	if ev.Answers, unasked, err = load.AskConstant(ctx, opts, healthPaths(run)); err != nil {
		return err
	}
	note("health checks, asked again", unasked)
	return nil
}

// keepProfiles remembers the CPU profiles of Go programs, whose bytes a stored
// run lets go of: later diagnostic runs take none, and a build needs one.
func (b *Bench) keepProfiles(run *store.Run) map[string][]byte {
	if b.Instruments.goProfiles == nil {
		b.Instruments.goProfiles = map[string][]byte{}
	}
	maps.Copy(b.Instruments.goProfiles, GoProfiles(b.Store, run))
	return b.Instruments.goProfiles
}

// GoProfiles are the CPU profiles of Go programs that a stored run took, by
// service.
func GoProfiles(st *store.Store, run *store.Run) map[string][]byte {
	out := map[string][]byte{}
	for _, p := range run.Evidence.Profiles {
		if p.Tool != "go pprof" || p.Of != "" || p.Artifact == "" {
			continue
		}
		data, err := st.Artifact(run.ID, p.Artifact)
		if err != nil {
			continue // without it the build is not planned
		}
		out[p.Service] = data
	}
	return out
}

// healthPaths are the paths of health checks that were asked for in a run.
func healthPaths(run *store.Run) []string {
	var out []string
	for _, r := range run.Evidence.Routes {
		if r.Method == "GET" && diagnose.HealthPath(r.Route) && !slices.Contains(out, r.Route) {
			out = append(out, r.Route)
		}
	}
	return out
}

// seen is what the diagnosis is made of: throughput, CPU and counters of the
// last scored run with the same load, because the instruments cost CPU that no
// remedy can save (counters that only instruments tell are the diagnostic
// run's); statements, routes, requests and profiles of the diagnostic
// one. Without such a run it is the diagnostic run alone.
func (b *Bench) seen(run *store.Run) (ev *evidence.Evidence, reference int64) {
	ref := b.scored.reference
	if ref == nil || ref.Evidence.Load.Workload != run.Evidence.Load.Workload {
		return run.Evidence, 0
	}
	all, load := *run.Evidence, *ref.Evidence.Load
	load.Assets, load.Pages = run.Evidence.Load.Assets, run.Evidence.Load.Pages // with what ConfirmStatic and ConfirmPages found
	all.Asked, all.Load, all.System, all.Hosts, all.Services, all.Counters = run.Evidence.Load, &load, ref.Evidence.System, ref.Evidence.Hosts, lentCollectors(ref.Evidence.Services, run.Evidence.Services), lent(ref.Evidence, run.Evidence)
	all.Latencies = ref.Evidence.Latencies
	return &all, ref.ID
}

// instrumented runs the load with the instruments in place.
func instrumented(ctx context.Context, exec *change.Executor, b *Bench, snap *evidence.Snapshot, workload int, label string, ui Reporter) (run *store.Run, err error) {
	watch, away, err := place(ctx, exec, b, snap, instrumentPlans, ui)
	var restarted *store.Run
	defer func() {
		err = errors.Join(err, away())
		if restarted != nil {
			err = errors.Join(err, b.forget(ctx, exec, snap, restarted))
		}
	}()
	if err != nil {
		return nil, err
	}
	o := RunOptions{Kind: store.Diagnostic, Label: label, Workload: workload, watch: watch}
	if run, err = b.Run(ctx, o); err != nil {
		return nil, err
	}
	again, err := b.reconnect(ctx, exec, run, ui)
	if !again || err != nil {
		return run, err
	}
	restarted = run
	return b.Run(ctx, o)
}
