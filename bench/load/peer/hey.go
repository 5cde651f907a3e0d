package peer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Hey takes a rate per worker.
func Hey() *Tool {
	return &Tool{Name: "hey", Open: true, Closed: true, Far: true, parse: parseHey, args: func(j Job) []string {
		args := []string{"-z", j.Duration.String(), "-c", strconv.Itoa(j.Users)}
		if j.Rate > 0 {
			args = append(args, "-q", strconv.FormatFloat(float64(j.Rate)/float64(j.Users), 'f', -1, 64))
		}
		return append(args, j.URL)
	}}
}

// parseHey reads hey's summary. It prints "99%% in 0.0048 secs" with both
// percent signs.
func parseHey(b []byte) (Report, error) {
	var r Report
	section := ""
	s := bufio.NewScanner(bytes.NewReader(b))
	for s.Scan() {
		line := strings.TrimSpace(s.Text())
		if strings.HasSuffix(line, ":") {
			section = line
		}
		f := strings.Fields(line)
		var err error
		switch {
		case len(f) == 3 && f[0] == "Total:":
			r.Elapsed, err = time.ParseDuration(f[1] + "s")
		case len(f) == 3 && f[0] == "Slowest:":
			r.Max, err = time.ParseDuration(f[1] + "s")
		case len(f) == 4 && strings.TrimRight(f[0], "%") == "99" && f[1] == "in":
			r.P99, err = time.ParseDuration(f[2] + "s")
		case section == "Status code distribution:" && len(f) == 3 && f[2] == "responses":
			var n int64
			n, err = number(f[1])
			r.Requests += n
			if f[0] != "[200]" {
				r.Failed += n
			}
		case section == "Error distribution:" && len(f) > 1 && strings.HasPrefix(f[0], "["):
			var n int64
			n, err = number(strings.Trim(f[0], "[]"))
			r.Failed += n
		}
		if err != nil {
			return Report{}, fmt.Errorf("line %q: %w", line, err)
		}
	}
	if r.Requests == 0 && r.Failed == 0 {
		return Report{}, errors.New("no status codes and no errors in it")
	}
	return r, s.Err()
}
