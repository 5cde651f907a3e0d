package digest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Dates without a year are told by the file's last line and when it was written, over the
// turn of a year and where the file was written to, or copied, long after its last line.
func TestYearOfTheLog(t *testing.T) {
	day := func(text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	line := func(stamp string) string {
		return stamp + ` web1 app: {"method":"GET","path":"/a","status":200,"size":7,"duration_ms":9}` + "\n"
	}
	lines := func(stamps ...string) string {
		var out strings.Builder
		for _, s := range stamps {
			out.WriteString(line(s))
		}
		return out.String()
	}
	for _, c := range []struct {
		name, log, changed, from, to string
	}{
		{"within a year", lines("May 12 09:00:00", "May 13 09:00:00"), "2024-05-13", "2024-05-12", "2024-05-13"},
		{"copied next year", lines("May 12 09:00:00", "May 13 09:00:00"), "2025-02-01", "2024-05-12", "2024-05-13"},
		{"over the turn of the year", lines("Dec 30 09:00:00", "Dec 31 23:00:00", "Jan  1 01:00:00", "Jan  2 09:00:00"), "2024-01-02", "2023-12-30", "2024-01-02"},
		{"… copied between its days", lines("Dec 20 09:00:00", "Jan  5 09:00:00", "Feb 10 09:00:00"), "2025-01-15", "2023-12-20", "2024-02-10"},
		{"many lines", lines("Dec 31 23:00:00") + strings.Repeat(line("Jan  1 01:00:00"), 3000), "2024-01-02", "2023-12-31", "2024-01-01"},
	} {
		file := filepath.Join(t.TempDir(), "app.log")
		if err := os.WriteFile(file, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, day(c.changed), day(c.changed).Add(23*time.Hour)); err != nil {
			t.Fatal(err)
		}
		in, err := FileInput(file)
		if err != nil {
			t.Fatal(err)
		}
		a, err := AccessLogs(context.Background(), []Input{in}, AccessOptions{Zone: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		if from, to := a.From.Format(time.DateOnly), a.To.Format(time.DateOnly); from != c.from || to != c.to || !strings.Contains(fmt.Sprint(a.Notes), "dates without a year") || strings.Contains(fmt.Sprint(a.Warnings), "backwards") {
			t.Errorf("%s: %s to %s, want %s to %s; %q %q", c.name, from, to, c.from, c.to, a.Notes, a.Warnings)
		}
	}
	// A stream is dated by now; --since applies.
	a := digestText(t, lines("Dec 31 23:00:00", "Jan  1 01:00:00"), AccessOptions{Zone: time.UTC, Now: day("2024-01-02"), Since: day("2024-01-01")})
	if a.From.Format(time.DateOnly) != "2024-01-01" || a.Skipped != 1 {
		t.Errorf("stream: from %v, %d skipped, %q", a.From, a.Skipped, a.Notes)
	}
}
