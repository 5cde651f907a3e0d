package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// WaitHealthy waits until the service answers, at most health.timeout:
//   - health.url: a GET answers with 200–399 (redirects are not followed);
//   - a database: it lets Login in (or refuses it: it answers), without a login
//     it sends the protocol's greeting;
//   - Redis: it answers PING;
//   - everything else: every endpoint of its present configuration (nginx,
//     Apache, php-fpm), or kasoku.yaml's listen, takes a connection.
//
// It gives up early when the service has no process any more, and late while its
// processes compute: a program on a virtual machine, or on a busy host, takes minutes to
// start, and one that hangs uses no CPU. Then it may take mostStarting times as long. The
// error names what was tried and carries the last lines of the service's log.
func (c *Controller) WaitHealthy(ctx context.Context) error {
	return c.chosen(ctx, "wait for", c.waitHealthy)
}

func (c *Controller) waitHealthy(ctx context.Context) error {
	var last error
	var gone time.Time
	var mains []identity
	wait := c.svc.Health.Wait()
	probe := func() (bool, error) {
		if mains, last = c.probe(ctx, mains); last == nil {
			return true, nil
		}
		if !errors.Is(last, ErrNotRunning) {
			gone = time.Time{}
			return false, ctx.Err()
		}
		if gone.IsZero() {
			gone = time.Now()
		}
		if time.Since(gone) > afterExit {
			return false, fmt.Errorf("it ended: %w", last)
		}
		return false, ctx.Err()
	}
	ok, err := poll(ctx, wait, probe)
	spent := wait
	for look := wait / 3; err == nil && !ok && spent < mostStarting*wait; spent += look {
		before := c.used(ctx, mains)
		if ok, err = poll(ctx, look, probe); err == nil && !ok && !c.used(ctx, mains).computed(before, look) {
			spent += look
			break
		}
	}
	if err == nil && !ok {
		err = fmt.Errorf("not healthy after %s: %w%s", spent.Round(time.Millisecond), last, c.listensElsewhere(ctx))
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, c.logTail(ctx))
	}
	return nil
}

// mostStarting times its time-out a service may take while it computes.
const mostStarting = 10

// startingShare of one CPU, at least, is used by processes that start.
const startingShare = 0.02

// cpuUsed by each of a service's processes since its start, clock ticks.
type cpuUsed map[identity]uint64

// used is that of the processes there are now; mains are the main ones. nil: it cannot be known.
func (c *Controller) used(ctx context.Context, mains []identity) cpuUsed {
	if len(mains) == 0 {
		return nil
	}
	family, err := c.familyOf(ctx, mains)
	if err != nil {
		return nil
	}
	out := cpuUsed{}
	for _, id := range family {
		if p, err := readProcess(ctx, c.h, id.pid); err == nil && p.started == id.started {
			out[id] = p.used
		}
	}
	return out
}

// computed reports whether processes that were there before have used CPU since, for at
// least startingShare of that time.
func (u cpuUsed) computed(before cpuUsed, since time.Duration) bool {
	return float64(u.since(before)) >= startingShare*since.Seconds()*clockTicks
}

// clockTicks in a second, as the kernel tells them (USER_HZ; proc(5)).
const clockTicks = 100

// probe asks once. known are the main processes that the probe before returned, nil if
// there was none.
func (c *Controller) probe(ctx context.Context, known []identity) (mains []identity, err error) {
	// Another program may answer at the same address: the service's own process
	// must be there and listen, where there is a way to know it.
	if c.svc.ControlMethod() != MethodCommand || c.svc.Control.PIDFile != "" {
		if mains, err = c.mains(ctx, known); err != nil {
			return nil, err
		}
	}
	switch {
	case c.svc.Health.URL != "":
		return mains, c.probeURL(ctx)
	case c.svc.IsDatabase():
		return mains, c.probeDatabase(ctx)
	}
	endpoints := readSettings(ctx, c.h, c.svc).endpoints
	for _, e := range endpoints {
		if err := c.probeEndpoint(ctx, e); err != nil {
			return mains, err
		}
	}
	if len(mains) > 0 {
		return mains, c.holds(ctx, mains, endpoints)
	}
	return nil, nil
}

// holds checks that the service's own processes, of which mains were just found, listen
// on the endpoints. It says nothing when Kasoku may not see their sockets.
func (c *Controller) holds(ctx context.Context, mains []identity, endpoints []string) error {
	if c.svc.ControlMethod() == MethodSystemd {
		mains = nil // there may be more of them
	}
	family, err := c.familyOf(ctx, mains)
	if err != nil {
		return err
	}
	var pids []int
	for _, id := range family {
		pids = append(pids, id.pid)
	}
	table, err := readListeners(ctx, c.h, pids[0])
	if err != nil {
		return ctx.Err()
	}
	have, err := table.of(ctx, c.h, pids)
	if err != nil {
		return ctx.Err()
	}
	for _, e := range endpoints {
		bound := realEndpoint(ctx, c.h, e)
		if !slices.ContainsFunc(have, func(s socket) bool { return s.serves(bound) }) {
			return fmt.Errorf("%s takes connections, but not from this service: another program listens there", e)
		}
	}
	return nil
}

// listensElsewhere is the way out where kasoku.yaml's listen holds what the service
// does not take connections at any more: where its main process does, and what to do.
// "" if nothing of the kind is known.
func (c *Controller) listensElsewhere(ctx context.Context) string {
	if c.svc.Health.URL != "" || c.svc.IsDatabase() || !slices.Equal(readSettings(ctx, c.h, c.svc).endpoints, c.svc.Listen) {
		return ""
	}
	m, err := c.master(ctx)
	if err != nil {
		return ""
	}
	table, err := readListeners(ctx, c.h, m.pid)
	if err != nil {
		return ""
	}
	own, err := table.of(ctx, c.h, []int{m.pid})
	now := listening(own)
	if err != nil || len(now) == 0 || slices.Equal(now, c.svc.Listen) {
		return ""
	}
	return fmt.Sprintf("; kasoku.yaml says that %s listens at %s, its main process now listens at %s: if that is right, write it as listen of %s in kasoku.yaml, then run `kasoku recover`",
		c.svc.Name, strings.Join(c.svc.Listen, ", "), strings.Join(now, ", "), c.svc.Name)
}

func (c *Controller) probeURL(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.svc.Health.URL, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: c.movedDial(ctx)}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)); err != nil {
		return fmt.Errorf("GET %s: %w", c.svc.Health.URL, err)
	}
	if res.StatusCode < 200 || res.StatusCode > 399 {
		return fmt.Errorf("GET %s: status %s", c.svc.Health.URL, res.Status)
	}
	return nil
}

func (c *Controller) probeEndpoint(ctx context.Context, endpoint string) error {
	conn, err := dial(ctx, c.h, endpoint)
	if err != nil {
		return err
	}
	defer conn.Close()
	if c.svc.Kind != Redis {
		return nil
	}
	answer, err := ask(conn, "PING\r\n", 64)
	if err != nil {
		return fmt.Errorf("ask %s for PING: %w", endpoint, err)
	}
	if !bytes.HasPrefix(answer, []byte("+")) && !bytes.HasPrefix(answer, []byte("-NOAUTH")) {
		return fmt.Errorf("%s answers PING with %q", endpoint, strings.TrimSpace(string(answer)))
	}
	return nil
}

// ask sends a text and reads at most limit bytes of one answer.
func ask(conn net.Conn, text string, limit int) ([]byte, error) {
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return nil, err
	}
	if text != "" {
		if _, err := io.WriteString(conn, text); err != nil {
			return nil, err
		}
	}
	buf := make([]byte, limit)
	n, err := conn.Read(buf)
	return buf[:n], err
}

// mysqlAccessDenied is ER_ACCESS_DENIED_ERROR.
const mysqlAccessDenied = 1045

func (c *Controller) probeDatabase(ctx context.Context) error {
	var failed error
	if c.svc.Login != nil {
		if failed = c.ping(ctx); failed == nil {
			return nil
		}
		if my := (*mysql.MySQLError)(nil); errors.As(failed, &my) && my.Number == mysqlAccessDenied {
			return nil // it answers; OpenDB tells about the login
		}
	}
	for _, e := range readSettings(ctx, c.h, c.svc).endpoints {
		if failed = c.greeting(ctx, e); failed == nil {
			return nil
		}
	}
	return failed
}

func (c *Controller) ping(ctx context.Context) error {
	db, err := OpenDB(ctx, c.h, c.svc)
	if err != nil {
		return err
	}
	return db.Close()
}

// greeting reads the first packet that the server sends: protocol version 10
// after the packet's header of four bytes, or 0xff and why it refuses.
func (c *Controller) greeting(ctx context.Context, endpoint string) error {
	conn, err := dial(ctx, c.h, endpoint)
	if err != nil {
		return err
	}
	defer conn.Close()
	b, err := ask(conn, "", 512)
	if err != nil {
		return fmt.Errorf("read the greeting of %s: %w", endpoint, err)
	}
	if len(b) > 4 && b[4] == 10 {
		return nil
	}
	if len(b) > 7 && b[4] == 0xff {
		return fmt.Errorf("%s refuses: %s", endpoint, strings.ToValidUTF8(string(b[7:]), ""))
	}
	return fmt.Errorf("%s does not speak the MySQL protocol", endpoint)
}
