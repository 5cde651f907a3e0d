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

// Empty lines are no entries, wherever they stand: IIS writes none, but people
// join files and editors add them.
func TestAccessEmptyLines(t *testing.T) {
	for _, c := range []struct{ name, head, line string }{
		{"iis", "#Software: Microsoft Internet Information Services 10.0\r\n#Fields: date time cs-method cs-uri-stem sc-status sc-win32-status time-taken\r\n",
			"2024-05-12 22:06:00 GET /a 200 0 15\r\n"},
		{"cloudfront", "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs-uri-query time-taken\n",
			"2024-05-12\t22:06:00\tFRA6\t12\t10.0.0.1\tGET\td1.cloudfront.net\t/a\t200\t-\t0.015\n"},
		{"combined", "", `10.0.0.1 - - [12/May/2024:22:06:00 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl/8"` + "\n"},
	} {
		end := "\n"
		if strings.HasSuffix(c.line, "\r\n") {
			end = "\r\n"
		}
		log := end + c.head + end + strings.Repeat(c.line+end, 5)
		for _, parts := range []bool{false, true} {
			a, err := AccessLogs(context.Background(), []Input{textInput(c.name, log, parts)}, AccessOptions{})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if a.requests() != 5 || a.Bad != 0 {
				t.Errorf("%s: %d requests and %d bad lines, want 5 and 0", c.name, a.requests(), a.Bad)
			}
		}
	}
	for _, envelope := range []string{"web-1  | ", "2024-05-12T22:06:00.1Z stdout F ", "May 12 22:06:00 web1 nginx[12]: "} {
		line := envelope + `10.0.0.1 - - [12/May/2024:22:06:00 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl/8"` + "\n"
		a := digestText(t, strings.Repeat(line+envelope+"\n", 5), AccessOptions{})
		if a.requests() != 5 || a.Bad != 0 {
			t.Errorf("%q: %d requests and %d bad lines, want 5 and 0", envelope, a.requests(), a.Bad)
		}
	}
}
