package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
)

// asFound makes the database as it was found.
func (l lab) asFound(t *testing.T) {
	t.Helper()
	l.exec(t, "CREATE DATABASE IF NOT EXISTS shop", "DROP TABLE IF EXISTS shop.t",
		"CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(100), KEY old (b(20)) COMMENT 'o''clock') ENGINE=InnoDB",
		"INSERT INTO shop.t (a, b) SELECT seq, seq FROM shop.seq_1_to_500",
		"SET GLOBAL max_connections = 151", "SET GLOBAL slow_query_log = OFF")
}

// everyKind is a plan with a change of every kind.
func (l lab) everyKind() []Change {
	flag, dir := l.path("conf/flag"), l.path("conf/kasoku-dir")
	site := edit1(l.path("conf/site.conf"), siteBefore, siteAfter, "web", Reload)
	return []Change{
		site,
		{Kind: KindDir, Path: dir},
		{Kind: KindFile, Path: filepath.Join(dir, "new"), After: &FileState{Content: []byte("new"), UID: -1, GID: -1}},
		{Kind: KindVariable, Service: "db", Variable: "max_connections", BeforeValue: "151", AfterValue: "200"},
		{Kind: KindVariable, Service: "db", Variable: "slow_query_log", BeforeValue: "OFF", AfterValue: "ON"},
		{Kind: KindIndex, Service: "db", Index: &Index{Schema: "shop", Table: "t", Name: "new", Columns: []string{"a", "b(10)"}}},
		{Kind: KindIndex, Service: "db", Index: &Index{Schema: "shop", Table: "t", Name: "old", Columns: []string{"b(20)"}}, Drop: true},
		{Kind: KindExec, Apply: []string{"touch", flag}, Undo: []string{"rm", "-f", flag}},
		{Kind: KindRestart, Service: "php", Activate: Reload},
	}
}

// withoutPHP is for tests that go back and forth a hundred times: PHP-FPM takes
// a tenth of a second for each reload.
func (l lab) withoutPHP() []Change {
	all := l.everyKind()[:8]
	if l.filesOnly() {
		return append(all[:3], all[7])
	}
	return all
}

// seen is everything that must come back: files with mode, owner and time,
// schema, variables, and what nginx runs with.
func (l lab) seen(t *testing.T) string {
	t.Helper()
	if l.filesOnly() {
		return treeOf(t, l.path("conf"))
	}
	answer, err := l.serves()
	must(t, err)
	return l.seenBy(t, answer)
}

func (l lab) seenBy(t *testing.T, answer string) string {
	t.Helper()
	out := []string{treeOf(t, l.path("conf")), "\nserves " + answer + "\n", l.ask(t, "SHOW CREATE TABLE shop.t"), "\n"}
	for _, v := range []string{"max_connections", "slow_query_log"} {
		out = append(out, v+"="+l.ask(t, "SHOW GLOBAL VARIABLES LIKE '"+v+"'")+"\n")
	}
	return strings.Join(out, "")
}

// victim is the process that is killed: it does a job and ends itself with
// SIGKILL before the step whose number it was given.
func victim(ctx context.Context, job string) {
	l := lab{os.Getenv("KASOKU_TEST_LAB")}
	o := l.optionsOf(job, os.Getenv("KASOKU_TEST_DIR"))
	if base := os.Getenv("KASOKU_TEST_BASE"); base != "" {
		o.Target = &TargetOptions{Name: "lab", Base: base, RevertAfter: testDeadline}
		if after, err := time.ParseDuration(os.Getenv("KASOKU_TEST_AFTER")); err == nil {
			o.Target.RevertAfter = after
		}
	}
	at, _ := strconv.Atoi(os.Getenv("KASOKU_TEST_STEP"))
	n := 0
	k := kasoku{lab: l, options: o, step: func(step string) {
		if n++; n == at {
			os.Stdout.WriteString(step)
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}, fail: func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}}
	k.do(ctx, job)
}

// kasoku does a job as a process does it that may end before each step.
type kasoku struct {
	lab
	options Options
	x       *Executor
	// step is told the steps that are counted, before each.
	step func(string)
	// fail does not return if there is an error.
	fail func(error)
}

func (k *kasoku) do(ctx context.Context, job string) {
	l, fail := k.lab, k.fail
	counting := false
	k.options.Trace = func(step string) {
		if counting {
			k.step(step)
		}
	}
	count := func() { counting = true }
	x, err := Open(ctx, k.options)
	fail(err)
	k.x = x
	apply := func(changes []Change) Tx {
		tx, err := x.Apply(ctx, Intent{Title: "every kind", Changes: changes})
		fail(err)
		return tx
	}
	if do := jobs[job]; do != nil {
		do(ctx, x, l, fail, count)
		fail(x.Close())
		return
	}
	if plan := plans[strings.Split(job, "-")[0]]; plan != nil {
		victimOf(ctx, x, job, plan(l), fail, count)
		fail(x.Close())
		return
	}
	switch job {
	case "apply":
		count()
		tx := apply(l.everyKind())
		fail(x.Keep(ctx, tx.ID))
	case "guarded":
		count()
		tx := apply(l.withoutPHP())
		fail(x.Keep(ctx, tx.ID))
	case "revert":
		tx := apply(l.withoutPHP())
		count()
		fail(x.Revert(ctx, tx.ID))
	case "undo":
		tx := apply(l.withoutPHP())
		fail(x.Keep(ctx, tx.ID))
		count()
		fail(x.Undo(ctx, tx.ID, false))
	case "recover":
		count()
		_, err := x.Recover(ctx)
		fail(err)
	case "stay":
		apply(l.withoutPHP())
		os.Stdout.WriteString("applied")
		select {}
	case "index":
		_, err := x.Apply(ctx, Intent{Title: "index", Changes: l.everyKind()[5:6]})
		fail(err)
	}
	fail(x.Close())
}

// kill runs a victim and returns the step before which it died, "" if it ran
// through.
func (l lab) kill(t *testing.T, dir, job string, step int, env ...string) string {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "KASOKU_TEST_VICTIM="+job, "KASOKU_TEST_LAB="+l.dir, "KASOKU_TEST_DIR="+dir, "KASOKU_TEST_STEP="+strconv.Itoa(step))
	c.Env = append(c.Env, env...)
	var errout strings.Builder
	c.Stderr = &errout
	out, err := c.Output()
	if err == nil {
		return ""
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%s, step %d: %v: %s", job, step, err, errout.String())
	}
	return string(out)
}

// recovered opens the folder as the next Kasoku would and recovers.
func (l lab) recovered(t *testing.T, dir string) []Tx {
	t.Helper()
	x, err := Open(t.Context(), l.options(dir))
	must(t, err)
	defer x.Close()
	if _, err := x.Recover(t.Context()); err != nil {
		t.Fatalf("recover: %v", err)
	}
	if p := x.Pending(); len(p) > 0 {
		t.Fatalf("pending after recovery: %v", states(p))
	}
	if drift, err := x.Verify(t.Context()); err != nil || len(drift) > 0 {
		t.Fatalf("drift %v, %v", drift, err)
	}
	return x.History()
}

// TestKilledAtEveryStep kills Kasoku before every single step of applying,
// keeping, reverting and undoing changes of every kind. Recovery must bring
// everything back, or leave what was kept.
func TestKilledAtEveryStep(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	for _, job := range []string{"apply", "revert", "undo"} {
		t.Run(job, func(t *testing.T) {
			m := l.onPaper(t, job)
			m.kept = func(name string) bool { // only a kill after the line "kept", or before "undoing"
				return name == "" || strings.HasSuffix(name, ".undoing")
			}
			all := m.everywhere(t)
			real := *m
			real.options, real.seen = l.options, func() string { return l.seen(t) }
			real.sample(t, all, 2)
			wantEqual(t, "in the end", l.seen(t), before)
		})
	}
}

// TestRecoveryKilledAtEveryStep kills the recovery as well.
func TestRecoveryKilledAtEveryStep(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	m := l.onPaper(t, "recover")
	m.first = func(t *testing.T, o Options) { // die just before "activated", when everything is written
		x, err := Open(t.Context(), o)
		must(t, err)
		_, err = x.Apply(t.Context(), Intent{Title: "every kind", Changes: l.withoutPHP()})
		must(t, err)
		must(t, x.Close())
	}
	all := m.everywhere(t)
	m.options, m.seen = l.options, func() string { return l.seen(t) }
	m.sample(t, all, 2)
}

// limit of waiting for what a busy machine does in a second.
const limit = 20 * time.Second

// building counts the statements that create an index.
const building = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'CREATE INDEX%'"

// TestKilledWhileTheServerBuilds: the statement of a killed Kasoku waits in the
// server, where it would create the index after recovery has found none.
func TestKilledWhileTheServerBuilds(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	db, err := l.db(t.Context())
	must(t, err)
	defer db.Close()
	holder, err := db.BeginTx(t.Context(), nil) // holds the table's metadata lock
	must(t, err)
	_, err = holder.Exec("SELECT COUNT(*) FROM shop.t")
	must(t, err)

	dir := l.project(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "KASOKU_TEST_VICTIM=index", "KASOKU_TEST_LAB="+l.dir, "KASOKU_TEST_DIR="+dir)
	must(t, c.Start())
	must(t, await.Until(func() error {
		if l.ask(t, building) == "0" {
			return errors.New("CREATE INDEX does not begin")
		}
		return nil
	}))
	must(t, c.Process.Kill())
	c.Wait()
	if l.ask(t, building) == "0" {
		t.Fatal("the statement ended with its client; this test shows nothing")
	}
	l.recovered(t, dir)
	if l.ask(t, building) != "0" {
		t.Fatal("the statement still runs after recovery")
	}
	must(t, holder.Commit())
	wantEqual(t, "after the table is free", l.seen(t), before)
}
