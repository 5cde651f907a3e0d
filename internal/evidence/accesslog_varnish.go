package evidence

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/digest"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// varnishListener listens to varnishd's shared log with varnishncsa while a
// diagnostic run lasts: varnishd itself writes no access log.
type varnishListener struct {
	st  *stack.Stack
	svc *stack.Service
	h   host.Host

	cancel context.CancelFunc
	done   chan struct{}
	mu     sync.Mutex
	pid    int
	result host.Result
	err    error

	begin, over time.Time
}

// varnishFormat is LTSV; sec and msec_frac are varnishncsa's own (varnishncsa(1),
// "FORMAT"), so that times are as fine as the window.
const varnishFormat = `time:%{sec}t.%{msec_frac}t\tmethod:%m\turi:%U%q\tstatus:%s\tsize:%b\treqtime_microsec:%D\tcache:%{Varnish:hitmiss}x`

const (
	// varnishKept of the lines' begin and of their end, bytes.
	varnishKept = 96 << 20
	// varnishMost bounds a listener that nobody ends: longer than any run.
	varnishMost = time.Hour
)

func varnishSources(ctx context.Context, s setting) ([]source, []Health) {
	var out []source
	if !s.opts.Diagnostic {
		return nil, nil
	}
	for _, svc := range s.st.OfKind(stack.Varnish) {
		if !listensTo(ctx, s.hosts[svc.HostName()], s.st, svc) {
			continue // read as a file
		}
		x := &varnishListener{st: s.st, svc: svc, h: s.hosts[svc.HostName()], done: make(chan struct{})}
		// It must hear before the window begins, and outlive this call.
		listen, cancel := context.WithCancel(context.WithoutCancel(ctx))
		x.cancel = cancel
		argv := []string{"varnishncsa", "-F", varnishFormat}
		if dir := workFolder(svc.Control.Start); dir != "" {
			argv = append(argv, "-n", dir)
		}
		go func() {
			defer close(x.done)
			res, err := x.h.Run(listen, host.Command{Argv: argv, Timeout: varnishMost, Keep: varnishKept, Started: x.started})
			x.mu.Lock()
			x.result, x.err = res, err
			x.mu.Unlock()
		}()
		out = append(out, x)
	}
	return out, nil
}

// listensTo: a varnishncsa of Kasoku's own is to listen, because no log is
// named, or one whose format (evidence.log_format) does not tell times, and
// there is a varnishncsa. The one that writes that log goes on beside it.
func listensTo(ctx context.Context, h host.Host, st *stack.Stack, svc *stack.Service) bool {
	if svc.AccessLog == "" {
		return true
	}
	if f := st.Evidence.LogFormat; h == nil || f == "ltsv" || f == "json" || timedText.MatchString(f) {
		return false
	}
	res, err := h.Run(ctx, host.Command{Argv: []string{"varnishncsa", "-V"}, Timeout: 5 * time.Second})
	return err == nil && res.ExitCode == 0
}

// workFolder is the -n of varnishd's arguments; "" for the default one.
func workFolder(argv []string) string {
	for i, a := range argv {
		if a == "-n" && i+1 < len(argv) {
			return argv[i+1]
		}
		if dir, ok := strings.CutPrefix(a, "-n"); ok && dir != "" {
			return dir
		}
	}
	return ""
}

func (x *varnishListener) started(pid int) {
	x.mu.Lock()
	x.pid = pid
	x.mu.Unlock()
}

func (x *varnishListener) start(context.Context) { x.begin = time.Now() }

func (x *varnishListener) end(context.Context) { x.over = time.Now() }

func (x *varnishListener) close() { x.cancel() }

// varnishFlush is how long lines may take from varnishd to varnishncsa's
// output: it looks for new ones every 10 ms, on a busy machine less often.
const varnishFlush = time.Second

func (x *varnishListener) tell(ctx context.Context, ev *Evidence) {
	text, ok := x.lines(ctx)
	h := Health{Source: accessName(x.svc.Name), OK: ok, Text: text}
	if ok {
		d, err := x.digest(ctx)
		if err != nil {
			h.OK, h.Text = false, maskLog(err.Error())
		} else {
			sharesOf(d.Routes)
			ev.Routes = append(ev.Routes, d.Routes...)
			sortRoutes(ev.Routes)
			front := &accessSource{st: x.st, svc: x.svc, front: isFront(x.st, x.svc), logs: []*logPart{{AccessLog: AccessLog{Path: "varnishncsa"}}}}
			h = front.wholeHealth(ev, d.Lines-d.Bad-d.Skipped, fmt.Sprintf("%d lines of varnishncsa", d.Lines-d.Skipped))
		}
	}
	ev.Health = append(ev.Health, h)
}

// lines ends the listener; the text says why it heard nothing.
func (x *varnishListener) lines(ctx context.Context) (text string, ok bool) {
	select {
	case <-x.done: // it ended by itself
	case <-time.After(varnishFlush):
		x.mu.Lock()
		pid := x.pid
		x.mu.Unlock()
		if pid > 0 {
			_, _ = x.h.Run(ctx, host.Command{Argv: []string{"kill", "-INT", strconv.Itoa(pid)}}) // close kills it otherwise
		}
	}
	select {
	case <-x.done:
	case <-time.After(10 * time.Second):
		return "varnishncsa did not end when told to (SIGINT)", false
	case <-ctx.Done():
		return ctx.Err().Error(), false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err != nil {
		return fmt.Sprintf("varnishncsa: %v; install it (package varnish), or name an access_log in kasoku.yaml", x.err), false
	}
	if len(x.result.Stdout) == 0 && len(bytes.TrimSpace(x.result.Stderr)) > 0 {
		return "varnishncsa: " + shorten(maskLog(string(bytes.TrimSpace(x.result.Stderr))), 200), false
	}
	return "", true
}

func (x *varnishListener) digest(ctx context.Context) (*digest.Access, error) {
	out := x.result.Stdout
	if len(out) == 0 {
		return &digest.Access{}, nil
	}
	in := digest.Input{Name: "varnishncsa", Size: int64(len(out)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out)), nil }}
	return digest.AccessLogs(ctx, []digest.Input{in}, digest.AccessOptions{Format: accesslog.LTSV(), Service: x.svc.Name,
		Routes: accesslog.RouteOptions{Patterns: x.st.Evidence.Routes}, Since: x.begin.Truncate(time.Millisecond), Until: x.over})
}
