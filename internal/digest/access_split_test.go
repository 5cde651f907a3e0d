package digest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"kasoku/internal/accesslog"
)

// A second input of one line and one that is none, in blocks: found by
// TestAccessSplits.
func TestAccessSplitOfCarriageReturns(t *testing.T) {
	const entry = "time:2026-11-21T10:00:00Z\tmethod:GET\turi:/a\tstatus:200\tsize:0\treqtime:1.000\tapptime:-\tcache:-\r\n"
	first := strings.Repeat(entry, 14) + "garbage\ngarbage\n" + strings.Repeat(entry, 4)
	second := "garbage\n" + entry
	f, err := accesslog.ParseFormat("ltsv")
	if err != nil {
		t.Fatal(err)
	}
	o := AccessOptions{Format: f, Workers: 1}
	whole, err := AccessLogs(context.Background(), []Input{textInput("x", first+second, true)}, o)
	if err != nil {
		t.Fatal(err)
	}
	patterns, err := accesslog.NewRoutes(o.Routes)
	if err != nil {
		t.Fatal(err)
	}
	run := newAccessRun([]Input{textInput("x", first, false), textInput("x", second, false)}, o, patterns)
	run.segment, run.block = 50, 500
	split, err := run.do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(whole), asJSON(split); a != b {
		t.Errorf("whole\n%s\nsplit\n%s", a, b)
	}
}

// What is told of a log's begin is the same for a file that is read in parts and for a
// stream, in blocks of any length: here its unit seems to change after the first block.
func TestAccessSampleIsOfNoBlock(t *testing.T) {
	const line = "time:2026-11-21T10:00:00Z\tmethod:GET\turi:/a\tstatus:200\tsize:0\treqtime:"
	text := strings.Repeat(line+"0.012\n", 20) + strings.Repeat(line+"12\n", 10)
	f, err := accesslog.ParseFormat("ltsv")
	if err != nil {
		t.Fatal(err)
	}
	o := AccessOptions{Format: f, Workers: 2}
	patterns, err := accesslog.NewRoutes(o.Routes)
	if err != nil {
		t.Fatal(err)
	}
	var file string
	for _, c := range []struct {
		parts bool
		block int
	}{{true, blockSize}, {false, blockSize}, {false, 500}, {false, 2000}} {
		run := newAccessRun([]Input{textInput("x", text, c.parts)}, o, patterns)
		run.block = c.block
		a, err := run.do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if file == "" {
			file = asJSON(a)
		}
		if got := asJSON(a); got != file || !strings.Contains(got, "10 whole numbers beside 20 with three decimals") {
			t.Errorf("a file: %v, blocks of %d: %s, want %s", c.parts, c.block, got, file)
		}
	}
}

// A stream that breaks off within its first bytes is told as such.
func TestAccessStreamBreaksAtOnce(t *testing.T) {
	const line = "time:2026-11-21T10:00:00Z\tmethod:GET\turi:/a\tstatus:200\tsize:0\treqtime:0.012\n"
	for _, c := range []struct{ text, says string }{{"", "read x: unexpected EOF"}, {line + line, "could be read up to byte 152 only"}} {
		in := Input{Name: "x", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(c.text), &failingReader{})), nil
		}}
		a, err := AccessLogs(t.Context(), []Input{in}, AccessOptions{})
		said := fmt.Sprint(err)
		if err == nil {
			said = strings.Join(a.Warnings, "\n")
		}
		if !strings.Contains(said, c.says) || c.text != "" && a.Lines != 2 {
			t.Errorf("%q: %s", c.text, said)
		}
	}
}
