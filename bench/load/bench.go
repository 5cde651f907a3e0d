package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"kasoku/bench/load/peer"
	"kasoku/bench/load/proc"
	"kasoku/bench/load/ratio"
	"kasoku/bench/load/target"
)

// bench is the comparison under way.
type bench struct {
	settings
	stdout, stderr io.Writer
	tools          []*peer.Tool // those found
	missing        map[string]bool
	nginx          *target.Nginx
	processors     []int  // those that tools may use; nil: any
	dir            string // for the tools' files
	random         *rand.Rand
	began          time.Time
	files          uint64 // how many files a process may open

	runs    []*sample
	figures figures
}

// filesWanted covers the connections of part conns and what else is open.
const filesWanted = 65536

func open(ctx context.Context, s settings, stdout, stderr io.Writer) (*bench, error) {
	b := &bench{settings: s, stdout: stdout, stderr: stderr, missing: map[string]bool{}, began: time.Now(),
		random: rand.New(rand.NewPCG(s.seed, 0))}
	var absent []string
	for _, t := range peer.Tools(s.kasoku) {
		if t.Find(s.peers) {
			b.tools = append(b.tools, t)
			continue
		}
		b.missing[t.Name] = true
		absent = append(absent, t.Name)
	}
	if b.missing["kasoku"] {
		return nil, fmt.Errorf("there is no program %s; run: make build", s.kasoku)
	}
	var err error
	if b.files, err = proc.RaiseFiles(filesWanted); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "kasoku-bench-load-"); err != nil {
		return nil, fmt.Errorf("make a folder for the tools' files: %w", err)
	}
	served, where, err := b.divide()
	if err != nil {
		b.close()
		return nil, err
	}
	if b.nginx, err = target.Start(ctx, served...); err != nil {
		b.close()
		return nil, err
	}
	if err := b.writeFile(postFile, target.Body); err != nil {
		b.close()
		return nil, err
	}
	fmt.Fprintf(stdout, "target %s: nginx, %d workers, no access log; %s; order by seed %d\n", b.nginx.Address(), b.nginx.Workers(), where, s.seed)
	fmt.Fprintf(stdout, "a run is repeated up to %d times if others had more than %.0f %% of the processors, and left out if they still do\n", s.tries, s.noise*100)
	if len(absent) > 0 {
		fmt.Fprintf(stdout, "not installed: %s\n", strings.Join(absent, ", "))
	}
	return b, nil
}

// divide says which processors nginx gets, and keeps the others for the tools:
// where the scheduler put the two decided more than what they cost.
func (b *bench) divide() (served []int, where string, err error) {
	all, err := proc.Processors()
	if err != nil {
		return nil, "", err
	}
	switch {
	case !b.pin:
		return nil, fmt.Sprintf("%d processors, nothing pinned (-pin=false)", len(all)), nil
	case len(all) < 2:
		return nil, "1 processor, so nothing is pinned", nil
	}
	half := len(all) / 2
	served, b.processors = all[:half], all[half:]
	return served, fmt.Sprintf("pinned to processors %s, tools to %s", list(served), list(b.processors)), nil
}

func list(numbers []int) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

// postFile is the name of the file that holds what is posted.
const postFile = "post.json"

// writeFile in the bench's folder.
func (b *bench) writeFile(name, text string) error {
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write a tool's file: %w", err)
	}
	return nil
}

func (b *bench) close() {
	if b.nginx != nil {
		b.nginx.Stop()
	}
	_ = os.RemoveAll(b.dir) // temporary
}

// tool finds one by name; nil if it is not installed.
func (b *bench) tool(name string) *peer.Tool {
	for _, t := range b.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// entry is one tool with one job, under the name that tables show.
type entry struct {
	label string
	tool  *peer.Tool
	job   peer.Job
}

// sample is one run of one tool.
type sample struct {
	Part    string        `json:"part"`
	Tool    string        `json:"tool"`
	Round   int           `json:"round"`
	Users   int           `json:"users"`
	Report  peer.Report   `json:"report"`
	Counted bool          `json:"counted"` // nginx was asked what it Served
	Served  int64         `json:"served,omitempty"`
	User    time.Duration `json:"user"`
	System  time.Duration `json:"system"`
	Wall    time.Duration `json:"wall"`
	Peak    int64         `json:"peak,omitempty"` // bytes of memory, where it was watched
	Foreign proc.Foreign  `json:"foreign"`
	// Disturbed: others had too much of the machine, so the run does not count.
	Disturbed bool   `json:"disturbed,omitempty"`
	Repeated  int    `json:"repeated,omitempty"` // how many disturbed runs went before
	Err       string `json:"error,omitempty"`
}

// cpu is the tool's CPU time per request in µs, start-up and end included.
func (s *sample) cpu() float64 {
	return float64(s.User+s.System) / float64(time.Microsecond) / float64(s.Report.Requests)
}

// rate is requests/s in the time that the tool itself counts.
func (s *sample) rate() float64 {
	if s.Report.Elapsed <= 0 {
		return math.NaN()
	}
	return float64(s.Report.Requests) / s.Report.Elapsed.Seconds()
}

// countTolerance is how far a tool's count of requests may be off nginx's,
// besides those under way at the end, one for each connection, and a few that
// it sends before it counts.
const (
	countTolerance = 0.01
	sentBefore     = 4
)

// miscounted says whether the tool's count differs from nginx's.
func (s *sample) miscounted() bool {
	return s.Counted && math.Abs(float64(s.Report.Requests-s.Served)) > countTolerance*float64(s.Served)+float64(s.Users+sentBefore)
}

// runSlack is how much longer than its job a tool may take.
const runSlack = 30 * time.Second

// execute runs one job. A tool that fails is a sample with Err; the error is
// the benchmark's own.
func (b *bench) execute(ctx context.Context, part string, round int, e entry, watch func(context.Context, int)) (*sample, error) {
	s := &sample{Part: part, Tool: e.label, Round: round, Users: e.job.Users}
	e.job.File, e.job.PostFile = filepath.Join(b.dir, e.tool.Name+".out"), filepath.Join(b.dir, postFile)
	if text := e.tool.Script(e.job); text != "" {
		e.job.Script = filepath.Join(b.dir, e.tool.Name+".script")
		if err := b.writeFile(e.tool.Name+".script", text); err != nil {
			return nil, err
		}
	}
	r, err := proc.Run(ctx, proc.Command{Args: e.tool.Args(e.job), Stdin: e.tool.Stdin(e.job), Limit: e.job.Duration + runSlack, Watch: watch, Processors: b.processors})
	if ctx.Err() != nil {
		return nil, err
	}
	s.User, s.System, s.Wall = r.User, r.System, r.Wall
	output := r.Stdout
	if d := e.tool.Digest(e.job); d != nil && err == nil {
		var read proc.Result
		read, err = proc.Run(ctx, proc.Command{Args: d, Limit: runSlack})
		output = read.Stdout
	}
	if err == nil {
		s.Report, err = e.tool.Read(e.job, output)
	}
	if err != nil {
		s.Err = err.Error()
	}
	if err := os.Remove(e.job.File); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("remove %s's file: %w", e.tool.Name, err)
	}
	return s, ctx.Err()
}

// measure runs one job against nginx, and again while others disturb it, but
// not for ever. A run that stays disturbed is kept for the record only.
func (b *bench) measure(ctx context.Context, part string, round int, e entry) (*sample, error) {
	for try := 0; ; try++ {
		s, err := b.once(ctx, part, round, e)
		if err != nil {
			return nil, err
		}
		s.Repeated, s.Disturbed = try, s.Foreign.Sum() > b.noise
		b.runs = append(b.runs, s)
		if s.Err != "" {
			fmt.Fprintf(b.stderr, "%s, round %d: %s\n", e.label, round, s.Err)
		}
		if s.Err != "" || !s.Disturbed {
			return s, nil
		}
		next := fmt.Sprintf("again (%d of %d)", try+1, b.tries)
		if try == b.tries {
			next = "left out"
		}
		fmt.Fprintf(b.stderr, "%s, round %d: others used %.0f %% of the machine, %.0f %% was stolen; %s\n", e.label, round, s.Foreign.Used*100, s.Foreign.Stolen*100, next)
		if try == b.tries {
			return s, nil
		}
	}
}

func (b *bench) once(ctx context.Context, part string, round int, e entry) (*sample, error) {
	before, err := b.nginx.Status(ctx)
	if err != nil {
		return nil, err
	}
	meter, err := proc.NewMeter(b.nginx.PID())
	if err != nil {
		return nil, err
	}
	s, err := b.execute(ctx, part, round, e, nil)
	if err != nil {
		return nil, err
	}
	if s.Foreign, err = meter.Foreign(s.User+s.System, runtime.NumCPU()); err != nil {
		return nil, err
	}
	after, err := b.nginx.Status(ctx)
	if err != nil {
		return nil, err
	}
	s.Counted, s.Served = true, target.Served(before, after)
	return s, nil
}

// series holds the samples of a part by label, then by round; nil where a tool
// did not take part.
type series map[string][]*sample

// rounds runs all entries in each round, in random order.
func (b *bench) rounds(ctx context.Context, part string, entries []entry) (series, error) {
	out := series{}
	for _, e := range entries {
		out[e.label] = make([]*sample, b.settings.rounds)
	}
	for round := range b.settings.rounds {
		fmt.Fprintf(b.stderr, "part %s, round %d of %d\n", part, round+1, b.settings.rounds)
		for _, i := range b.random.Perm(len(entries)) {
			e := entries[i]
			if e.tool.Far && round%2 == 1 {
				continue
			}
			s, err := b.measure(ctx, part, round+1, e)
			if err != nil {
				return nil, err
			}
			out[e.label][round] = s
		}
	}
	return out, nil
}

// values are one figure of one label by round; NaN where there is none or the
// run was disturbed.
func (s series) values(label string, figure func(*sample) float64) []float64 {
	out := make([]float64, 0, len(s[label]))
	for _, x := range s[label] {
		if x == nil || x.Err != "" || x.Disturbed {
			out = append(out, math.NaN())
			continue
		}
		out = append(out, figure(x))
	}
	return out
}

// summary of one figure of one label.
func (s series) summary(label string, figure func(*sample) float64) ratio.Summary {
	return ratio.Of(s.values(label, figure))
}

// notes are what a reader must know about a label's runs.
func (s series) notes(label string) string {
	var failed int64
	var broken, miscounted, busy int
	for _, x := range s[label] {
		if x == nil {
			continue
		}
		failed += x.Report.Failed
		switch {
		case x.Err != "":
			broken++
		case x.miscounted():
			miscounted++
		}
		if x.Disturbed {
			busy++
		}
	}
	var out []string
	for _, n := range []struct {
		count int
		text  string
	}{{broken, "%d runs failed"}, {int(failed), "%d answers failed"}, {miscounted, "count differs from nginx's in %d runs"}, {busy, "%d runs left out: the machine was busy with other work"}} {
		if n.count > 0 {
			out = append(out, fmt.Sprintf(n.text, n.count))
		}
	}
	return strings.Join(out, "; ")
}

// broken is the first error among a label's runs; "" if there is none.
func (s series) broken(label string) string {
	for _, x := range s[label] {
		if x != nil && x.Err != "" {
			return x.Err
		}
	}
	return ""
}

// writeJSON writes everything that was measured.
func (b *bench) writeJSON(name string) error {
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return fmt.Errorf("read the kernel's version: %w", err)
	}
	missing := []string{}
	for _, t := range peer.Tools(b.kasoku) {
		if b.missing[t.Name] {
			missing = append(missing, t.Name)
		}
	}
	data, err := json.MarshalIndent(map[string]any{
		"started": b.began, "kernel": strings.TrimSpace(string(kernel)), "processors": runtime.NumCPU(), "seed": b.seed,
		"duration": b.duration, "rounds": b.settings.rounds, "noise": b.noise, "tools_on": b.processors, "missing": missing, "figures": b.figures, "runs": b.runs,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	if err := os.WriteFile(name, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}
