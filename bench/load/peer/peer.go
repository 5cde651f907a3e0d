// Package peer knows the load generators that Kasoku is compared with, and
// Kasoku itself: how each is told what to do and what its output means.
//
// In: a Job. Out: a command line, and from its output a Report.
package peer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Job is what a tool shall do: one request, again and again. A certificate is
// not to be verified.
type Job struct {
	URL string
	// Post is the body of a POST, of type application/json; "": a GET.
	Post string
	// HTTP2 by TLS, with one request at a time on each connection.
	HTTP2 bool
	// Users is the number of connections. In the open model it is the most that
	// may be in use at once, where a tool has such a limit.
	Users   int
	Threads int // wrk and wrk2; 0: one
	// Rate is requests/s of the open model; 0: closed model, each connection
	// sends again as soon as it has the answer.
	Rate     int
	Duration time.Duration // whole seconds: wrk and ab take no other
	// Check is what Kasoku has to verify of every answer; nil: nothing.
	Check *Check
	// File is a path that the tool may write to; PostFile holds Post, and
	// Script what Tool.Script returned.
	File, PostFile, Script string
}

// postType is the Content-Type of Job.Post.
const postType = "application/json"

// Check is what a right answer looks like.
type Check struct {
	Status, Size int
	Contains     string
}

// Report is what a tool says of itself. Durations are 0 where it says nothing.
type Report struct {
	Requests int64         `json:"requests"` // with an answer, right or wrong
	Failed   int64         `json:"failed"`   // wrong answers among them, and requests without one
	Elapsed  time.Duration `json:"elapsed"`  // the time in which it made Requests
	P99      time.Duration `json:"p99,omitempty"`
	Max      time.Duration `json:"max,omitempty"`

	// Kasoku only, open model: latency from the real send time, how late
	// requests were sent, and those not sent at all.
	Uncorrected99  time.Duration `json:"uncorrected_p99,omitempty"`
	UncorrectedMax time.Duration `json:"uncorrected_max,omitempty"`
	Lateness50     time.Duration `json:"lateness_p50,omitempty"`
	Lateness99     time.Duration `json:"lateness_p99,omitempty"`
	LatenessMax    time.Duration `json:"lateness_max,omitempty"`
	Planned        int64         `json:"planned,omitempty"`
	Dropped        int64         `json:"dropped,omitempty"`
	// WindowCPU is what the tool counted itself in its measured window.
	WindowCPU time.Duration `json:"window_cpu,omitempty"`
	Saturated string        `json:"saturated,omitempty"`
}

// source is where a tool leaves its figures.
type source int

const (
	stdout source = iota
	file          // in Job.File
	digest        // in Job.File, for the tool's own second command
)

// Tool is one load generator.
type Tool struct {
	Name string
	// Required tools come with Debian; without them nothing is judged.
	Required bool
	// Open is true if the tool can keep a rate.
	Open bool
	// Closed is true if it can send without a rate.
	Closed bool
	// HTTP2 is true if it speaks HTTP/2 on as many connections as it is told.
	HTTP2 bool
	// Far is true if it needs several times wrk's CPU. Such a tool takes part in
	// every other round only: its bar needs no precision.
	Far bool
	// Note is what to know about its latency; "" if it counts from the planned
	// or, in the closed model, from the real send time.
	Note string

	args   func(Job) []string
	from   source
	digest func(Job) []string
	stdin  func(Job) string
	script func(Job) string
	parse  func([]byte) (Report, error)

	path string
}

// Tools are all, Kasoku first. Kasoku's program is path.
func Tools(kasoku string) []*Tool {
	k := Kasoku()
	k.path = kasoku
	return []*Tool{k, Wrk(), Wrk2(), AB(), H2load(), Bombardier(), Oha(), Vegeta(), Hey(), K6()}
}

// Find looks for the program in the folders, then in PATH. It reports whether
// there is one.
func (t *Tool) Find(folders ...string) bool {
	if t.path != "" {
		info, err := os.Stat(t.path)
		return err == nil && info.Mode()&0o111 != 0
	}
	for _, dir := range folders {
		if p, err := exec.LookPath(filepath.Join(dir, t.Name)); err == nil {
			t.path = p
			return true
		}
	}
	p, err := exec.LookPath(t.Name)
	t.path = p
	return err == nil
}

// Args is the command line for a job, program first.
func (t *Tool) Args(j Job) []string { return append([]string{t.path}, t.args(j)...) }

// Stdin is what the tool reads.
func (t *Tool) Stdin(j Job) string {
	if t.stdin == nil {
		return ""
	}
	return t.stdin(j)
}

// Script is what the tool wants to find in Job.Script; "": nothing.
func (t *Tool) Script(j Job) string {
	if t.script == nil {
		return ""
	}
	return t.script(j)
}

// Digest is the command that turns Job.File into figures, which are then to be
// given to Read as output; nil for a tool without such a command.
func (t *Tool) Digest(j Job) []string {
	if t.from != digest {
		return nil
	}
	return append([]string{t.path}, t.digest(j)...)
}

// Read finds the figures of a finished job; output is what the tool (or its
// Digest) wrote to standard output.
func (t *Tool) Read(j Job, output []byte) (Report, error) {
	if t.from == file {
		var err error
		if output, err = os.ReadFile(j.File); err != nil {
			return Report{}, fmt.Errorf("read %s's figures: %w", t.Name, err)
		}
	}
	r, err := t.parse(output)
	if err != nil {
		return Report{}, fmt.Errorf("read %s's figures: %w", t.Name, err)
	}
	if r.Requests == 0 {
		return r, fmt.Errorf("%s made no request", t.Name)
	}
	return r, nil
}

// secure: the address is one of TLS, so a tool that verifies certificates must
// be told not to.
func secure(url string) bool { return strings.HasPrefix(url, "https:") }

// seconds is a duration as tools take it that know whole seconds only.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
