package tune

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// watched is this machine under another name; it notes what is written and run
// there.
type watched struct {
	*host.Local
	name string
	mu   sync.Mutex
	did  []string
}

func (w *watched) Name() string { return w.name }

func (w *watched) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did = append(w.did, what)
}

func (w *watched) ReplaceFile(ctx context.Context, path string, data []byte, r host.Replace) error {
	w.note("write " + path)
	return w.Local.ReplaceFile(ctx, path, data, r)
}

func (w *watched) Run(ctx context.Context, c host.Command) (host.Result, error) {
	w.note("run " + strings.Join(c.Argv, " "))
	return w.Local.Run(ctx, c)
}

// some of what was done, as text for errors.
func (w *watched) some(what string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, d := range w.did {
		if strings.Contains(d, what) {
			out = append(out, d)
		}
	}
	return out
}

// twoHosts is the lab's running case seen as a web host and a database host,
// with a journal and a store of its own.
func twoHosts(t *testing.T) (l *lab, web, db *watched) {
	one := useLab(t)
	st := *one.stack
	st.Services = slices.Clone(st.Services)
	st.Hosts = map[string]stack.HostConfig{"web1": {SSH: "web1"}, "db1": {SSH: "db1"}}
	for i := range st.Services {
		st.Services[i].Host = "web1"
		if st.Services[i].IsDatabase() {
			st.Services[i].Host = "db1"
		}
	}
	st.Tune.MaxForeignCPU = 1 // each host is this machine, where the other works too
	web, db = &watched{Local: host.NewLocal(), name: "web1"}, &watched{Local: host.NewLocal(), name: "db1"}
	l = &lab{dir: t.TempDir(), stack: &st, hosts: map[string]host.Host{stack.LocalHost: host.NewLocal(), "web1": web, "db1": db}}
	state, err := store.Open(filepath.Join(l.dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	b := *one.bench
	b.Stack, b.Hosts, b.Store, b.scored.reference, b.scored.sides = &st, l.hosts, state, nil, nil
	l.bench = &b
	if l.exec, err = OpenExecutor(t.Context(), filepath.Join(l.dir, ".kasoku"), &st, l.hosts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.exec.Close() })
	return l, web, db
}

// A stack with two named hosts passes through observing, diagnosing, planning,
// applying and putting back, and each service is touched on its own host.
func TestTwoHosts(t *testing.T) {
	useLab(t).calm(t) // a service that answers at once has enough answers in a short run beside other work, too
	l, web, db := twoHosts(t)
	before := l.hash(t)
	res := l.plans(t, relaxed())
	byHost := map[string][]remedy.Plan{}
	for _, p := range res.Plans {
		for _, c := range p.Changes {
			want := "web1"
			if svc := l.stack.Service(c.Service); svc != nil {
				want = svc.HostName()
			} else if setting, of, _ := strings.Cut(p.ID, ":"); strings.HasPrefix(setting, "kernel.") {
				// Both hosts are this machine, so its kernel's counters, which other tests
				// raise, too, may ask either for a setting.
				want, _, _ = strings.Cut(of, ":")
			}
			if c.Host != want {
				t.Errorf("%s: a change of %s %s%s is on %q, want %s", p.ID, c.Kind, c.Path, c.Variable, c.Host, want)
			}
		}
		if len(p.Changes) > 0 {
			byHost[p.Changes[0].Host] = append(byHost[p.Changes[0].Host], p)
		}
	}
	t.Logf("plans: %d on web1, %d on db1", len(byHost["web1"]), len(byHost["db1"]))
	for _, c := range []struct {
		at, other *watched
		file      string
	}{{web, db, "nginx"}, {db, web, "my.cnf"}} {
		i := slices.IndexFunc(byHost[c.at.name], func(p remedy.Plan) bool {
			return slices.ContainsFunc(p.Changes, func(x change.Change) bool { return x.Kind == change.KindFile && strings.Contains(x.Path, c.file) })
		})
		if i < 0 {
			t.Errorf("no plan changes %s on %s", c.file, c.at.name)
			continue
		}
		p := byHost[c.at.name][i]
		tx, err := l.exec.Apply(t.Context(), change.Intent{Title: p.Title, Changes: p.Changes})
		if err != nil {
			t.Fatalf("%s: %v", p.ID, err)
		}
		if len(c.at.some("write ")) == 0 || len(c.other.some(c.file)) > len(c.other.some("find ")) {
			t.Errorf("%s: on %s %v, on %s %v", p.ID, c.at.name, c.at.some("write "), c.other.name, c.other.some(c.file))
		}
		if drift, err := l.exec.Verify(t.Context()); err != nil || len(drift) > 0 {
			t.Errorf("%s in place: %v %v", p.ID, drift, err)
		}
		if err := l.exec.Revert(t.Context(), tx.ID); err != nil {
			t.Fatalf("put back %s: %v", p.ID, err)
		}
	}
	for _, w := range db.some("write ") {
		if strings.Contains(w, "nginx") || strings.Contains(w, "php") {
			t.Errorf("on db1: %s", w)
		}
	}
	for _, w := range web.some("write ") {
		if strings.Contains(w, "my.cnf") {
			t.Errorf("on web1: %s", w)
		}
	}
	if after := l.hash(t); after != before {
		t.Error("what was put back is not what was found")
	}
	var run *store.Run
	var err error
	for ; l.bench.Window < time.Minute; l.bench.Window *= 3 { // until there is enough in it: how much that is in a second is the machine's to say
		if run, err = l.bench.Run(t.Context(), RunOptions{Kind: store.Scored}); err != nil || run.Unfit == "" {
			break
		}
	}
	if err != nil || run.Unfit != "" || !slices.Equal(run.Evidence.HostNames(), []string{"web1", "db1", "local"}) {
		t.Errorf("a scored run: %v, %+v", err, run)
	}
}

// A service whose host is not connected is named.
func TestHostNotConnected(t *testing.T) {
	st := &stack.Stack{Path: "kasoku.yaml", Services: []stack.Service{{Name: "db", Kind: stack.MariaDB, Host: "db1"}}}
	x, err := OpenExecutor(t.Context(), t.TempDir(), st, map[string]host.Host{stack.LocalHost: host.NewLocal()})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	_, err = x.Apply(t.Context(), change.Intent{Title: "t", Changes: []change.Change{{Kind: change.KindRestart, Service: "db", Activate: change.Restart}}})
	if err == nil || !strings.Contains(err.Error(), "host db1 is not connected") {
		t.Errorf("%v", err)
	}
}

// Others on any host of the stack make a run no evidence; the host is named.
func TestUnfitOnAnyHost(t *testing.T) {
	ev := evidenceOfTwo()
	if why := unfit(ev, 0.1, 0.1); why != "" {
		t.Errorf("a quiet run: %s", why)
	}
	ev.Hosts["db1"].ForeignCPU = 5
	if why := unfit(ev, 0.1, 0.1); !strings.Contains(why, "25 % of the CPU of db1") {
		t.Errorf("others on db1: %q", why)
	}
	ev = evidenceOfTwo()
	ev.Hosts["db1"].MemoryTotal, ev.Hosts["db1"].MemoryAvailable = 4<<30, 100<<20
	if got := scarcest(memoryOf(ev)); got != (experiment.Memory{Available: 100 << 20, Total: 4 << 30}) {
		t.Errorf("the scarcest host has %+v", got)
	}
	if got := serviceCPUs(ev); got != 6 {
		t.Errorf("%d CPUs serve, want 4 and 2", got)
	}
}

func evidenceOfTwo() *evidence.Evidence {
	ev := &evidence.Evidence{System: evidence.System{Host: "web1", CPUs: 4, ServicesCPU: 10, MemoryTotal: 8 << 30, MemoryAvailable: 4 << 30},
		Hosts: map[string]*evidence.System{"db1": {Host: "db1", CPUs: 2, ServicesCPU: 10, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30},
			"local": {Host: "local", CPUs: 8, GeneratorCPU: 20, MemoryTotal: 4 << 30, MemoryAvailable: 10 << 20}}}
	ev.Load = &load.Result{Window: 10 * time.Second}
	return ev
}

func TestPlaceOfAProposal(t *testing.T) {
	st := &stack.Stack{Services: []stack.Service{{Name: "web", Kind: stack.Nginx, Host: "web1"}, {Name: "app", Kind: stack.App, Host: "web1", Root: "/srv/shop"}, {Name: "db", Kind: stack.MariaDB, Host: "db1"}}}
	tu := &Tuner{Stack: st, Bench: &Bench{Stack: st, Hosts: map[string]host.Host{"local": host.NewLocal(), "web1": host.NewLocal(), "db1": host.NewLocal()}}}
	for _, c := range []struct{ host, dir, wantHost, wantDir, fails string }{
		{"", "/srv/shop/lib/", "web1", "/srv/shop/lib", ""},
		{"db1", "/etc/mysql", "db1", "/etc/mysql", ""},
		{"", "/etc/mysql", "", "", "--host"},
		{"db1", ".", "", "", "absolute"},
		{"db7", "/", "", "", `"db7"`},
	} {
		h, dir, err := tu.place(Proposal{Host: c.host, Dir: c.dir})
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil || h != c.wantHost || dir != c.wantDir {
			t.Errorf("%+v: %s %s %v", c, h, dir, err)
		}
	}
}
