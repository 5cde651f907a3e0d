package stack

import (
	"context"
	"slices"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// A real server that holds a connection to MariaDB's socket is found, one that holds
// none is not, nor one that nothing says how to start.
func TestHoldersOf(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newLab(t)
	dbPort, one, two := freePort(t), freePort(t), freePort(t)
	l.write("server.pl", server)
	db := l.mariadb(dbPort)
	must(t, db.Start(ctx))
	start := func(name, port, socket string) Service {
		svc := Service{Name: name, Kind: App, TalksTo: []string{"db"}, Listen: []string{"127.0.0.1:" + port}, Control: Control{
			Start: []string{need(t, "perl"), l.path("server.pl"), port, name, socket}}}
		must(t, l.add(svc).Start(ctx))
		return svc
	}
	st := &Stack{Dir: l.dir, Services: []Service{{Name: "db", Kind: MariaDB, Listen: []string{"127.0.0.1:" + dbPort, "unix:" + l.path("db/my.sock")}},
		start("holds", one, l.path("db/my.sock")), start("none", two, "")}}
	hosts := map[string]host.Host{LocalHost: l.h}
	if got := HoldersOf(ctx, hosts, st, "db"); !slices.Equal(got, []string{"holds"}) {
		t.Errorf("%v", got)
	}
	st.Services[1].Control.Start = nil
	if got := HoldersOf(ctx, hosts, st, "db"); len(got) > 0 {
		t.Errorf("nothing says how it starts: %v", got)
	}
}
