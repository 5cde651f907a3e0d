package ssh

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	_ "embed" // bootstrap.sh
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"kasoku/internal/host/agent"
)

// bootstrap is the script that ssh's /bin/sh is given on its standard input.
// It is one function, so that the shell has read it all before it starts, and
// what follows on the standard input is the function's.
//
//go:embed bootstrap.sh
var bootstrap string

// Stages of connecting, for errors.
const (
	stageLogin   = "connect"
	stageProgram = "copy Kasoku's helper"
	stageStart   = "start Kasoku's helper"
)

// newNonce is a word that no output of a start-up file has.
func newNonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return "kasoku-" + hex.EncodeToString(b[:])
}

// maxNoise is how much other output is read over in search of a line.
const maxNoise = 1 << 20

// dialogue is the controller's side of the script.
type dialogue struct {
	nonce string
	in    *bufio.Reader // from the target
	out   io.Writer
	stage string
}

// line returns the next line of the script: its first word and the rest.
func (d *dialogue) line() (word, rest string, err error) {
	for noise := 0; noise < maxNoise; {
		s, err := d.in.ReadString('\n')
		if err != nil {
			return "", "", err
		}
		noise += len(s)
		if s, ok := strings.CutPrefix(strings.TrimRight(s, "\r\n"), d.nonce+" "); ok {
			word, rest, _ = strings.Cut(s, " ")
			return word, rest, nil
		}
	}
	return "", "", errors.New("the login shell prints without end; it must be silent for commands")
}

// start talks until the helper has greeted.
func (d *dialogue) start(ctx context.Context, h *Host, after *agent.Process) (agent.Hello, error) {
	var none agent.Hello
	d.stage = stageLogin
	if _, err := fmt.Fprintf(d.out, "%s\nkasoku %s\n", bootstrap, d.nonce); err != nil {
		return none, err
	}
	word, rest, err := d.line()
	if err != nil {
		return none, err
	}
	d.stage = stageProgram
	system, machine, _ := strings.Cut(rest, " ")
	if word != "system" {
		return none, refuse("the script said %q", word)
	}
	program, err := programFor(h.options.Programs, system, machine)
	if err != nil {
		return none, refusal{err}
	}
	if err := d.provide(h, program, after); err != nil {
		return none, err
	}
	d.stage = stageStart
	if word, rest, err = d.line(); err != nil {
		return none, err
	}
	hello, err := agent.ParseHello(word + " " + rest)
	if err != nil {
		return none, refuse("%w: %w", ErrProgram, err)
	}
	return hello, ctx.Err()
}

// provide makes the program be there and be started.
func (d *dialogue) provide(h *Host, program build, after *agent.Process) error {
	arguments := fmt.Sprintf("--nonce %s --silence %s --linger %s", d.nonce, h.options.Silence, h.linger)
	if after != nil {
		arguments += " --after " + after.String()
	}
	sudo := "no"
	if h.options.Sudo {
		sudo = "yes"
	}
	if _, err := fmt.Fprintf(d.out, "%s\n%s\n%s\n%s\n", program.sum, h.options.Folder, sudo, arguments); err != nil {
		return err
	}
	word, rest, err := d.line()
	if err != nil {
		return err
	}
	if word == "send" {
		sent := d.send(program, h.alter, h.options.Moved)
		// The script tells why it did not take all.
		if word, rest, err = d.line(); err != nil {
			return errors.Join(sent, err)
		}
	}
	switch word {
	case "present", "arrived":
		return nil
	case "nowhere":
		return refuse("%w: no folder for the program:%s make one that is not mounted noexec, or log in as a user with a home", ErrProgram, rest)
	case "damaged":
		return refuse("%w: the program did not arrive as it was sent (SHA-256 %.12s…, sent %.12s…); nothing was run. Is the disk there full, or are sha256sum, gzip and head missing?", ErrProgram, rest, program.sum)
	}
	return refuse("the script said %q", word)
}

// send sends the program, packed. alter is nil outside of tests.
func (d *dialogue) send(program build, alter func(io.Reader) io.Reader, moved func()) error {
	packed, err := program.packed()
	if err != nil {
		return refusal{err}
	}
	if _, err := fmt.Fprintln(d.out, len(packed)); err != nil {
		return err
	}
	var from io.Reader = bytes.NewReader(packed)
	if alter != nil {
		from = alter(from)
	}
	_, err = io.Copy(told{d.out, moved}, from)
	return err
}

// told writes in pieces, and tells of each that is gone; moved may be nil.
type told struct {
	to    io.Writer
	moved func()
}

// piece of the program, in bytes: half a second on a line of 1 Mbit/s.
const piece = 64 << 10

func (w told) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		var k int
		k, err = w.to.Write(b[:min(piece, len(b))])
		n, b = n+k, b[k:]
		if w.moved != nil {
			w.moved()
		}
	}
	return n, err
}

// refusal is an error that needs no word of ssh to explain it, and that
// connecting again will not cure.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

func refuse(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }
