package apps_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

func snapshot(t *testing.T, b *bed.Bed) *evidence.Snapshot {
	t.Helper()
	snap, err := evidence.Take(t.Context(), b.Stack, b.Hosts, evidence.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// profiled has diagnostic runs take a profile. Two seconds bring enough samples
// where nothing else works; see bed.Show for where something does.
func profiled(b *bed.Bed) {
	b.Bench.Instruments.Plain, b.Bench.Window, b.Bench.Instruments.Walk = false, 2*time.Second, 100*time.Millisecond
	b.Window = 700 * time.Millisecond
}

// goBuild builds a program of testdata.
func goBuild(t *testing.T, name, out string) {
	t.Helper()
	cmd := exec.Command(need(t, "go"), "build", "-o", out, "./testdata/"+name)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, text)
	}
}

// perRequest is the CPU time of the app and its database for a right answer.
func perRequest(run *store.Run) time.Duration {
	ev := run.Evidence
	return time.Duration((ev.Services["app"].CPU + ev.Services["db"].CPU) / float64(ev.Load.Succeeded) * float64(time.Second)).Round(time.Microsecond)
}

// database starts a private MariaDB with one table.
func database(t *testing.T, dir string) {
	t.Helper()
	owner := ""
	if os.Getuid() == 0 {
		owner = "mysql"
		bed.Output(t, "chown", owner, dir)
	}
	bed.InstallMariaDB(t, dir+"/data", owner, "8M")
	bed.Write(t, dir, "my.cnf", "[mysqld]\ndatadir = %DIR%/data\ntmpdir = %DIR%/data\nsocket = %DIR%/db.sock\npid-file = %DIR%/db.pid\nskip-networking\ninnodb_log_file_size = 8M\ninnodb_flush_log_at_trx_commit = 2\n")
	argv := []string{need(t, "mariadbd"), "--defaults-file=" + dir + "/my.cnf"}
	if os.Getuid() == 0 {
		argv = append(argv, "--user=mysql")
	}
	bed.Start(t, dir, "mariadbd", argv...)
	bed.Await(t, dir+"/db.sock")
	bed.Output(t, need(t, "mariadb"), "--no-defaults", "-u", "root", "-S", dir+"/db.sock", "-e",
		"CREATE DATABASE shop; CREATE TABLE shop.items (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB; INSERT INTO shop.items VALUES (7, 'a lamp'); CREATE USER shop@localhost IDENTIFIED BY 'secret'; GRANT ALL ON shop.* TO shop@localhost")
}

// goShop is the Go service with its database, as found: no limit for the
// collector, statements prepared at the server each time.
func goShop(t *testing.T) (*bed.Bed, int) {
	t.Helper()
	need(t, "mariadbd")
	dir, port := bed.Folder(t), bed.FreePort(t)
	goBuild(t, "shop", dir+"/shop")
	database(t, dir)
	write(t, dir, "app.env", "# what the shop gets\nDSN='shop:secret@unix(%DIR%/db.sock)/shop?parseTime=true'\n", port)
	write(t, dir, "kasoku.yaml", `version: 1
services:
  - name: app
    kind: app
    binary: %DIR%/shop
    root: %DIR%
    settings: [%DIR%/app.env]
    listen: ["127.0.0.1:%PORT%"]
    talks_to: [db]
    pprof: http://127.0.0.1:%PORT%/debug/pprof/
    control: {start: [%DIR%/shop, "127.0.0.1:%PORT%"], env_file: %DIR%/app.env}
  - name: db
    kind: mariadb
    config: %DIR%/my.cnf
    listen: ["unix:%DIR%/db.sock"]
    login: {user: root, socket: %DIR%/db.sock}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:%PORT%"}
regulation: {memory_headroom_percent: 5}
`, port)
	calm(t, dir, "GET /item", "a lamp")
	run(t, dir, "shop", port, "DSN=shop:secret@unix("+dir+"/db.sock)/shop?parseTime=true", dir+"/shop", fmt.Sprintf("127.0.0.1:%d", port))
	b := bed.Open(t, dir)
	profiled(b)
	return b, port
}

// The collector runs seldom once it has a limit, and statements go in one
// round trip once the driver fills the values in; its threads follow a quota.
func TestGo(t *testing.T) {
	b, port := goShop(t)
	t.Run("go.maxprocs", func(t *testing.T) { maxProcs(t, b, port) })
	was := perRequest(b.Answers(t, "as found"))
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		run := b.Answers(t, p.Remedy)
		t.Logf("CPU per request: %s, as found %s", perRequest(run), was)
		switch p.Remedy {
		case "go.gc":
			env := snapshot(t, b).Apps["app"].Env
			if env["GOGC"] != "off" || !strings.HasSuffix(env["GOMEMLIMIT"], "MiB") {
				t.Errorf("the process runs with %v", env)
			}
		case "go.interpolate":
			if n := run.Evidence.Counters["db"].Delta["Com_stmt_prepare"]; n > 10 {
				t.Errorf("%.0f statements are prepared still", n)
			}
		}
	}, "go.gc", "go.interpolate")
}

// maxProcs: a quota cannot be set here, so the evidence of one is; what is
// planned from it is applied to the real program.
func maxProcs(t *testing.T, b *bed.Bed, port int) {
	st := *b.Stack
	st.Regulation = bed.Relaxed()
	run := b.Answers(t, "as found")
	use := run.Evidence.Services["app"]
	use.Cgroup = &evidence.CgroupUse{CPUs: 2.5, Throttled: time.Second}
	run.Evidence.Services["app"] = use
	planned := func() remedy.Result {
		snap := snapshot(t, b)
		snap.CPUs = 8 // of a larger machine
		d, err := diagnose.Diagnose(diagnose.Input{Stack: &st, Evidence: run.Evidence, Snapshot: snap})
		if err != nil {
			t.Fatal(err)
		}
		return remedy.PlanAll(remedy.Input{Stack: &st, Evidence: run.Evidence, Snapshot: snap, Diagnosis: d})
	}
	p := bed.Want(t, planned(), "go.maxprocs")
	before := b.Hash(t)
	tx := b.Apply(t, p)
	b.Answers(t, "three threads")
	if n := get(t, port, "/procs"); n != "3" {
		t.Errorf("Go runs on %s threads, want 3", n)
	}
	for _, again := range planned().Plans {
		if again.ID == p.ID {
			t.Errorf("planned again: %s", again.Why)
		}
	}
	b.Revert(t, tx)
	if b.Hash(t) != before {
		t.Error("the target is not as before")
	}
}

// smallBuild is a Go program that kasoku.yaml says how to build, built with
// flags; product tells its bytes, mode and time.
func smallBuild(t *testing.T, flags ...string) (b *bed.Bed, product func() string) {
	t.Helper()
	need(t, "go")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "small/main.go", "src/main.go")
	copied(t, dir, "small/cpu.pb.gz", "cpu.pb.gz")
	write(t, dir, "src/go.mod", "module small\n\ngo 1.22\n", port)
	command := append(append([]string{"go", "build"}, flags...), "-o", "small", ".")
	build := exec.Command(command[0], command[1:]...)
	build.Dir = dir + "/src"
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	write(t, dir, "app.env", "", port)
	write(t, dir, "kasoku.yaml", `version: 1
services:
  - name: app
    kind: app
    binary: %DIR%/src/small
    root: %DIR%
    listen: ["127.0.0.1:%PORT%"]
    pprof: http://127.0.0.1:%PORT%/debug/pprof/
    control: {start: [%DIR%/src/small, "127.0.0.1:%PORT%", %DIR%/cpu.pb.gz], env_file: %DIR%/app.env}
    build: {dir: %DIR%/src, command: ["`+strings.Join(command, `", "`)+`"], products: [small]}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:%PORT%"}
`, port)
	scenario(t, dir, "GET /", "")
	run(t, dir, "small", port, dir+"/src/small", fmt.Sprintf("127.0.0.1:%d", port), dir+"/cpu.pb.gz")
	b = bed.Open(t, dir)
	b.Bench.Instruments.Plain, b.Bench.Instruments.Unwalked = false, true // its profile is the same however long it works
	return b, func() string {
		info, err := os.Stat(dir + "/src/small")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(bed.Output(t, "sha256sum", dir+"/src/small"), info.Mode(), info.ModTime())
	}
}

// asBuilt expects the product to be as before, and nothing of Kasoku's in its
// folder.
func asBuilt(t *testing.T, b *bed.Bed, was, now string) {
	t.Helper()
	if now != was {
		t.Errorf("the program was\n%s\nand is\n%s", was, now)
	}
	left, err := filepath.Glob(b.Dir + "/src/*")
	hidden, err2 := filepath.Glob(b.Dir + "/src/.kasoku*")
	if err != nil || err2 != nil || len(left) != 3 || len(hidden) != 0 {
		t.Errorf("left in the folder: %v %v", left, hidden)
	}
}

// The program is built by the profile of the run, and undo brings the very
// file back.
func TestGoProfileGuided(t *testing.T) {
	b, product := smallBuild(t)
	was, cpu := product(), perRequest(b.Answers(t, "as found"))
	b.ShowFrom(t, atFullCPU(t, b), func(t *testing.T, p remedy.Plan) {
		t.Logf("CPU per request: %s, as found %s", perRequest(b.Answers(t, p.Remedy)), cpu)
		if g := snapshot(t, b).Apps["app"].Go; g == nil || !g.Profiled() {
			t.Errorf("the program that runs was not built by a profile: %+v", g)
		}
	}, "go.pgo")
	asBuilt(t, b, was, product())
}

// atFullCPU are the plans of a look in which all CPUs were busy. Its users ask as fast as they
// are answered, but how much of the CPUs they get is for a quota, a hypervisor and whoever else
// works here to say: what lacks was idle, and is taken for the program's.
func atFullCPU(t *testing.T, b *bed.Bed) remedy.Result {
	t.Helper()
	in := b.Look(t, bed.Relaxed())
	sys := &in.Evidence.System
	if lacks := sys.Idle + sys.IOWait + sys.Steal; lacks > 0 {
		app := in.Evidence.Services["app"]
		sys.User, sys.Idle, sys.IOWait, sys.Steal, sys.ServicesCPU, app.CPU = sys.User+lacks, 0, 0, 0, sys.ServicesCPU+lacks, app.CPU+lacks
		in.Evidence.Services["app"] = app
	}
	var err error
	if in.Diagnosis, err = diagnose.Diagnose(diagnose.Input{Stack: in.Stack, Evidence: in.Evidence, Snapshot: in.Snapshot}); err != nil {
		t.Fatal(err)
	}
	return remedy.PlanAll(in)
}

// A program that was built for a debugger is built as programs are, by the
// command of kasoku.yaml without the flags. No file of its configuration
// changes, so the program itself is compared. The flags are for its own package:
// with "all=" Go's library would be compiled anew.
func TestGoRebuilt(t *testing.T) {
	b, product := smallBuild(t, "-gcflags=-N -l")
	was, before, cpu := product(), b.Hash(t), perRequest(b.Answers(t, "as found"))
	p := bed.Want(t, b.Plans(t), "go.rebuild")
	tx := b.Apply(t, p)
	t.Logf("CPU per request: %s, as found %s", perRequest(b.Answers(t, p.Remedy)), cpu)
	if g := snapshot(t, b).Apps["app"].Go; g == nil || g.Settings["-gcflags"] != "" {
		t.Errorf("the program that runs was built with %+v", g)
	}
	in, again := b.Input(t)
	for _, f := range in.Diagnosis.Findings {
		if f.Rule == p.Rule {
			t.Errorf("the sign is still there: %s", f.Text)
		}
	}
	if product() == was || strings.Contains(fmt.Sprint(again.Plans), p.ID) {
		t.Error("the program is the same, or it is planned again")
	}
	b.Revert(t, tx)
	if b.Hash(t) != before {
		t.Error("the target is not as before")
	}
	asBuilt(t, b, was, product())
}
