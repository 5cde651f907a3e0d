package digest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kasoku/internal/accesslog"
)

// However a log is cut for several workers, each line is read with the columns
// that the last #Fields before it names.
func TestAccessHeadersAcrossPieces(t *testing.T) {
	var log strings.Builder
	for round := range 12 {
		if round%2 == 0 {
			log.WriteString("#Software: Microsoft Internet Information Services 10.0\r\n#Fields: date time cs-method cs-uri-stem sc-status time-taken sc-win32-status\r\n")
		} else {
			log.WriteString("#Fields: date time sc-status time-taken cs-method cs-uri-stem\r\n")
		}
		for i := range 1 + 5*round {
			if round%2 == 0 {
				fmt.Fprintf(&log, "2024-05-12 10:%02d:%02d GET /a 200 %d 0\r\n", round, i, 100+i)
			} else {
				fmt.Fprintf(&log, "2024-05-12 10:%02d:%02d 200 %d GET /a\r\n", round, i, 100+i)
			}
		}
	}
	patterns, err := accesslog.NewRoutes(accesslog.RouteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	digest := func(parts bool, segment int64, block, workers int) string {
		run := newAccessRun([]Input{textInput("iis.log", log.String(), parts)}, AccessOptions{Workers: workers}, patterns)
		run.segment, run.block = segment, block
		a, err := run.do(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if a.Bad > 0 || a.Lines != 342 || a.Format != "iis" {
			t.Errorf("parts %v, segment %d, block %d: %d of %d lines are bad: %s", parts, segment, block, a.Bad, a.Lines, a.FirstBad)
		}
		return asJSON(a)
	}
	whole := digest(true, 1<<20, 1<<20, 1)
	for _, size := range []int{40, 64, 100, 333, 1000, 4096} {
		for workers := 1; workers <= 3; workers++ {
			if got := digest(true, int64(size), size, workers); got != whole {
				t.Errorf("segments of %d: %s\nwant %s", size, got, whole)
			}
			if got := digest(false, int64(size), max(size, 200), workers); got != whole {
				t.Errorf("blocks of %d: %s\nwant %s", size, got, whole)
			}
		}
	}
}
