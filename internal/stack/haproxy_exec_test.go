package stack

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// execHost reads no command line of one process for some looks, as while it runs another
// program.
type execHost struct {
	host.Host
	pid, looks int
}

func (h *execHost) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if h.looks > 0 && path == "/proc/"+strconv.Itoa(h.pid)+"/cmdline" {
		h.looks--
		return nil, nil
	}
	return h.Host.ReadFile(ctx, path)
}

// Run gathers no files, so that each is read by itself.
func (h *execHost) Run(context.Context, host.Command) (host.Result, error) {
	return host.Result{}, errors.New("no commands here")
}

// A master that starts itself anew is the main process, not its worker, whose command line
// is the same.
func TestMasterThatStartsAnew(t *testing.T) {
	ctx := t.Context()
	l, port := newLab(t), freePort(t)
	conf := l.write("haproxy.cfg", l.haproxyConf(port, "one"))
	c := l.add(Service{Name: "lb", Kind: App, Config: conf, Listen: []string{"127.0.0.1:" + port},
		Control: Control{Method: MethodProcess, Start: []string{need(t, "haproxy"), "-W", "-f", conf}}})
	must(t, c.Start(ctx))
	defer c.Stop(ctx)
	var family []int
	await.For(t, "its worker", func() bool {
		var err error
		family, err = c.PIDs(ctx)
		must(t, err)
		return len(family) == 2
	})
	h := &execHost{Host: l.h, pid: family[0], looks: 3}
	other, err := NewController(h, l.s, c.svc)
	must(t, err)
	if now, err := other.PIDs(ctx); err != nil || len(now) != 2 || now[0] != family[0] || h.looks > 0 {
		t.Errorf("processes %v, then %v (%v), %d looks left", family, now, err, h.looks)
	}
}
