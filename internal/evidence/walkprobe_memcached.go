package evidence

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// watchStream hears memcached's watch stream (doc/protocol.txt, "Watchers").
type watchStream struct {
	service string
	control net.Conn
	answers *bufio.Reader
	log     *capture
	connect bool // connections are shown
	// lookups at each mark: commands that the stream shows as gets although
	// they are none.
	lookups map[int]int64
}

func openWatch(ctx context.Context, h host.Host, svc *stack.Service) (*watchStream, error) {
	w := &watchStream{service: svc.Name, lookups: map[int]int64{}}
	var err error
	if w.control, err = stack.DialCache(ctx, h, svc); err != nil {
		return nil, err
	}
	w.answers = bufio.NewReader(w.control)
	// The answer shows that the connection is there before the stream begins.
	if _, err := w.ask(ctx, "version"); err != nil {
		w.close()
		return nil, fmt.Errorf("ask %s for its version: %w", svc.Name, err)
	}
	// connevents came with memcached 1.6.12.
	for _, what := range []string{"fetchers mutations connevents", "fetchers mutations"} {
		conn, err := stack.DialCache(ctx, h, svc)
		if err != nil {
			w.close()
			return nil, err
		}
		answer, err := watchAnswer(ctx, conn, what)
		if err == nil && answer == "OK" {
			w.log, w.connect = startCapture(conn), strings.Contains(what, "connevents")
			return w, nil
		}
		conn.Close()
		if err != nil {
			w.close()
			return nil, fmt.Errorf("watch %s: %w", svc.Name, err)
		}
	}
	w.close()
	return nil, fmt.Errorf("not judged: %s has no watch command (memcached 1.4.26 or later has)", svc.Name)
}

// watchAnswer reads the answer byte by byte: what follows belongs to the
// capture.
func watchAnswer(ctx context.Context, conn net.Conn, what string) (string, error) {
	release, err := bounded(ctx, conn)
	if err != nil {
		return "", err
	}
	defer release()
	if _, err := io.WriteString(conn, "watch "+what+"\r\n"); err != nil {
		return "", err
	}
	line, err := readPlainLine(conn)
	if err != nil {
		return "", err
	}
	return line, conn.SetDeadline(noDeadline)
}

func (w *watchStream) name() string { return w.service }

// ask sends one command and returns the first line of its answer.
func (w *watchStream) ask(ctx context.Context, command string) (string, error) {
	release, err := bounded(ctx, w.control)
	if err != nil {
		return "", err
	}
	defer release()
	if _, err := io.WriteString(w.control, command+"\r\n"); err != nil {
		return "", err
	}
	line, err := w.answers.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

func (w *watchStream) mark(ctx context.Context, n int) error {
	answer, err := w.ask(ctx, "get "+trace.MarkKey(n))
	if err != nil {
		return err
	}
	if answer != "END" {
		return fmt.Errorf("it answers a get with %q", answer)
	}
	w.lookups[n], err = w.countLookups(ctx)
	return err
}

// notGets are counters of commands that look a key up without getting it
// (protocol.txt, "General-purpose statistics").
var notGets = map[string]bool{"cmd_touch": true, "delete_hits": true, "delete_misses": true, "incr_hits": true, "incr_misses": true, "decr_hits": true, "decr_misses": true}

func (w *watchStream) countLookups(ctx context.Context) (int64, error) {
	line, err := w.ask(ctx, "stats")
	sum := int64(0)
	for err == nil && line != "END" {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "STAT" {
			return 0, fmt.Errorf("it answers stats with %q", line)
		}
		if len(f) == 3 && notGets[f[1]] {
			n, _ := strconv.ParseInt(f[2], 10, 64)
			sum += n
		}
		line, err = w.answers.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
	}
	return sum, err
}

func (w *watchStream) finish(ctx context.Context, last int) ([]trace.Event, string, error) {
	end := []byte("key=" + trace.MarkKey(last) + " ")
	var since time.Time
	data, err := w.log.until(ctx, func(data []byte) bool {
		if !bytes.Contains(data, end) {
			return false
		}
		if since.IsZero() {
			since = time.Now()
		}
		// Lines of other threads may come after it.
		got, err := trace.MemcachedEvents(bytes.NewReader(data), w.service)
		return err != nil || got.Missing == 0 || time.Since(since) > latestLines
	})
	if err != nil {
		return nil, "", fmt.Errorf("hear %s: %w", w.service, err)
	}
	seen, err := trace.MemcachedEvents(bytes.NewReader(data), w.service)
	if err != nil {
		return nil, "", err
	}
	return seen.Events, w.tell(seen), nil
}

// latestLines is how long after the last mark lines of other threads are
// waited for: the log thread sleeps for a second at most.
const latestLines = 1500 * time.Millisecond

func (w *watchStream) tell(seen *trace.Watched) string {
	text := "values are not shown, only their sizes"
	if n := seen.Skipped + seen.Missing + seen.Bad; n > 0 {
		text += fmt.Sprintf("; %d lines were lost", n)
	}
	if !w.connect {
		text += "; not judged: connections, which memcached shows from 1.6.12 on"
	}
	return text
}

func (w *watchStream) amend(n int, calls []trace.Call) []trace.Call {
	if lost := int(w.lookups[n+1] - w.lookups[n]); lost > 0 {
		trace.Lookups(calls, w.service, lost)
	}
	return calls
}

func (w *watchStream) close() {
	w.control.Close()
	if w.log != nil {
		w.log.close()
	}
}
