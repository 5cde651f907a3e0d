package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// manyViewers that keep up; one more does not read.
const manyViewers = 5

// audience is a process of its own that looks at dashboards, as browsers on
// other machines would: its CPU time is not the run's.
type audience struct {
	cmd *exec.Cmd
	say io.WriteCloser
	out *bufio.Scanner
	is  bool
}

func newAudience(ctx context.Context, urls []string) (*audience, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &audience{cmd: exec.CommandContext(ctx, self, append([]string{"watch"}, urls...)...)}
	a.cmd.Stderr = os.Stderr
	if a.say, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.out = bufio.NewScanner(out)
	return a, a.cmd.Start()
}

// set sends the viewers in or out and waits until they are.
func (a *audience) set(there bool) error {
	if a.is == there {
		return nil
	}
	a.is = there
	word := "off"
	if there {
		word = "on"
	}
	if _, err := fmt.Fprintln(a.say, word); err != nil {
		return fmt.Errorf("viewers: %w", err)
	}
	if !a.out.Scan() || a.out.Text() != word {
		return fmt.Errorf("viewers: turned %s, they said %q (%w)", word, a.out.Text(), errors.Join(a.out.Err()))
	}
	return nil
}

func (a *audience) close() {
	a.say.Close()
	_ = a.cmd.Wait() // it ends with its input
}

// watch is the audience's process: "on" and "off" on its input let the viewers
// come and go; it answers with the same word.
func watch(ctx context.Context, urls []string) error {
	in := bufio.NewScanner(os.Stdin)
	end := func() {}
	defer func() { end() }()
	for in.Scan() {
		end()
		end = func() {}
		if in.Text() == "on" {
			var err error
			if end, err = comeIn(ctx, urls); err != nil {
				return err
			}
		}
		fmt.Println(in.Text())
	}
	return in.Err()
}

// comeIn returns when every viewer has seen its first event; leave sends all
// of them away.
func comeIn(ctx context.Context, urls []string) (leave func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var there sync.WaitGroup
	leave = func() {
		cancel()
		there.Wait()
	}
	all := len(urls) * (manyViewers + 1)
	seen := make(chan error, all)
	for _, at := range urls {
		for range manyViewers {
			there.Go(func() { follow(ctx, at, seen) })
		}
		there.Go(func() { stare(ctx, at, seen) })
	}
	for range all {
		if err := <-seen; err != nil {
			leave()
			return func() {}, err
		}
	}
	return leave, nil
}

// follow does what the page's script does: it reads events and loads the page
// again when a step was added. seen gets one value, at the first event.
func follow(ctx context.Context, at string, seen chan<- error) {
	if err := get(ctx, at, func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}); err != nil {
		seen <- err
		return
	}
	last := -1
	err := get(ctx, at+"events", func(r io.Reader) error {
		in := bufio.NewScanner(r)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			data, ok := strings.CutPrefix(in.Text(), "data: ")
			if !ok {
				continue
			}
			var now struct{ Steps int }
			if err := json.Unmarshal([]byte(data), &now); err != nil {
				return err
			}
			if last < 0 {
				seen <- nil
			} else if now.Steps != last {
				if err := get(ctx, at, func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }); err != nil {
					return err
				}
			}
			last = now.Steps
		}
		return in.Err()
	})
	if last < 0 {
		seen <- errors.Join(err, errors.New("no event came"))
	}
}

func get(ctx context.Context, at string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", at, res.Status)
	}
	return read(res.Body)
}

// stare asks for events and never reads one.
func stare(ctx context.Context, at string, seen chan<- error) {
	u, err := url.Parse(at)
	if err != nil {
		seen <- err
		return
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		seen <- err
		return
	}
	defer c.Close()
	if t, ok := c.(*net.TCPConn); ok {
		err = t.SetReadBuffer(4096) // the kernel's least, about
	}
	if err == nil {
		_, err = fmt.Fprintf(c, "GET /events HTTP/1.1\r\nHost: %s\r\n\r\n", u.Host)
	}
	seen <- err
	<-ctx.Done()
}
