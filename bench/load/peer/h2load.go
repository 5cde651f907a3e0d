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

// H2load is nghttp2's generator; here it speaks HTTP/1.1 unless the job is one
// of HTTP/2. Its rate is one per connection, kept by a timer of each.
func H2load() *Tool {
	return &Tool{Name: "h2load", Open: true, Closed: true, HTTP2: true, parse: parseH2load,
		Note: "tells no percentile", args: func(j Job) []string {
			args := []string{"-t", strconv.Itoa(max(1, j.Threads)), "-c", strconv.Itoa(j.Users), "-D", strconv.Itoa(seconds(j.Duration))}
			if !j.HTTP2 {
				args = append(args, "--h1")
			}
			if j.Rate > 0 {
				args = append(args, "--rps="+strconv.FormatFloat(float64(j.Rate)/float64(j.Users), 'f', -1, 64))
			}
			if j.Post != "" {
				args = append(args, "-d", j.PostFile, "-H", "content-type: "+postType)
			}
			return append(args, j.URL)
		}}
}

// parseH2load reads its summary. Requests that were under way at the end are
// neither done nor failed.
func parseH2load(b []byte) (Report, error) {
	var r Report
	found := false
	s := bufio.NewScanner(bytes.NewReader(b))
	for s.Scan() {
		f := strings.Fields(s.Text())
		var err error
		switch {
		case strings.HasPrefix(s.Text(), "finished in ") && len(f) > 2:
			r.Elapsed, err = time.ParseDuration(strings.TrimSuffix(f[2], ","))
		case strings.HasPrefix(s.Text(), "requests: "):
			found = true
			var total, started, succeeded, failed, errored, timeout int64
			_, err = fmt.Sscanf(s.Text(), "requests: %d total, %d started, %d done, %d succeeded, %d failed, %d errored, %d timeout",
				&total, &started, &r.Requests, &succeeded, &failed, &errored, &timeout)
			r.Failed += failed // those errored are among them
			r.Requests -= errored
		case strings.HasPrefix(s.Text(), "time for request:") && len(f) > 4:
			r.Max, err = time.ParseDuration(f[4])
		}
		if err != nil {
			return Report{}, fmt.Errorf("line %q: %w", s.Text(), err)
		}
	}
	if !found {
		return Report{}, errors.New(`no line "requests: …"`)
	}
	return r, s.Err()
}
