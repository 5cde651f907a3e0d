package change

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// twoCaches is a service with two implementations, both memcached on one
// socket: "main" with the options of the service, "other" with its own.
func twoCaches(l lab) *stack.Stack {
	control := func(name string) stack.Control {
		return stack.Control{PIDFile: l.path(name + ".pid"), Start: []string{"memcached", "-u", "root", "-t", "1", "-s", l.path("cache.sock"), "-P", l.path(name + ".pid")}}
	}
	return &stack.Stack{Dir: l.dir, Services: []stack.Service{{Name: "cache", Kind: stack.App, Listen: []string{"unix:" + l.path("cache.sock")},
		Control: control("main"), Variants: []stack.Variant{{Name: "other", Control: control("other")}}}}}
}

func init() {
	setups["variant"] = func(l lab, o *Options) {
		s := twoCaches(l)
		o.Stack = s
		o.Control = func(service string) (Controller, error) {
			return stack.NewController(host.NewLocal(), s, s.Service(service))
		}
		o.Variant = func(service, name string) (Starter, error) {
			return stack.NewController(host.NewLocal(), s, s.Service(service).As(name))
		}
	}
	plans["variant"] = func(lab) []Change {
		return []Change{{Kind: KindProcess, Service: "cache", Process: &Process{Name: stack.Main, After: "inactive"}},
			{Kind: KindProcess, Service: "cache", Process: &Process{Name: "other", After: "active"}}}
	}
}

// cacheLab has the service running as main.
func cacheLab(t *testing.T) (l lab, o Options, seen func() string) {
	t.Helper()
	if _, err := exec.LookPath("memcached"); err != nil {
		t.Fatal("memcached is not installed: run `make deps-test`")
	}
	dir, err := os.MkdirTemp(memory(), "kva")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l = lab{dir}
	o = l.options(l.project(t))
	setups["variant"](l, &o)
	starter := func(name string) Starter {
		s, err := o.Variant("cache", name)
		must(t, err)
		return s
	}
	must(t, starter(stack.Main).Start(t.Context()))
	t.Cleanup(func() {
		for _, name := range []string{stack.Main, "other"} {
			if s, err := o.Variant("cache", name); err == nil {
				_ = s.Stop(context.WithoutCancel(t.Context()))
			}
		}
	})
	return l, o, func() string {
		var out []string
		for _, name := range []string{stack.Main, "other"} {
			state, err := starter(name).State(t.Context())
			must(t, err)
			out = append(out, name+" "+string(state))
		}
		return strings.Join(out, ", ")
	}
}

// One implementation takes over from another and gives the address back; what
// somebody else stops or starts is seen.
func TestProcesses(t *testing.T) {
	await.SkipShort(t)
	l, o, seen := cacheLab(t)
	x, err := Open(t.Context(), o)
	must(t, err)
	defer func() { x.Close() }()
	tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: plans["variant"](l)})
	must(t, err)
	wantEqual(t, "applied", seen(), "main stopped, other running")
	must(t, x.Keep(t.Context(), tx.ID))
	// A restart of the service is one of what runs, also by the next Kasoku.
	must(t, x.Close())
	x, err = Open(t.Context(), o)
	must(t, err)
	restart, err := x.Apply(t.Context(), Intent{Title: "r", Changes: []Change{{Kind: KindRestart, Service: "cache", Activate: Restart}}})
	must(t, err)
	must(t, x.Keep(t.Context(), restart.ID))
	wantEqual(t, "restarted", seen(), "main stopped, other running")
	// While it is down, what starts the service starts that one.
	other, err := o.Variant("cache", "other")
	must(t, err)
	must(t, other.Stop(t.Context()))
	drift, err := x.Verify(t.Context())
	if err != nil || len(drift) != 1 || !strings.Contains(drift[0].String(), "implementation other of cache") {
		t.Errorf("drift %v, %v", drift, err)
	}
	restart, err = x.Apply(t.Context(), Intent{Title: "r", Changes: []Change{{Kind: KindRestart, Service: "cache", Activate: Restart}}})
	must(t, err)
	must(t, x.Keep(t.Context(), restart.ID))
	wantEqual(t, "started again", seen(), "main stopped, other running")
	must(t, x.Undo(t.Context(), tx.ID, false))
	wantEqual(t, "undone", seen(), "main running, other stopped")

	for _, c := range []struct {
		p    Process
		says string
	}{
		{Process{Name: stack.Main, After: "active"}, "active already"},
		{Process{Name: "other", Before: "active", After: "inactive"}, "the plan saw active"},
		{Process{Name: "other", After: "gone"}, "active or inactive"},
	} {
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{{Kind: KindProcess, Service: "cache", Process: &c.p}}})
		wantText(t, err, c.says)
	}
}

// TestProcessesKilledAtEveryStep: memcached takes a second to end, so that most of
// the steps are those of a service on paper.
func TestProcessesKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds; TestProcesses is the short one")
	}
	l, _, seen := cacheLab(t)
	for _, job := range []string{"variant-apply", "variant-revert"} {
		p := &paperCache{runs: stack.Main}
		m := l.matrix(job, p.seen)
		m.options = func(dir string) Options {
			o := l.optionsOf(job, dir)
			o.Control = func(string) (Controller, error) { return &paperVariant{p, stack.Main}, nil }
			o.Variant = func(_, name string) (Starter, error) { return &paperVariant{p, name}, nil }
			return o
		}
		all := m.everywhere(t)
		real := l.matrix(job, seen)
		real.sample(t, all, 1)
	}
}

// paperCache is the service on paper: one implementation at a time has its address.
type paperCache struct{ runs string }

func (p *paperCache) seen() string {
	out := []string{}
	for _, name := range []string{stack.Main, "other"} {
		state := stack.Stopped
		if p.runs == name {
			state = stack.Running
		}
		out = append(out, name+" "+string(state))
	}
	return strings.Join(out, ", ")
}

// paperVariant is one implementation of it.
type paperVariant struct {
	*paperCache
	name string
}

func (v *paperVariant) Start(context.Context) error {
	if v.runs != "" && v.runs != v.name {
		return errors.New("bind: address already in use")
	}
	v.runs = v.name
	return nil
}

func (v *paperVariant) Stop(context.Context) error {
	if v.runs == v.name {
		v.runs = ""
	}
	return nil
}

func (v *paperVariant) State(context.Context) (stack.State, error) {
	if v.runs == v.name {
		return stack.Running, nil
	}
	return stack.Stopped, nil
}

// Nothing is reloaded or restarted: one is stopped, the other started.
func (v *paperVariant) Check(context.Context) error   { return nil }
func (v *paperVariant) Reload(context.Context) error  { return errors.New("not asked for") }
func (v *paperVariant) Restart(context.Context) error { return errors.New("not asked for") }

func (v *paperVariant) WaitHealthy(context.Context) error {
	if v.runs == "" {
		return errors.New("connection refused")
	}
	return nil
}

// Lacking: who may not restart a service may not have another implementation
// take over.
func TestProcessNeedsRestart(t *testing.T) {
	r := &stack.Rights{All: []stack.Right{{Need: stack.NeedRestart, Host: "local", Service: "cache", Object: "*", Why: "belongs to another user"}}}
	err := Lacking(twoCaches(lab{"/x"}), r, plans["variant"](lab{}))
	wantText(t, err, "stop implementation main of cache", "belongs to another user")
}
