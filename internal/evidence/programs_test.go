package evidence

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// What a service starts is seen while it is at work, its workers and what has ended
// before are not.
func TestProgramsOfAService(t *testing.T) {
	ctx := t.Context()
	shell := exec.CommandContext(ctx, "sh", "-c", "read begin; while sleep 0.05; do :; done")
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shell.Process.Kill(); shell.Wait() })
	st := &stack.Stack{Services: []stack.Service{{Name: "api", Kind: stack.App}}}
	found, _ := findPrograms(ctx, setting{st: st, hosts: map[string]host.Host{stack.LocalHost: host.NewLocal()}, opts: CollectorOptions{Diagnostic: true},
		roots: map[string]map[string][]int{stack.LocalHost: {"api": {shell.Process.Pid}}}})
	if len(found) != 1 {
		t.Fatalf("%d sources", len(found))
	}
	p := found[0].(*programSource)
	p.start(ctx)
	defer p.close()
	in.Write([]byte("\n"))
	await.For(t, "two programs that it started", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.seen["sleep"]) >= 2
	})
	p.end(ctx)
	ev := &Evidence{Services: map[string]ServiceUse{"api": {}}}
	p.tell(context.Background(), ev)
	if got := ev.Services["api"].Programs; len(got) != 1 || got[0].Name != "sleep" || got[0].Processes < 2 || got[0].Seen < got[0].Processes {
		t.Errorf("%+v", got)
	}
	if left, _ := findPrograms(ctx, setting{st: st, hosts: map[string]host.Host{stack.LocalHost: host.NewLocal()}, roots: map[string]map[string][]int{stack.LocalHost: {"api": {os.Getpid()}}}}); len(left) != 0 {
		t.Error("a run that is no diagnosis looks, too")
	}
}

// The CPU time of programs is what their parents waited for; a master's workers are
// none.
func TestProgramTicks(t *testing.T) {
	begin := processTable{
		10: {PID: 10, Parent: 1, Name: "api", Reaped: 100, Started: 5},
		20: {PID: 20, Parent: 1, Name: "php-fpm", Reaped: 100, Started: 5},
		21: {PID: 21, Parent: 20, Name: "php-fpm", Reaped: 0, Started: 6},
	}
	end := processTable{
		10: {PID: 10, Parent: 1, Name: "api", Reaped: 350, Started: 5},
		20: {PID: 20, Parent: 1, Name: "php-fpm", Reaped: 900, Started: 5},
		21: {PID: 21, Parent: 20, Name: "php-fpm", Reaped: 40, Started: 6},
		22: {PID: 22, Parent: 20, Name: "php-fpm", Reaped: 70, Started: 9},
	}
	own := map[int]string{10: "api", 20: "php", 21: "php", 22: "php"}
	if got := programTicks(begin, end, own, "api"); got != 250 {
		t.Errorf("of a program: %d ticks, want 250", got)
	}
	if got := programTicks(begin, end, own, "php"); got != 40 {
		t.Errorf("of workers: %d ticks, want 40: neither what ended with the master nor what was before", got)
	}
}
