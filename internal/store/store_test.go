package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	_ "kasoku/internal/rapidseed"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
)

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func at(second int) time.Time { return time.Date(2025, 3, 1, 12, 0, second, 0, time.UTC) }

func TestSessionRoundTrip(t *testing.T) {
	s := open(t)
	x := &Session{Command: "tune", Stack: "shop", Started: at(1), Budget: time.Minute, State: "running",
		Allowed: []string{"staleness"}, Refusals: []remedy.Refusal{{Plan: remedy.Plan{ID: "p", Trades: []regulation.Trade{regulation.Durability}}, Why: "not allowed"}}}
	if err := s.SaveSession(x); err != nil {
		t.Fatal(err)
	}
	if x.ID == 0 {
		t.Fatal("no ID was given")
	}
	x.State, x.Final, x.Ended = "done", 12.5, at(59)
	if err := s.SaveSession(x); err != nil {
		t.Fatal(err)
	}
	got, err := s.Session(x.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, x) {
		t.Errorf("got  %+v\nwant %+v", got, x)
	}
	y := &Session{Command: "try", Started: at(2)}
	if err := s.SaveSession(y); err != nil {
		t.Fatal(err)
	}
	list, err := s.Sessions(0)
	if err != nil || len(list) != 2 || list[0].ID != y.ID {
		t.Errorf("Sessions(0) = %v, %v; want 2, newest first", list, err)
	}
	if list, err = s.Sessions(1); err != nil || len(list) != 1 {
		t.Errorf("Sessions(1) = %v, %v", list, err)
	}
	if last, err := s.LastSession(); err != nil || last.ID != y.ID {
		t.Errorf("LastSession = %v, %v", last, err)
	}
}

func TestStepRoundTrip(t *testing.T) {
	s := open(t)
	x := &Step{Session: 4, Seq: 2, Started: at(1), Ended: at(9), Kept: true, Tx: 7, Binding: "cpu: db", Chosen: 8,
		Plan: remedy.Plan{ID: "mariadb.index:t(a)", Title: "Index", Changes: []change.Change{{Kind: change.KindIndex, Service: "db",
			Index: &change.Index{Schema: "app", Table: "t", Name: "a", Columns: []string{"a"}}}},
			Search: &remedy.Search{Name: "n", Values: []int{1, 2}}},
		Finding: &diagnose.Finding{Rule: "db.full-scan", Bound: 3},
		Verdict: experiment.Verdict{Outcome: experiment.Improved, Effect: 0.5, Samples: []experiment.Sample{{RunID: 3, Score: 9}}},
		Diffs:   []Diff{{Title: "db", Text: "CREATE INDEX", Kind: "sql"}}}
	if err := s.SaveStep(x); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveStep(&Step{Session: 4, Seq: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveStep(&Step{Session: 5, Seq: 1}); err != nil {
		t.Fatal(err)
	}
	steps, err := s.Steps(4)
	if err != nil || len(steps) != 2 {
		t.Fatalf("Steps = %v, %v", steps, err)
	}
	if steps[0].Seq != 1 || !reflect.DeepEqual(&steps[1], x) {
		t.Errorf("got  %+v\nwant %+v", steps[1], *x)
	}
	if one, err := s.Step(x.ID); err != nil || one.Plan.ID != x.Plan.ID {
		t.Errorf("Step = %v, %v", one, err)
	}
}

func TestRunRoundTripAndFilter(t *testing.T) {
	s := open(t)
	x := &Run{Session: 1, Step: 2, Kind: Diagnostic, Side: experiment.Candidate, Label: "with ' and \x00", Started: at(3), Score: -4.5,
		Unfit: "foreign load", ConfigHash: "abc",
		Evidence: &evidence.Evidence{Load: &load.Result{Workload: 8, Routes: []load.RouteResult{{Route: "GET /日本"}}},
			System:     evidence.System{CPUs: 2, User: 1.5, PressureCPU: -1},
			Services:   map[string]evidence.ServiceUse{"db": {CPU: 2}},
			Statements: []evidence.Statement{{Fingerprint: "SELECT ?", Example: "SELECT '***'"}}},
		Diagnosis: &diagnose.Diagnosis{Binds: "cpu: db", Findings: []diagnose.Finding{{Rule: "r", Bound: 2}}}}
	if err := s.SaveRun(x); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(x.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, x) {
		t.Errorf("got  %+v\nwant %+v", got, x)
	}
	bare := &Run{Session: 1, Kind: Scored, Started: at(4), Score: 1}
	for _, r := range []*Run{bare, {Session: 2, Kind: Scored, Started: at(5)}} {
		if err := s.SaveRun(r); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Run(bare.ID); err != nil || got.Evidence != nil || got.Diagnosis != nil {
		t.Errorf("a run without evidence came back as %+v, %v", got, err)
	}
	bare.Score = 2 // an update
	if err := s.SaveRun(bare); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		f    RunFilter
		want int
	}{
		"all": {RunFilter{}, 3}, "session": {RunFilter{Session: 1}, 2}, "step": {RunFilter{Step: 2}, 1},
		"kind": {RunFilter{Kind: Scored}, 2}, "both": {RunFilter{Kind: Scored, Session: 1}, 1}, "limit": {RunFilter{Limit: 2}, 2},
		"none": {RunFilter{Session: 9}, 0},
	} {
		list, err := s.Runs(c.f)
		if err != nil || len(list) != c.want {
			t.Errorf("%s: %d runs, %v; want %d", name, len(list), err, c.want)
		}
		for _, r := range list {
			if r.Evidence != nil {
				t.Errorf("%s: the list carries evidence", name)
			}
		}
	}
}

func TestMissing(t *testing.T) {
	s := open(t)
	_, e1 := s.Session(1)
	_, e2 := s.Run(1)
	_, e3 := s.Step(1)
	_, e4 := s.LastSession()
	e5 := s.SaveSession(&Session{ID: 3})
	e6 := s.SaveRun(&Run{ID: 3})
	for i, err := range []error{e1, e2, e3, e4, e5, e6} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%d: %v is not ErrNotFound", i+1, err)
		}
	}
}

func TestInfiniteNumberIsAnError(t *testing.T) {
	s := open(t)
	err := s.SaveRun(&Run{Label: "r", Diagnosis: &diagnose.Diagnosis{Findings: []diagnose.Finding{{Bound: math.Inf(1)}}}})
	if err == nil || !strings.Contains(err.Error(), "diagnosis") {
		t.Errorf("got %v", err)
	}
}

func TestPrivateAndReopened(t *testing.T) {
	// Every character that means something in a URI.
	dir := filepath.Join(t.TempDir(), "a b?c#d%20é", ".kasoku")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SaveSession(&Session{Command: "tune", Started: at(1)}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{dir: 0o700, s.Path(): 0o600, s.Path() + "-wal": 0o600} {
		st, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, st.Mode().Perm(), want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, FileName), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if st, _ := os.Stat(s.Path()); st.Mode().Perm() != 0o600 {
		t.Error("a file that others could read was not made private")
	}
	if x, err := s.LastSession(); err != nil || x.Command != "tune" {
		t.Errorf("after opening again: %v, %v", x, err)
	}
}

func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 10 {
				if err := s.SaveRun(&Run{Kind: Scored, Started: at(0)}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if runs, err := s.Runs(RunFilter{}); err != nil || len(runs) != 40 {
		t.Errorf("%d runs, %v; want 40", len(runs), err)
	}
}

func TestNewerSchema(t *testing.T) {
	s := open(t)
	if _, err := s.db.Exec(`INSERT INTO migrations VALUES (99, 'x')`); err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, err := Open(filepath.Dir(s.Path()))
	if err == nil || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), fmt.Sprintf("up to %d", SchemaVersion())) {
		t.Errorf("got %v", err)
	}
}

func TestNotOurs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE theirs (a)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "not a SQLite database") {
		t.Errorf("got %v", err)
	}
	if b, _ := os.ReadFile(path); !bytes.HasPrefix(b, []byte("no database ")) {
		t.Error("the file was overwritten")
	}
}

func TestCorrupt(t *testing.T) {
	s := open(t)
	for range 50 {
		if err := s.SaveSession(&Session{Stack: strings.Repeat("x", 3000)}); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	b, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	copy(b[4096:], bytes.Repeat([]byte{0xff}, len(b)-4096))
	if err := os.WriteFile(s.Path(), b, 0o600); err != nil {
		t.Fatal(err)
	}
	s2, err := Open(filepath.Dir(s.Path()))
	if err == nil {
		_, err = s2.Sessions(0)
		s2.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), s.Path()) {
		t.Errorf("got %v", err)
	}
}

func TestDiskFull(t *testing.T) {
	s := open(t)
	var pages int
	if err := s.db.QueryRow(`PRAGMA max_page_count = 20`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		err = s.SaveSession(&Session{Stack: strings.Repeat("x", 5000)})
	}
	if err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Sessions(0); err != nil {
		t.Errorf("reading after a full disk: %v", err)
	}
}

func TestPackIsItsOwnInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := evidence.Statement{Fingerprint: rapid.String().Draw(t, "text"), Count: rapid.Int64().Draw(t, "count")}
		b, err := pack(&in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := unpack[evidence.Statement](b.([]byte))
		if err != nil || *out != in {
			t.Fatalf("got %+v, %v; want %+v", out, err, in)
		}
	})
}
