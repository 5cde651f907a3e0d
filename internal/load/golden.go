package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/goccy/go-yaml/ast"
)

// golden is a recorded right answer. Parts that differ from answer to answer
// are masked on both sides before they are compared.
type golden struct {
	path   string // as the file system has it
	name   string // as the scenario has it
	raw    []byte // as recorded
	masked []byte
	masks  []*regexp.Regexp
	absent bool // only when recording
}

// maskToken stands for what a mask hides. It is longer than nothing, so that
// a part that is missing is seen.
var maskToken = []byte("\u2039masked\u203a")

// maxGolden answer in bytes.
const maxGolden = 16 << 20

// readGolden reads golden: FILE and mask: [regexp …] of an expectation.
func (c *compiler) readGolden(o map[string]ast.Node, what string) *golden {
	n := o["golden"]
	if n == nil {
		if o["mask"] != nil {
			c.fail(o["mask"], "%s: mask hides parts of a golden answer; add golden: FILE", what)
		}
		return nil
	}
	name, ok := c.text(n, what+": golden")
	if !ok {
		return nil
	}
	g := &golden{name: name, path: name, masks: append(c.readMasks(o["mask"], what), c.masks...)}
	if !filepath.IsAbs(name) {
		g.path = filepath.Join(filepath.Dir(c.name), name)
	}
	c.reads(g.path)
	f, err := os.Open(g.path)
	switch {
	case errors.Is(err, os.ErrNotExist) && c.recording:
		g.absent = true
		return g
	case errors.Is(err, os.ErrNotExist):
		c.fail(n, "%s: golden: there is no file %s yet; record it with `kasoku scenario record %s URL`", what, g.path, c.name)
		return nil
	case err != nil:
		c.fail(n, "%s: golden: %v", what, err)
		return nil
	}
	defer f.Close()
	if g.raw, err = io.ReadAll(io.LimitReader(f, maxGolden+1)); err != nil || len(g.raw) > maxGolden {
		c.fail(n, "%s: golden: %s cannot be read, or is larger than %d MiB: %v", what, g.path, maxGolden>>20, err)
		return nil
	}
	g.masked = append([]byte(nil), g.mask(nil, g.raw)...)
	return g
}

func (c *compiler) readMasks(n ast.Node, what string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, p := range c.texts(n, what+": mask") {
		if re := c.compilePattern(p.at, what+": mask", p.key); re != nil {
			out = append(out, re)
		}
	}
	return out
}

// mask replaces each match, or its first group, by a token. The result is
// text itself if there are no masks, else it lies in scratch or new memory.
func (g *golden) mask(scratch, text []byte) []byte {
	for i, re := range g.masks {
		matches := re.FindAllSubmatchIndex(text, -1)
		if len(matches) == 0 {
			continue
		}
		var out []byte
		if i == 0 {
			out = scratch[:0]
		}
		at := 0
		for _, m := range matches {
			from, to := m[0], m[1]
			if len(m) >= 4 && m[2] >= 0 {
				from, to = m[2], m[3]
			}
			out = append(append(out, text[at:from]...), maskToken...)
			at = to
		}
		text = append(out, text[at:]...)
	}
	return text
}

// Mask hides in an answer what the scenario's own mask hides.
func (s *Scenario) Mask(text []byte) []byte { return (&golden{masks: s.masks}).mask(nil, text) }

// checkGolden compares the answer with the recorded one.
func (u *user) checkGolden(g *golden) bool {
	if u.run.recorder != nil {
		u.run.recorder.add(g, u.text)
		return true
	}
	got := u.text
	if len(g.masks) > 0 {
		got = g.mask(u.masked, u.text)
	}
	if bytes.Equal(got, g.masked) {
		return true
	}
	u.reference = g.raw
	line, want, is := firstDifference(g.masked, got)
	return u.wrong("the recorded answer "+g.name, fmt.Sprintf("line %d differs: %s instead of %s", line, is, want))
}

// firstDifference of two texts: the line, and what stands there.
func firstDifference(want, got []byte) (line int, a, b string) {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	begin := bytes.LastIndexByte(want[:at], '\n') + 1
	return 1 + bytes.Count(want[:at], []byte{'\n'}), lineAt(want, begin), lineAt(got, begin)
}

func lineAt(text []byte, begin int) string {
	if begin >= len(text) {
		return "the end"
	}
	rest, _ := cutByte(text[begin:], '\n')
	return quoteShort(rest)
}

// GoldenFile is one recorded answer.
type GoldenFile struct {
	Path string
	Body []byte
}

// goldenRecorder gathers the answers of steps with golden.
type goldenRecorder struct{ files []GoldenFile }

// add keeps the first answer for each file.
func (r *goldenRecorder) add(g *golden, body []byte) {
	for _, f := range r.files {
		if f.Path == g.path {
			return
		}
	}
	r.files = append(r.files, GoldenFile{Path: g.path, Body: bytes.Clone(body)})
}

// LoadForRecording is LoadScenario, but golden files need not be there yet.
func LoadForRecording(path string) (*Scenario, error) { return loadScenario(path, true) }

// Record does the setup and each session once and returns the answers of the
// steps that have golden, for the caller to write. The scenario comes from
// LoadForRecording. A step whose other checks fail ends it with an error.
func Record(ctx context.Context, opts Options) ([]GoldenFile, error) {
	opts.Workload, opts.Engine, opts.Arrivals = 1, EngineNet, nil
	r, err := newRun(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.plan = nil
	r.recorder = &goldenRecorder{}
	defer context.AfterFunc(ctx, r.interrupt)()
	sc := r.opts.Scenario
	sessions := []*session{sc.setup}
	for i := range sc.sessions {
		sessions = append(sessions, &sc.sessions[i])
	}
	for _, s := range sessions {
		r.setup.user.failed = false
		if !r.setup.once(s) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			for _, m := range r.samples.sorted() {
				return nil, fmt.Errorf("record session %q: step %q: %s: expected %s, got %s", s.name, m.Step, m.Request, m.Expected, m.Got)
			}
			return nil, fmt.Errorf("record session %q: %s", s.name, r.setup.user.why.got)
		}
	}
	if len(r.recorder.files) == 0 {
		return nil, errors.New("no step has golden: FILE in its expect, so there is nothing to record")
	}
	return r.recorder.files, nil
}
