// Package agent is Kasoku's helper on another machine: it does there what
// host.Local does here.
//
// In comes a byte stream in both directions (the standard input and output of
// "kasoku agent serve", which ssh carries); out go the answers. The stream is
// cut into many by yamux, and each call has one of its own:
//
//  1. Serve prints one Hello line, and both sides start yamux. The controller
//     opens streams, the helper accepts them.
//  2. A call is a request frame with its body. The helper answers with frames;
//     the last one has Done set. A lock is held until its stream ends; a
//     dialled connection is its stream.
//  3. The controller cancels a call by closing its side of the stream. The
//     helper ends what it does and still answers, so that the controller knows
//     that it has ended.
//  4. When the byte stream ends or falls silent, the helper kills the process
//     groups of its commands, lets go of its locks and removes its own file.
//
// A frame is a length of four bytes, big-endian, so many bytes of gob, and the
// bodies whose sizes that header names.
package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/yamux"
)

// Protocol is the version of everything that goes over the wire. A helper of
// another version is not talked to.
const Protocol = 1

// DefaultSilence is how long the other side may be silent before it counts as
// gone: three of ssh's own usual keep-alives (ServerAliveInterval 5).
const DefaultSilence = 15 * time.Second

// helloWord stands before the Hello, after the controller's nonce.
const helloWord = "hello"

// Hello is the first line that a helper writes.
type Hello struct {
	Protocol int
	Version  string // of Kasoku
	Program  string // the helper's own path
	UID      int
	Helper   Process
}

// Process is one process of one boot of a machine, which no other one is ever
// taken for.
type Process struct {
	PID   int
	Start uint64 // clock ticks after boot; field 22 of /proc/PID/stat
	Boot  string // /proc/sys/kernel/random/boot_id
}

// String is how a Process is written into the helper's arguments.
func (p Process) String() string { return fmt.Sprintf("%d:%d:%s", p.PID, p.Start, p.Boot) }

// ParseProcess reads what String wrote.
func ParseProcess(s string) (Process, error) {
	var p Process
	if _, err := fmt.Sscanf(s, "%d:%d:%s", &p.PID, &p.Start, &p.Boot); err != nil || p.PID <= 0 {
		return Process{}, fmt.Errorf("%q is no PID:START:BOOT", s)
	}
	return p, nil
}

// write prints the hello as one line that begins with the nonce.
func (h Hello) write(w io.Writer, nonce string) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s %s %s\n", nonce, helloWord, b)
	return err
}

// ParseHello reads a line that Serve wrote, without its nonce. A helper of
// another protocol is an error.
func ParseHello(line string) (Hello, error) {
	var h Hello
	rest, ok := strings.CutPrefix(line, helloWord+" ")
	if !ok {
		return h, fmt.Errorf("%.80q is no greeting of Kasoku's helper", line)
	}
	if err := json.Unmarshal([]byte(rest), &h); err != nil {
		return h, fmt.Errorf("greeting of Kasoku's helper: %w", err)
	}
	if h.Protocol != Protocol {
		return h, fmt.Errorf("the helper speaks protocol %d, this program %d: use builds of one version", h.Protocol, Protocol)
	}
	return h, nil
}

// sessionConfig is the same on both sides. Each sends a sign of life after a
// third of silence and waits two thirds for the answer.
func sessionConfig(silence time.Duration) *yamux.Config {
	if silence <= 0 {
		silence = DefaultSilence
	}
	c := yamux.DefaultConfig()
	c.KeepAliveInterval = silence / 3
	c.ConnectionWriteTimeout = silence - silence/3
	// 1 MiB under way lets one stream fill 80 Mbit/s at a round trip of 100 ms.
	c.MaxStreamWindowSize = 1 << 20
	c.StreamOpenTimeout = 0 // the signs of life decide
	c.LogOutput = io.Discard
	return c
}
