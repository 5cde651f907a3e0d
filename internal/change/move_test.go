package change

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
)

func init() {
	plans["move"] = func(l lab) []Change { return movePlan(l) }
	setups["move"] = func(l lab, o *Options) {
		o.Control = func(service string) (Controller, error) { return moveControl{labControl{l, service}}, nil }
	}
}

// moveControl knows PHP-FPM's endpoints from its configuration: it is healthy
// when all of them answer.
type moveControl struct{ labControl }

var listens = regexp.MustCompile(`(?m)^listen = (.*)$`)

func (c moveControl) WaitHealthy(ctx context.Context) error {
	if c.service != "php" {
		return c.labControl.WaitHealthy(ctx)
	}
	conf, err := os.ReadFile(c.path("fpm.conf"))
	if err != nil {
		return err
	}
	for _, m := range listens.FindAllStringSubmatch(string(conf), -1) {
		network := "tcp"
		if strings.HasPrefix(m[1], "/") {
			network = "unix"
		}
		if err := await.Until(func() error {
			conn, err := net.Dial(network, m[1])
			if err == nil {
				conn.Close()
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// newMove is nginx in front of PHP-FPM on a TCP port.
func newMove(t *testing.T) lab {
	t.Helper()
	newLab(t) // says what is missing
	dir, err := os.MkdirTemp(memory(), "kmv")
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	l := lab{dir}
	t.Cleanup(func() { os.RemoveAll(dir) })
	tcp := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	must(t, os.WriteFile(l.path("tcp"), []byte(tcp), 0o644))
	must(t, os.WriteFile(l.path("a.php"), []byte("<?php usleep(10000); echo 'ok';"), 0o644))
	for i, name := range []string{"fpm.conf", "nginx.conf"} {
		must(t, os.WriteFile(l.path(name), []byte([]string{l.fpmConf(tcp), l.webConf(tcp)}[i]), 0o644))
		must(t, os.Chtimes(l.path(name), long, long))
	}
	for _, argv := range [][]string{l.fpm(), l.nginx()} {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", argv, err, out)
		}
	}
	t.Cleanup(func() {
		for _, name := range []string{"nginx.pid", "fpm.pid"} {
			if pid, err := l.pid(name); err == nil {
				syscall.Kill(pid, syscall.SIGTERM)
			}
		}
	})
	return l
}

// fpmConf has a pool for each endpoint, the first of which is www.
func (l lab) fpmConf(endpoints ...string) string {
	out := "[global]\npid = " + l.path("fpm.pid") + "\nerror_log = " + l.path("fpm.log") + "\ndaemonize = yes\nprocess_control_timeout = 10s\n"
	for i, e := range endpoints {
		out += fmt.Sprintf("[%s]\nlisten = %s\nlisten.owner = www-data\nlisten.group = www-data\nlisten.mode = 0660\nuser = www-data\ngroup = www-data\npm = static\npm.max_children = 2\n",
			[]string{"www", "kasoku-www"}[i], e)
	}
	return out
}

func (l lab) webConf(endpoint string) string {
	if strings.HasPrefix(endpoint, "/") {
		endpoint = "unix:" + endpoint
	}
	out := "user www-data;\nworker_processes 1;\npid " + l.path("nginx.pid") + ";\nerror_log " + l.path("nginx.log") + ";\nevents { worker_connections 64; }\nhttp {\n  access_log off;\n"
	for i, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		out += fmt.Sprintf("  %s_temp_path %s;\n", kind, l.path(fmt.Sprint("t", i)))
	}
	return out + "  server { listen unix:" + l.path("web.sock") + ";\n    location / { fastcgi_pass " + endpoint + "; fastcgi_param REQUEST_METHOD GET; fastcgi_param SCRIPT_FILENAME " + l.path("a.php") + "; }\n  }\n}\n"
}

// movePlan moves the connection to a socket: both ends alive, then the client,
// then the old end is closed.
func movePlan(l lab) []Change {
	b, err := os.ReadFile(l.path("tcp"))
	if err != nil {
		panic(err)
	}
	tcp, socket := string(b), l.path("fpm.sock")
	fpm := []string{l.fpmConf(tcp), l.fpmConf(tcp, socket), l.fpmConf(socket)}
	plan := []Change{
		edit1(l.path("fpm.conf"), fpm[0], fpm[1], "php", Reload),
		edit1(l.path("nginx.conf"), l.webConf(tcp), l.webConf(socket), "web", Reload),
		edit1(l.path("fpm.conf"), fpm[1], fpm[2], "php", Reload),
	}
	for i := range plan {
		plan[i].Phase = i
	}
	plan[0].Accepts = socket
	return plan
}

// visitors send requests until stop, and count what went wrong.
type visitors struct {
	sent, failed atomic.Int64
	first        atomic.Value // of the errors
	end          chan struct{}
	done         chan struct{}
}

func (l lab) visit() *visitors {
	v := &visitors{end: make(chan struct{}), done: make(chan struct{})}
	const clients = 3
	for range clients {
		go func() {
			defer func() { v.done <- struct{}{} }()
			for {
				select {
				case <-v.end:
					return
				default:
				}
				if err := l.visitOnce(); err != nil {
					v.failed.Add(1)
					v.first.CompareAndSwap(nil, err.Error())
				}
				v.sent.Add(1)
			}
		}()
	}
	return v
}

func (l lab) visitOnce() error {
	c := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", l.path("web.sock")) }}}
	r, err := c.Get("http://lab/")
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	return nil
}

// stop ends them; not one request may have failed.
func (v *visitors) stop(t *testing.T) {
	t.Helper()
	close(v.end)
	for range 3 {
		<-v.done
	}
	if v.failed.Load() > 0 || v.sent.Load() == 0 {
		t.Errorf("%d of %d requests failed, the first: %v", v.failed.Load(), v.sent.Load(), v.first.Load())
	}
	t.Logf("%d requests", v.sent.Load())
}

// TestMoveToSocket moves a live connection there and back without one refused
// request, then ends Kasoku before every step, on paper, and kills it before some,
// also without one.
func TestMoveToSocket(t *testing.T) {
	await.SkipShort(t)
	l := newMove(t)
	o := l.options(l.project(t))
	setups["move"](l, &o)
	var order []string
	o.Trace = func(step string) {
		if strings.Contains(step, "activate.") {
			order = append(order, step[strings.Index(step, ".")+1:])
		}
	}
	seen := func() string { return content(t, l.path("fpm.conf")) + content(t, l.path("nginx.conf")) }
	before := seen()
	v := l.visit()
	x, err := Open(t.Context(), o)
	must(t, err)
	tx, err := x.Apply(t.Context(), Intent{Title: "move", Changes: movePlan(l)})
	must(t, err)
	tcp := content(t, l.path("tcp"))
	if conn, err := net.Dial("tcp", tcp); err == nil {
		conn.Close()
		t.Fatal("the old endpoint is still open after the last phase")
	}
	must(t, x.Revert(t.Context(), tx.ID))
	must(t, x.Close())
	v.stop(t)
	wantEqual(t, "reverted", seen(), before)
	wantEqual(t, "order", strings.Join(order, " "), "activate.php activate.web activate.php undo.activate.php undo.activate.web undo.activate.php")

	for _, job := range []string{"move-apply", "move-revert"} {
		all := onPaperMove(t, job, tcp).everywhere(t)
		v := l.visit()
		l.matrix(job, seen).sample(t, all, 2)
		v.stop(t)
	}
}

// paperMove is nginx in front of PHP-FPM on paper: what each has read of its file,
// and whether one would have refused a request.
type paperMove struct {
	lab
	endpoints []string
	listeners map[string]net.Listener
	client    string
	refused   []string
}

var passes = regexp.MustCompile(`fastcgi_pass (?:unix:)?([^;]*);`)

// onPaperMove is the matrix of a job of moving that connection. A request that
// would be refused at any moment fails the test.
func onPaperMove(t *testing.T, job, tcp string) *matrix {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "kmp")
	must(t, err)
	p := &paperMove{lab: lab{dir}, listeners: map[string]net.Listener{}}
	for name, text := range map[string]string{"tcp": tcp, "fpm.conf": p.fpmConf(tcp), "nginx.conf": p.webConf(tcp)} {
		must(t, os.WriteFile(p.path(name), []byte(text), 0o644))
		must(t, os.Chtimes(p.path(name), long, long))
	}
	must(t, p.reload("php"))
	must(t, p.reload("web"))
	t.Cleanup(func() {
		for _, l := range p.listeners {
			l.Close()
		}
		os.RemoveAll(dir)
		if len(p.refused) > 0 {
			t.Errorf("%s: requests are refused: %s", job, strings.Join(p.refused, "; "))
		}
	})
	m := p.matrix(job, func() string {
		return content(t, p.path("fpm.conf")) + content(t, p.path("nginx.conf")) + fmt.Sprint(p.endpoints, p.client)
	})
	m.options = func(dir string) Options {
		o := p.lab.options(dir)
		o.Control = func(service string) (Controller, error) { return paperMoveControl{p, service}, nil }
		return o
	}
	return m
}

func (p *paperMove) reload(service string) error {
	if service == "web" {
		b, err := os.ReadFile(p.path("nginx.conf"))
		if err != nil {
			return err
		}
		p.client = passes.FindStringSubmatch(string(b))[1]
	} else {
		b, err := os.ReadFile(p.path("fpm.conf"))
		if err != nil {
			return err
		}
		p.endpoints = nil
		for _, m := range listens.FindAllStringSubmatch(string(b), -1) {
			p.endpoints = append(p.endpoints, m[1])
		}
		if err := p.listen(); err != nil {
			return err
		}
	}
	if p.client != "" && !slices.Contains(p.endpoints, p.client) {
		p.refused = append(p.refused, fmt.Sprintf("nginx asks %s, PHP-FPM is at %v", p.client, p.endpoints))
	}
	return nil
}

// listen at the sockets among the endpoints, and at no other.
func (p *paperMove) listen() error {
	for e, l := range p.listeners {
		if !slices.Contains(p.endpoints, e) {
			l.Close()
			delete(p.listeners, e)
		}
	}
	for _, e := range p.endpoints {
		if p.listeners[e] != nil || !strings.HasPrefix(e, "/") {
			continue
		}
		l, err := net.Listen("unix", e)
		if err != nil {
			return err
		}
		p.listeners[e] = l
	}
	return nil
}

type paperMoveControl struct {
	*paperMove
	service string
}

func (c paperMoveControl) Check(context.Context) error       { return nil }
func (c paperMoveControl) Reload(context.Context) error      { return c.reload(c.service) }
func (c paperMoveControl) Restart(context.Context) error     { return errors.New("not asked for") }
func (c paperMoveControl) WaitHealthy(context.Context) error { return nil }

// TestNextPhaseWaits: a client is not led to a socket that nobody listens at,
// although the service answers at all endpoints that it is known by.
func TestNextPhaseWaits(t *testing.T) {
	await.SkipShort(t)
	l := newMove(t)
	o := l.options(l.project(t))
	setups["move"](l, &o)
	o.Stack.Service("php").Health.Timeout = time.Second
	var order []string
	o.Trace = func(step string) {
		if strings.Contains(step, "activate.") {
			order = append(order, step[strings.Index(step, ".")+1:])
		}
	}
	seen := func() string { return content(t, l.path("fpm.conf")) + content(t, l.path("nginx.conf")) }
	before := seen()
	v := l.visit()
	x, err := Open(t.Context(), o)
	must(t, err)
	plan := movePlan(l)
	plan[0].Accepts = l.path("other.sock")
	if _, err = x.Apply(t.Context(), Intent{Title: "move", Changes: plan}); err == nil || !strings.Contains(err.Error(), "php does not listen at "+l.path("other.sock")) {
		t.Errorf("it was applied: %v", err)
	}
	must(t, x.Close())
	v.stop(t)
	wantEqual(t, "put back", seen(), before)
	wantEqual(t, "order", strings.Join(order, " "), "activate.php undo.activate.php")
}

// TestPhaseStays: the old endpoint comes back first, and the new one is not
// closed as long as a client could not be switched back.
func TestPhaseStays(t *testing.T) {
	f := newFixture(t)
	server, client := f.file("server", "old"), f.file("client", "old")
	plan := []Change{edit1(server, "old", "both", "db", Restart), edit1(client, "old", "new", "web", Reload), edit1(server, "both", "new", "db", Restart)}
	for i := range plan {
		plan[i].Phase = i
	}
	tx, err := f.apply(plan...)
	must(t, err)
	wantEqual(t, "apply", f.did(), "restart db, reload web, restart db")
	must(t, os.WriteFile(client, []byte("someone's"), 0o640))
	var conflict *ConflictError
	if err := f.x.Revert(t.Context(), tx.ID); !errors.As(err, &conflict) {
		t.Fatalf("error %v", err)
	}
	wantEqual(t, "server", content(t, server), "both")
	wantEqual(t, "client", content(t, client), "someone's")
	wantEqual(t, "did", f.did(), "restart db, reload web")
	// Put right by hand: then the rest follows.
	must(t, os.WriteFile(client, []byte("new"), 0o640))
	_, err = f.x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "server", content(t, server), "old")
	wantEqual(t, "client", content(t, client), "old")

	plan[0].Phase = 2
	_, err = f.apply(plan...)
	wantText(t, err, "order of their phases")
}

// TestPhaseFails: what fails in the middle is put back in the reverse order,
// and a phase that was never begun is not touched.
func TestPhaseFails(t *testing.T) {
	f := newFixture(t)
	server, client := f.file("server", "old"), f.file("client", "old")
	plan := []Change{edit1(server, "old", "both", "db", Restart), edit1(client, "old", "new", "web", Reload), edit1(server, "both", "new", "db", Restart)}
	for i := range plan {
		plan[i].Phase = i
	}
	f.fail["healthy web"] = errors.New("502")
	before := f.tree()
	_, err := f.apply(plan...)
	wantText(t, err, "phase 1", "502")
	did := f.did()
	if !strings.HasPrefix(did, "restart db, reload web, reload web, restart web") || strings.Contains(did, "restart db, restart db") {
		t.Fatalf("did %s", did)
	}
	delete(f.fail, "healthy web")
	_, err = f.x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "files", f.tree(), before)
	if !strings.HasSuffix(f.did(), "restart db") {
		t.Fatal("the server was not restarted last")
	}
}
