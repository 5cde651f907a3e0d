package stack

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// reading counts the tables of sockets that are read.
type reading struct {
	host.Host
	tables atomic.Int64
}

func (r *reading) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if strings.Contains(path, "/net/tcp") {
		r.tables.Add(1)
	}
	return r.Host.ReadFile(ctx, path)
}

// While a server starts and has no socket, the host's sockets are not read; once it
// listens, the look that finds it healthy reads them twice: for its main process, and
// for all of its processes.
func TestTablesOfSocketsAreReadForThoseWhoHaveSome(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	h := &reading{Host: l.h}
	l.h = h
	port := freePort(t)
	perl := l.path("looked-at") // others run theirs
	if out, err := exec.Command("cp", need(t, "perl"), perl).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l.write("api/server.pl", `until (-e "go") { select undef, undef, undef, 0.02 }
use IO::Socket::INET; my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1:`+port+`') or die $!; while (my $c = $s->accept) { close $c }
`)
	svc := Service{Name: "api", Kind: App, Root: l.path("api"), Listen: []string{"127.0.0.1:" + port}, Binary: perl,
		Control: Control{Start: []string{perl, "server.pl"}}}
	c, other := l.add(svc), l.add(svc)
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan error, 1)
	go func() { started <- c.Start(ctx) }()
	await.For(t, "the program that starts", func() bool {
		all, err := readProcesses(ctx, host.NewLocal())
		must(t, err)
		for _, p := range all.byPID {
			if p.title() == perl+" server.pl" {
				return true
			}
		}
		return false
	})
	before := h.tables.Load()
	if _, err := other.PIDs(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("one that does not listen yet: %v", err)
	}
	if n := h.tables.Load(); before != 0 || n != 0 {
		t.Errorf("%d and %d tables of sockets were read while it had none", before, n)
	}
	l.write("api/go", "")
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	cancel()
	before = h.tables.Load()
	must(t, other.WaitHealthy(t.Context()))
	if n := h.tables.Load() - before; n != 4 { // IPv4 and IPv6, twice
		t.Errorf("%d tables of sockets were read for one look at a healthy service, want 4", n)
	}
}
