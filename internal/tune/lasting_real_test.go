package tune

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// renewed is the lab's database with a schema that load.reset makes anew before each
// run, from a file that lies where projects keep it. The score is better where the
// server has what a plan changes.
type renewed struct {
	*lab
	tuner *Tuner
	db    *sql.DB
	file  string // the schema
}

const renewedSchema = `-- what every run starts from
DROP DATABASE IF EXISTS renewed;
CREATE DATABASE renewed;
CREATE TABLE renewed.items (id INT PRIMARY KEY, owner INT, title VARCHAR(40)) ENGINE=InnoDB;
INSERT INTO renewed.items VALUES (1, 7, 'a'), (2, 7, 'b');
`

func renew(t *testing.T, better func(r *renewed) bool, more string) *renewed {
	r := &renewed{lab: useLab(t)}
	dir := filepath.Join(r.dir, "sql")
	r.file = filepath.Join(dir, "schema.sql")
	script := filepath.Join(r.dir, "init.sh")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{r.file: renewedSchema + more,
		script: "mariadb --defaults-file=secrets/client.cnf <sql/schema.sql\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	st := *r.stack
	st.Load.Reset = []string{"sh", "init.sh"}
	var err error
	if r.db, err = stack.OpenDB(t.Context(), r.hosts["local"], st.Service("db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.exec.UndoAll(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := r.db.Exec("DROP DATABASE IF EXISTS renewed"); err != nil {
			t.Error(err)
		}
		r.db.Close()
		os.RemoveAll(dir)
		os.Remove(script)
	})
	r.tuner = r.lab.tuner()
	bench := *r.bench
	bench.Stack, r.tuner.Stack, r.tuner.Bench = &st, &st, &bench
	coin := rand.New(rand.NewPCG(3, 5))
	bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
		if err := bench.reset(ctx); err != nil {
			return nil, err
		}
		if o.ready != nil {
			if err := o.ready(ctx); err != nil {
				return nil, err
			}
		}
		score := 100 * (1 + 0.02*coin.Float64())
		if better(r) {
			score *= 2
		}
		run := &store.Run{Kind: o.Kind, Side: o.Side, Step: o.Step, Label: o.Label, Started: time.Now(), Score: score,
			Evidence: &evidence.Evidence{Load: &load.Result{Score: score, Succeeded: 100, Requests: 100, Window: time.Second}}}
		return run, bench.Store.SaveRun(run)
	}
	tu := r.tuner
	tu.schedule.tried, tu.schedule.proved, tu.course.workload = map[string]attempt{}, map[string]store.Step{}, 8
	tu.session = &store.Session{Command: "tune", Stack: st.Name, Started: time.Now(), State: "running", AsFoundWorkload: 8}
	if err := bench.Store.SaveSession(tu.session); err != nil {
		t.Fatal(err)
	}
	if err := bench.reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *renewed) try(t *testing.T, c change.Change) *store.Step {
	t.Helper()
	step, err := r.tuner.try(t.Context(), remedy.Plan{ID: "a.plan", Remedy: "a.plan", Title: "A change", Why: "a test", Bound: 2, Changes: []change.Change{c}}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.exec.Pending()); n > 0 {
		t.Errorf("%d transactions are pending", n)
	}
	return step
}

func (r *renewed) hasIndex() bool {
	var n int
	_ = r.db.QueryRow("SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'renewed' AND INDEX_NAME = 'kasoku_items_1'").Scan(&n)
	return n > 0
}

// The reset makes the table anew in every run, and the index is gone. It goes into the
// schema file, is judged there and kept; undo brings the file back byte for byte.
func TestIndexThatAResetDrops(t *testing.T) {
	r := renew(t, (*renewed).hasIndex, "")
	step := r.try(t, change.Change{Kind: change.KindIndex, Service: "db",
		Index: &change.Index{Schema: "renewed", Table: "items", Name: "kasoku_items_1", Columns: []string{"owner"}}})
	if !step.Kept || step.Verdict.Outcome != experiment.Improved || step.Verdict.Effect < 0.5 {
		t.Fatalf("%s: %s", step.Verdict.Outcome, step.Verdict.Reason)
	}
	text, err := os.ReadFile(r.file)
	if err != nil || string(text) != renewedSchema+"ALTER TABLE renewed.items ADD INDEX `kasoku_items_1` (`owner`);\n" {
		t.Errorf("%v:\n%s", err, text)
	}
	if err := r.tuner.Bench.reset(t.Context()); err != nil || !r.hasIndex() {
		t.Errorf("the index does not last: %v", err)
	}
	if err := r.exec.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(r.file); err != nil || string(text) != renewedSchema || r.hasIndex() {
		t.Errorf("not as found: %v, index %v:\n%s", err, r.hasIndex(), text)
	}
}

// A variable that the reset sets back is not judged, and the line that does it is named.
func TestVariableThatAResetSetsBack(t *testing.T) {
	const name = "max_length_for_sort_data"
	r := renew(t, func(*renewed) bool { return false }, "SET GLOBAL "+name+" = 1024;\n")
	step := r.try(t, change.Change{Kind: change.KindVariable, Service: "db", Variable: name, AfterValue: "4096"})
	want := fmt.Sprintf("%s:6 (SET GLOBAL %s = 1024;)", r.file, name)
	if v := step.Verdict; step.Kept || v.Outcome != experiment.Failed || !strings.Contains(v.Reason, "after load.reset") || !strings.Contains(v.Reason, want) {
		t.Errorf("%s: %s; want %s", v.Outcome, v.Reason, want)
	}
}
