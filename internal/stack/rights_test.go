package stack

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

func TestParseGrants(t *testing.T) {
	t.Parallel()
	// As MariaDB 10.11 and MySQL 8.0 print them.
	g := parseGrants([]string{
		"GRANT PROCESS, SYSTEM_VARIABLES_ADMIN ON *.* TO `k`@`%` IDENTIFIED BY PASSWORD '*81F5'",
		"GRANT SELECT, INDEX ON `shop\\_eu`.* TO `k`@`%`",
		"GRANT ALL PRIVILEGES ON `odd``name`.* TO `k`@`%` WITH GRANT OPTION",
		"GRANT SELECT ON `one`.`table` TO `k`@`%`",
		"GRANT INDEX ON `test%`.* TO `k`@`%`",
		"GRANT `role` TO `k`@`%`",
	})
	for _, row := range []struct {
		schema, privilege string
		want              bool
	}{
		{"", "PROCESS", true},
		{"", "SUPER", false},
		{"shop_eu", "INDEX", true},
		{"shop", "INDEX", false},
		{"odd`name", "DROP", true},
		{"one", "SELECT", false}, // on one table only
		{"testing", "INDEX", true},
		{"testing", "SELECT", false},
	} {
		if got := g.has(row.schema, row.privilege); got != row.want {
			t.Errorf("%s on %q: %v", row.privilege, row.schema, got)
		}
	}
}

func TestParseFree(t *testing.T) {
	t.Parallel()
	got, err := parseFree("Filesystem     1024-blocks      Used Available Capacity Mounted on\n/dev/mapper/a b    102400     51200     51200      50% /srv/x\n")
	if err != nil || got != 51200<<10 {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := parseFree("df: /x: No such file or directory\n"); err == nil {
		t.Error("an error of df was taken as a number")
	}
}

// Rights as root on real servers: all there, and nothing was changed.
func TestCheckRights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	web := l.nginx(freePort(t), "return 200;")
	must(t, web.Start(ctx))
	r, err := CheckRights(ctx, map[string]host.Host{LocalHost: l.h}, l.s)
	must(t, err)
	for _, x := range r.All {
		if !x.Have && x.Object != "perf" {
			t.Errorf("lacking: %+v", x)
		}
	}
	if !r.Any() || r.Refuses(NeedWrite, "web", l.path("nginx.conf")) != "" {
		t.Error("nothing may be tuned by root")
	}

	// What is not there is told apart from what is not known.
	must(t, web.Stop(ctx))
	l.write("nginx.conf", "nonsense on;\n")
	r, err = CheckRights(ctx, map[string]host.Host{LocalHost: l.h}, l.s)
	must(t, err)
	if why := r.Refuses(NeedReload, "web", ""); why != "it does not run" {
		t.Errorf("reload of a stopped service: %q", why)
	}
	if why := r.Refuses(NeedValidate, "web", ""); !strings.Contains(why, "nonsense") {
		t.Errorf("a broken configuration: %q", why)
	}
	if why := r.Refuses(NeedWrite, "web", "/etc/unheard-of"); why != "" {
		t.Errorf("a file that nobody asked about: %q", why)
	}
	if r.Any() {
		t.Error("something may be tuned though nothing runs")
	}
}

// What is asked about is what is done: the orders in sudoers' line are those
// that the controller gives.
func TestUnitOrdersAreThoseGiven(t *testing.T) {
	await.SkipShort(t)
	l := newSystemd(t)
	c := l.cacheUnit(freePort(t), "StartLimitBurst=1\n")
	ctx := context.Background()
	must(t, c.Start(ctx))
	l.write("units/cache.service.d/a.conf", "# new\n")
	must(t, c.Restart(ctx))
	must(t, c.Stop(ctx))
	known := map[string]bool{}
	for _, orders := range unitOrders("cache.service") {
		for _, argv := range orders {
			known[strings.TrimSpace(strings.Join(argv[2:], " "))] = true
		}
	}
	calls := l.calls()
	if len(calls) < 5 {
		t.Fatalf("systemctl was asked for %q only", calls)
	}
	for _, call := range calls {
		if !known[call] {
			t.Errorf("%q is given, but not asked about", call)
		}
	}
}

// Whoever is neither root nor the owner of a checkout makes no commits in it,
// and changes nothing of the machine.
func TestRightsOfAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	svc := &Service{Name: "shop", Kind: App, Root: dir}
	asked := func(me account) *Rights {
		p := &probe{r: &Rights{}, s: &Stack{}, h: host.NewLocal(), me: me}
		p.checkout(ctx, svc)
		p.checkout(ctx, &Service{Name: "plain", Kind: App, Root: t.TempDir()}) // no checkout, so nobody asks
		p.system(ctx)
		return p.r
	}
	if r := asked(account{uid: os.Getuid(), name: "owner"}); r.RefusesOn(NeedCheckout, LocalHost, dir) != "" {
		t.Errorf("the owner: %+v", r.All)
	} else if r.Any() {
		t.Error("nobody permits that the source is changed")
	} else if r.source = true; !r.Any() {
		t.Error("the source may be changed, and nothing else")
	}
	if r := asked(account{uid: 0, name: "root"}); len(r.All) != 4 || len(r.Lacking()) > 0 {
		t.Errorf("root: %+v", r.All)
	}
	r := asked(account{uid: 64999, name: "somebody"})
	for need, object := range map[Need]string{NeedKernel: "*", NeedPackages: "*", NeedCheckout: dir} {
		if why := r.RefusesOn(need, LocalHost, object); !strings.Contains(why, "somebody") || !strings.Contains(why, "to allow it: run kasoku as") {
			t.Errorf("%s: %q", need, why)
		}
	}
}
