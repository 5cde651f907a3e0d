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

// abPerSecond bounds ab's requests: -t alone would stop after 50,000. ab sets
// aside 32 bytes for each, so the bound is not simply huge.
const abPerSecond = 1_000_000

// AB is ApacheBench with keep-alive. It notices answers of another length than
// the first.
func AB() *Tool {
	return &Tool{Name: "ab", Required: true, Closed: true, parse: parseAB, args: func(j Job) []string {
		s := seconds(j.Duration)
		args := []string{"-q", "-k", "-c", strconv.Itoa(j.Users), "-t", strconv.Itoa(s), "-n", strconv.Itoa(s * abPerSecond)}
		if j.Post != "" {
			args = append(args, "-p", j.PostFile, "-T", postType)
		}
		return append(args, j.URL)
	}}
}

// parseAB reads ab's summary; it knows milliseconds only.
func parseAB(b []byte) (Report, error) {
	var r Report
	found := false
	s := bufio.NewScanner(bytes.NewReader(b))
	for s.Scan() {
		key, value, _ := strings.Cut(strings.TrimSpace(s.Text()), " ")
		name, rest, colon := strings.Cut(s.Text(), ":")
		var err error
		switch {
		case colon && name == "Complete requests":
			found = true
			r.Requests, err = number(rest)
		case colon && name == "Time taken for tests":
			r.Elapsed, err = time.ParseDuration(strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(rest), "econds"), " ", ""))
		case colon && (name == "Failed requests" || name == "Non-2xx responses"):
			var n int64
			n, err = number(rest)
			r.Failed += n
		case key == "99%":
			r.P99, err = milliseconds(value)
		case key == "100%":
			r.Max, err = milliseconds(value) // 5 (longest request)
		}
		if err != nil {
			return Report{}, fmt.Errorf("line %q: %w", s.Text(), err)
		}
	}
	if !found {
		return Report{}, errors.New(`no line "Complete requests: …"`)
	}
	return r, s.Err()
}

func number(text string) (int64, error) { return strconv.ParseInt(strings.TrimSpace(text), 10, 64) }

// milliseconds reads the first word of text.
func milliseconds(text string) (time.Duration, error) {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := number(word)
	return time.Duration(n) * time.Millisecond, err
}
