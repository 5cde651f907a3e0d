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

// Wrk checks nothing but counts answers that are neither 2xx nor 3xx. At its
// end it corrects its percentiles, not its maximum, for requests that it would
// have sent at its mean rate (stats_correct in its stats.c).
func Wrk() *Tool {
	return &Tool{Name: "wrk", Required: true, Closed: true, Note: "adds to its percentiles what it guesses it missed", args: wrkArgs, script: wrkScript, parse: parseWrk}
}

// Wrk2 is wrk with a rate. Its latency counts from the planned time.
func Wrk2() *Tool {
	return &Tool{Name: "wrk2", Open: true, args: wrkArgs, script: wrkScript, parse: parseWrk}
}

func wrkArgs(j Job) []string {
	args := []string{"-t", strconv.Itoa(max(1, j.Threads)), "-c", strconv.Itoa(j.Users), "-d", fmt.Sprintf("%ds", seconds(j.Duration)), "--latency"}
	if j.Rate > 0 {
		args = append(args, "-R", strconv.Itoa(j.Rate))
	}
	if j.Post != "" {
		args = append(args, "-s", j.Script)
	}
	return append(args, j.URL)
}

// wrkScript sets what wrk builds its one request from before it begins: no Lua
// runs while it sends.
func wrkScript(j Job) string {
	if j.Post == "" {
		return ""
	}
	return fmt.Sprintf("wrk.method = \"POST\"\nwrk.body = [==[%s]==]\nwrk.headers[\"Content-Type\"] = %q\n", j.Post, postType)
}

// parseWrk reads what wrk --latency and wrk2 --latency print.
func parseWrk(b []byte) (Report, error) {
	var r Report
	found := false
	s := bufio.NewScanner(bytes.NewReader(b))
	for s.Scan() {
		f := strings.Fields(s.Text())
		var err error
		switch {
		case len(f) == 5 && f[0] == "Latency" && f[1] != "Distribution":
			r.Max, err = time.ParseDuration(f[3]) // Latency Avg Stdev Max +/-
		case len(f) == 2 && (f[0] == "99%" || f[0] == "99.000%"):
			r.P99, err = time.ParseDuration(f[1])
		case len(f) >= 4 && f[1] == "requests" && f[2] == "in":
			found = true
			if r.Requests, err = number(f[0]); err == nil {
				r.Elapsed, err = time.ParseDuration(strings.TrimSuffix(f[3], ","))
			}
		case strings.HasPrefix(s.Text(), "  Socket errors: "):
			var connect, read, write, timeout int64
			_, err = fmt.Sscanf(s.Text(), "  Socket errors: connect %d, read %d, write %d, timeout %d", &connect, &read, &write, &timeout)
			r.Failed += connect + read + write + timeout
		case strings.HasPrefix(s.Text(), "  Non-2xx or 3xx responses: "):
			var n int64
			n, err = number(f[len(f)-1])
			r.Failed += n
		}
		if err != nil {
			return Report{}, fmt.Errorf("line %q: %w", s.Text(), err)
		}
	}
	if !found {
		return Report{}, errors.New(`no line "… requests in …"`)
	}
	return r, s.Err()
}
