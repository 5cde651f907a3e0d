package digest

import (
	"context"
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
