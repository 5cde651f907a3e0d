package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"kasoku/bench/load/proc"
	"kasoku/bench/load/ratio"
)

// bench is the comparison under way.
type bench struct {
	settings
	stdout, stderr io.Writer
	random         *rand.Rand
	began          time.Time
	runs           []sample
	figures        figures
}

func open(s settings, stdout, stderr io.Writer) (*bench, error) {
	b := &bench{settings: s, stdout: stdout, stderr: stderr, began: time.Now(), random: rand.New(rand.NewPCG(s.seed, 0))}
	var err error
	if b.kasoku, err = filepath.Abs(s.kasoku); err != nil {
		return nil, err
	}
	if _, err := os.Stat(b.kasoku); err != nil {
		return nil, fmt.Errorf("there is no program %s; run: make build", s.kasoku)
	}
	fmt.Fprintf(stdout, "%d processors; logs in %s; order by seed %d\n", runtime.NumCPU(), s.cache, s.seed)
	return b, nil
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.stderr, "bench-digest: "+format+"\n", args...)
}

// tool is one way to read a log.
type tool struct {
	name  string
	log   log
	args  []string // program and arguments; nil: it is not installed
	stdin string
	// check looks at what the first run printed.
	check func(stdout []byte) error
	// slow tools run only in the first rounds: their figure is far off any bar.
	rounds int
}

// shell runs a pipeline, whose first part may fail, too.
func shell(script string, files ...string) []string {
	return append([]string{"bash", "-c", "set -o pipefail; " + script, "bash"}, files...)
}

// find returns a program with arguments; nil if it is not installed.
func (b *bench) find(name string, args ...string) []string {
	path := filepath.Join(b.peers, name)
	if _, err := os.Stat(path); err != nil {
		if path, err = exec.LookPath(name); err != nil {
			return nil
		}
	}
	return append([]string{path}, args...)
}

// sample is one run of one tool.
type sample struct {
	Part  string        `json:"part"`
	Tool  string        `json:"tool"`
	Round int           `json:"round"`
	Bytes int64         `json:"bytes"`
	Wall  time.Duration `json:"wall"`
	CPU   time.Duration `json:"cpu"`
	Peak  int64         `json:"peak,omitempty"` // resident memory
	Err   string        `json:"error,omitempty"`
}

// perSecond in 10⁶ unpacked bytes.
func (s *sample) perSecond() float64 {
	if s.Err != "" || s.Wall <= 0 {
		return math.NaN()
	}
	return float64(s.Bytes) / s.Wall.Seconds() / 1e6
}

// series are a tool's throughputs by round; NaN where it did not run.
type series map[string][]float64

// runLimit is how long one run may take: goaccess needs a minute for a tenth
// of the log on a slow machine.
const runLimit = 10 * time.Minute

// compareTools runs the tools in rounds and prints their throughput. An error
// is the benchmark's own, or Kasoku's; another tool that fails is reported.
func (b *bench) compareTools(ctx context.Context, part string, tools []tool) (series, error) {
	out := series{}
	why := map[string]string{}
	for round := range b.rounds {
		order := b.random.Perm(len(tools))
		for _, i := range order {
			t := tools[i]
			for len(out[t.name]) <= round {
				out[t.name] = append(out[t.name], math.NaN())
			}
			if t.args == nil || t.rounds > 0 && round >= t.rounds || why[t.name] != "" {
				continue
			}
			s, err := b.run(ctx, part, round, t)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil && strings.HasPrefix(t.name, "kasoku") {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			if err != nil {
				why[t.name] = err.Error()
			}
			out[t.name][round] = s.perSecond()
		}
		b.say("part %s: round %d of %d", part, round+1, b.rounds)
	}
	rows := [][]string{{part, "MB/s", ""}}
	for _, t := range tools {
		note := why[t.name]
		if t.args == nil {
			note = "not installed"
		}
		rows = append(rows, []string{t.name, ratio.Of(out[t.name]).Text(0), note})
	}
	fmt.Fprintln(b.stdout)
	printTable(b.stdout, rows)
	return out, nil
}

func (b *bench) run(ctx context.Context, part string, round int, t tool) (sample, error) {
	s := sample{Part: part, Tool: t.name, Round: round, Bytes: t.log.bytes}
	watch, peak := proc.WatchPeak()
	r, err := proc.Run(ctx, proc.Command{Args: t.args, Stdin: t.stdin, Limit: runLimit, Watch: watch})
	s.Wall, s.CPU, s.Peak = r.Wall, r.CPU(), *peak
	if err == nil && t.check != nil && round == 0 {
		if err = t.check(r.Stdout); err != nil {
			err = fmt.Errorf("wrong answer: %w", err)
		}
	}
	if err != nil {
		s.Err = err.Error()
	}
	b.runs = append(b.runs, s)
	return s, err
}

// faster is the series with the higher median of several.
func (s series) faster(names ...string) []float64 {
	var best []float64
	for _, n := range names {
		best = ratio.Higher(best, s[n])
	}
	return best
}

func (b *bench) writeJSON(path string) error {
	data, err := json.MarshalIndent(struct {
		Began   time.Time `json:"began"`
		Lines   int       `json:"lines"`
		Entries int       `json:"entries"`
		Figures figures   `json:"figures"`
		Runs    []sample  `json:"runs"`
	}{b.began, b.lines, b.entries, b.figures, b.runs}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return errors.Join(errors.New("write the figures"), err)
	}
	return nil
}
