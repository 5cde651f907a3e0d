package database_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/tune"
)

// tooSmall is a server of which one buffer is far too small.
const tooSmall = `tmp_table_size = 64K
max_heap_table_size = 64K
join_buffer_size = 1M
max_connections = 40
innodb_buffer_pool_size = 64M
query_cache_type = 0
`

// told is what a session says, for the log.
type told struct{ t *testing.T }

func (u told) Step(title string)         { u.t.Log("step: " + title) }
func (u told) Info(text string)          { u.t.Log(text) }
func (u told) Warn(problem, hint string) { u.t.Log(problem + "; " + hint) }

// A session finds the size of a buffer: temporary tables of some hundred KiB go to disk,
// the sizes are probed, one that holds them is proved and kept, the sign is gone,
// and undo brings the bytes back.
func TestBufferSize(t *testing.T) {
	s := start(t, tooSmall, []string{
		"CREATE TABLE words (id INT PRIMARY KEY AUTO_INCREMENT, word CHAR(40) NOT NULL, grp INT NOT NULL) CHARACTER SET latin1",
		"INSERT INTO words (word, grp) SELECT MD5(seq), seq % 300 FROM seq_1_to_2500",
	}, map[string]route{"/grouped": {weight: 1, sql: func(int64) []string {
		return []string{"SELECT word, COUNT(*) FROM words GROUP BY word ORDER BY NULL LIMIT 1"}
	}}})
	s.Bench.Window, s.Bench.Warmup, s.Bench.Instruments.Plain = 400*time.Millisecond, 100*time.Millisecond, true
	before := s.Hash(t)
	_, res := s.Input(t)
	p := bed.Want(t, res, "mariadb.buffer-size")
	if p.Search == nil || p.Search.Current != 64 || len(p.Search.Values) < 4 || p.Search.Values[0] != 128 {
		t.Fatalf("%s searches %+v", p.ID, p.Search)
	}
	for _, other := range res.Plans {
		if other.Remedy == "mariadb.buffers" {
			t.Errorf("the computed size is planned beside the search: %s", other.ID)
		}
	}
	table := remedy.Table
	t.Cleanup(func() { remedy.Table = table })
	remedy.Table = nil
	for _, r := range table {
		if r.ID == p.Remedy {
			remedy.Table = append(remedy.Table, r)
		}
	}
	s.Stack.Tune.MaxForeignCPU = 1 // what else runs does not matter: the effect is large
	rule := experiment.DefaultRule()
	rule.Alpha = 0.1  // the fewest pairs will do
	bench := *s.Bench // it remembers what the session saw
	tuner := &tune.Tuner{Stack: s.Stack, Store: s.Bench.Store, Exec: s.Exec, Bench: &bench, Rule: rule, UI: told{t}, Options: tune.Options{Budget: 3 * time.Minute, NoRestart: true}}
	session, err := tuner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	steps, err := s.Bench.Store.Steps(session.ID)
	if err != nil || len(steps) == 0 {
		t.Fatalf("%d steps, %v", len(steps), err)
	}
	found := steps[0]
	if !found.Kept || found.Plan.Remedy != p.Remedy || found.Chosen < 256 {
		t.Fatalf("%s: kept %v: %s", found.Plan.Title, found.Kept, found.Verdict.Reason)
	}
	if found.Chosen == p.Search.Values[len(p.Search.Values)-1] {
		t.Logf("the largest size was chosen; on a quiet machine a smaller one scores as well")
	}
	for _, name := range []string{"tmp_table_size", "max_heap_table_size"} {
		if got := s.variable(t, name); got != strconv.Itoa(found.Chosen<<10) {
			t.Errorf("%s is %s, want %d KiB", name, got, found.Chosen)
		}
	}
	s.Bench.Window = 3 * time.Second // Kasoku's own look at the server makes one such table
	again, _ := s.Input(t)
	for _, f := range again.Diagnosis.Findings {
		if f.Rule == p.Rule {
			t.Errorf("its sign is still there: %s", f.Text)
		}
	}
	if err := s.Exec.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Hash(t) != before {
		t.Error("the target is not as before")
	}
	s.Answers(t, "as before")
	p.ID, p.Changes = fmt.Sprintf("%s-%d", p.ID, found.Chosen), found.Plan.Changes
	s.Effect(t, p)
}
