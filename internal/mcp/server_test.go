package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	evidences "kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/report"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// shop is a project with one session, one diagnostic run and one scored run.
func shop(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	st := &stack.Stack{Path: filepath.Join(dir, "kasoku.yaml"), Dir: dir, Name: "shop", Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, Listen: []string{"127.0.0.1:80"}, TalksTo: []string{"app"}},
		{Name: "app", Kind: stack.App, Root: dir}},
		Load:       stack.LoadConfig{URL: "http://127.0.0.1", Scenario: "scenario.yaml"},
		Regulation: regulation.Regulation{Allow: []regulation.Trade{regulation.Staleness}, NoRestart: []string{"web"}}}
	page := "<?php\nfunction user($db, $login) { return $db->query(\"SELECT * FROM users WHERE login = '$login'\"); }\n"
	if err := os.WriteFile(filepath.Join(dir, "users.php"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	handler := "package main\n\nimport (\n\t\"net/http\"\n\t\"regexp\"\n)\n\nfunc name(w http.ResponseWriter, r *http.Request) {\n\tif !regexp.MustCompile(`^a`).MatchString(r.FormValue(\"password=hunter22\")) {\n\t\thttp.Error(w, \"no\", 400)\n\t}\n}\n\nfunc main() {}\n"
	for name, text := range map[string]string{"go.mod": "module shop\n\ngo 1.22\n", "main.go": handler} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(filepath.Join(dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	session := &store.Session{Command: "tune", Stack: "shop", Started: time.Now(), State: "done", AsFound: 10, Final: 20, BindsText: "the database's CPU"}
	step := &store.Step{Seq: 1, Plan: remedy.Plan{Title: "An index on users (login)"}, Kept: true, Tx: 3,
		Verdict: experiment.Verdict{Outcome: experiment.Improved, Effect: 1, Low: 0.9, High: 1.1, Pairs: 3, Runs: 6}}
	result := &load.Result{Window: time.Second, Routes: []load.RouteResult{{Route: "GET /users", Requests: 100}, {Route: "GET /", Requests: 9}}}
	seen := &evidences.Evidence{Load: result, Health: []evidences.Health{{Source: "slow log of db", Text: "not judged: it is off"}}}
	diagnosis := &diagnose.Diagnosis{BindsText: "the database's CPU", NotJudged: []diagnose.NotJudged{{Rule: "x", Why: "no slow log"}},
		Findings: []diagnose.Finding{{Rule: "db.full-scan", Measures: []string{"D01"}, Title: "Every login reads all users", Text: "password=hunter22 in a text", Bound: 3, Formula: "1/(1-0.66)"}}}
	steps := []func() error{
		func() error { return db.SaveSession(session) },
		func() error { step.Session = session.ID; return db.SaveStep(step) },
		func() error {
			return db.SaveRun(&store.Run{Kind: store.Diagnostic, Label: "diagnosed", Started: time.Now(), Evidence: seen, Diagnosis: diagnosis})
		},
		func() error {
			return db.SaveRun(&store.Run{Kind: store.Scored, Label: "scored", Started: time.Now(), Score: 42, Evidence: seen})
		},
		func() error {
			return db.SaveRun(&store.Run{Kind: store.Scored, Label: "scored again", Started: time.Now(), Score: 43, Evidence: seen})
		}}
	for _, save := range steps {
		if err := save(); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Version: "test",
		Open: func(context.Context) (*View, error) {
			db, err := store.Open(filepath.Join(dir, ".kasoku"))
			if err != nil {
				return nil, err
			}
			return &View{Stack: st, Store: db, Dir: filepath.Join(dir, ".kasoku"), Close: func() { db.Close() }}, nil
		},
		Plan: func(context.Context, *store.Run) (remedy.Result, error) {
			after := &change.FileState{Hash: "x", Content: []byte("password = \"hunter22\"\nkeepalive 32;\n")}
			return remedy.Result{Plans: []remedy.Plan{{ID: "p", Title: "Keep connections", Bound: 1.5, Changes: []change.Change{
				{Kind: change.KindFile, Path: "/etc/nginx/nginx.conf", Service: "web", Activate: change.Reload, Before: &change.FileState{}, After: after}}}},
				Refusals: []remedy.Refusal{{Plan: remedy.Plan{Title: "No fsync", Bound: 9}, Why: "durability is not allowed"}}}, nil
		}}
}

// client connects over memory; progress receives what is notified.
func client(t *testing.T, o Options, progress chan<- string) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- New(o).Run(ctx, here) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Message }})
	cs, err := c.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close(); cancel(); <-done })
	return cs
}

// call returns the structured answer, or the text of an error.
func call[T any](t *testing.T, cs *sdk.ClientSession, name string, in any) (out T, wrong string) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		return out, "protocol: " + err.Error()
	}
	if res.IsError {
		return out, res.Content[0].(*sdk.TextContent).Text
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "hunter22") {
		t.Errorf("%s tells a secret: %s", name, data)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out, ""
}

type in = map[string]any

// Without leave there is no try, and every tool says that it only reads.
func TestToolsAreReadOnlyUnlessAllowed(t *testing.T) {
	for _, allow := range []bool{false, true} {
		o := shop(t)
		o.AllowTry = allow
		res, err := client(t, o, nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range res.Tools {
			names = append(names, tool.Name)
			a := tool.Annotations
			if tool.Name == "try" {
				if a.ReadOnlyHint || a.DestructiveHint == nil || !*a.DestructiveHint {
					t.Errorf("try: %+v", a)
				}
			} else if !a.ReadOnlyHint {
				t.Errorf("%s is not said to read only", tool.Name)
			}
			if tool.InputSchema == nil || tool.OutputSchema == nil || tool.Description == "" {
				t.Errorf("%s has no schema or description", tool.Name)
			}
		}
		want := []string{"evidence", "findings", "history", "patch", "plan", "show", "status", "where"}
		if allow {
			want = append(want, "try")
		}
		slices.Sort(want)
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("tools %v, want %v", names, want)
		}
	}
}

func TestReadingTools(t *testing.T) {
	cs := client(t, shop(t), nil)
	st, wrong := call[Status](t, cs, "status", nil)
	if wrong != "" || st.Stack != "shop" || len(st.Services) != 2 || st.Allowed[0] != "staleness" || st.Session.Final != 20 || st.Diagnostic != 1 || !strings.Contains(st.Try, "--allow-try") || st.Busy != "" {
		t.Errorf("%s %+v", wrong, st)
	}
	ev, wrong := call[Evidence](t, cs, "evidence", in{"rows": 1})
	tables := map[string]Table{}
	for _, x := range ev.Tables {
		tables[x.Name] = x
	}
	if r := tables["routes"]; wrong != "" || ev.Run != 1 || len(r.Rows) != 1 || r.More != 1 || len(r.Rows[0]) != len(r.Columns) {
		t.Errorf("%s %+v", wrong, ev)
	}
	if u := tables["uncovered"]; len(u.Rows) == 0 && len(tables["health"].Rows) == 0 {
		t.Errorf("nothing tells how far it can be trusted: %+v", ev)
	}
	if ev, _ = call[Evidence](t, cs, "evidence", in{"tables": []string{"routes"}}); len(ev.Tables) != 1 || !slices.Contains(ev.Others, "uncovered") {
		t.Errorf("only routes: %+v", ev)
	}
	f, wrong := call[Findings](t, cs, "findings", nil)
	if wrong != "" || len(f.Findings) != 1 || f.Findings[0].Bound != 3 || !strings.Contains(f.Findings[0].Text, "[hidden]") || f.NotJudged[0] != "x: no slow log" {
		t.Errorf("%s %+v", wrong, f)
	}
	p, wrong := call[Plans](t, cs, "plan", nil)
	if wrong != "" || len(p.Plans) != 1 || !strings.Contains(p.Plans[0].Acts[0].Diff, "+keepalive 32;") || p.Plans[0].Acts[0].Then != "reload web" || p.Refused[0].Why != "durability is not allowed" {
		t.Errorf("%s %+v", wrong, p)
	}
	w, wrong := call[report.Where](t, cs, "where", in{"statement": "SELECT * FROM users WHERE login = 'ann'"})
	if wrong != "" || len(w.Statements) != 1 || len(w.Statements[0].Places) != 1 || !strings.HasSuffix(w.Statements[0].Places[0].File, "/users.php") || !w.Statements[0].Places[0].Sure {
		t.Errorf("%s %+v", wrong, w)
	}
	list, wrong := call[PatchAnswer](t, cs, "patch", nil)
	if wrong != "" || list.Patches == nil || len(list.Patches.Offered) != 1 || list.Patches.Offered[0].File != "main.go" {
		t.Fatalf("%s %+v", wrong, list.Patches)
	}
	one, wrong := call[PatchAnswer](t, cs, "patch", in{"id": list.Patches.Offered[0].ID})
	if wrong != "" || !strings.Contains(one.Diff, "+var namePattern = regexp.MustCompile(`^a`)") || !strings.HasPrefix(one.Message, "Compile a regular expression of name once\n") || strings.Contains(one.Diff, "hunter22") {
		t.Errorf("%s %+v", wrong, one)
	}
	h, wrong := call[History](t, cs, "history", in{"runs": true})
	if wrong != "" || len(h.Sessions) != 1 || h.Sessions[0].Steps[0].Outcome != "improved" || len(h.Runs) != 3 || !strings.Contains(h.Levels, "no change of level") {
		t.Errorf("%s %+v", wrong, h)
	}
	for what, want := range map[string]string{"run/1": "the database's CPU", "step/1": "An index on users"} {
		if s, wrong := call[Shown](t, cs, "show", in{"what": what}); !strings.Contains(s.Text, want) {
			t.Errorf("show %s: %s %s", what, wrong, s.Text)
		}
	}
}

// Every error says what to do.
func TestErrorsSayWhatToDo(t *testing.T) {
	o := shop(t)
	o.AllowTry = true
	o.Try = func(context.Context, tune.Proposal, tune.Reporter) (*store.Step, error) {
		return nil, ui.Coded(ui.Busy, fmt.Errorf("%w: process 77", change.ErrBusy), "wait until it ends, or stop it")
	}
	cs := client(t, o, nil)
	for _, c := range []struct {
		tool string
		in   any
		want []string
	}{
		{"show", in{"what": "17"}, []string{"What to do", "run/17"}},
		{"show", in{"what": "step/9"}, []string{"no step 9", "What to do"}},
		{"show", in{"what": "tx/9"}, []string{"no journal entry 9", "What to do"}},
		{"show", in{}, []string{"what"}},
		{"findings", in{"run": 9}, []string{"no run 9", "What to do"}},
		{"findings", in{"run": 2}, []string{"scored run", "What to do"}},
		{"where", in{"rows": 1000}, []string{"1 to 200"}},
		{"patch", in{"id": "P1-0000"}, []string{"no patch P1-0000", "What to do"}},
		{"where", in{"route": "/nothing"}, []string{"followed no request of /nothing", "What to do"}},
		{"where", in{"route": "/a", "statement": "SELECT 1"}, []string{"two different things"}},
		{"evidence", in{"rows": 1000}, []string{"1 to 200"}},
		{"evidence", in{"tables": []string{"nothing"}}, []string{"no table", "What to do", "health"}},
		{"history", in{"limit": -1}, []string{"1 to 100"}},
		{"try", in{}, []string{"nothing is proposed", "What to do"}},
		{"try", in{"apply": "x", "undo": "y"}, []string{"commands are not allowed", "--allow-commands"}},
		{"try", in{"nonsense": 1}, []string{"nonsense"}},
		{"try", in{"set": []string{"a.b=c"}, "minutes": -1}, []string{"below 0"}},
		{"try", in{"set": []string{"a.b=c"}}, []string{"process 77", "wait until it ends", "one Kasoku", "5"}},
	} {
		_, wrong := call[any](t, cs, c.tool, c.in)
		for _, w := range c.want {
			if !strings.Contains(wrong, w) {
				t.Errorf("%s %v: %q is not in %q", c.tool, c.in, w, wrong)
			}
		}
	}
}

// A proposal reaches the judge as it was meant, progress is told, and the
// answer is the command line's.
func TestTry(t *testing.T) {
	o := shop(t)
	o.AllowTry = true
	var got tune.Proposal
	o.Try = func(_ context.Context, p tune.Proposal, tell tune.Reporter) (*store.Step, error) {
		got = p
		tell.Step("1. a patch")
		tell.Warn("something", "look")
		return &store.Step{ID: 7, Verdict: experiment.Verdict{Outcome: experiment.Broke, Pairs: 0, Runs: 2, Reason: "wrong",
			Samples: []experiment.Sample{{RunID: 5, Side: experiment.Candidate, Mismatches: 3, Requests: 9, Broken: "GET /: expected a, got b"}}}}, nil
	}
	progress := make(chan string, 10)
	cs := client(t, o, progress)
	params := &sdk.CallToolParams{Name: "try", Arguments: in{"patch": "--- a/x\n", "dir": "sub", "restart": []string{"app"}, "minutes": 2.5, "keep": true}}
	params.SetProgressToken("t")
	res, err := cs.CallTool(t.Context(), params)
	if err != nil || res.IsError {
		t.Fatal(err, res)
	}
	for _, want := range []string{"1. a patch", "warning: something (look)"} {
		if p := <-progress; p != want {
			t.Errorf("progress %q, want %q", p, want)
		}
	}
	v, err := o.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if string(got.Diff) != "--- a/x\n" || got.Dir != filepath.Join(v.Stack.Dir, "sub") || !got.Keep || !got.Confined || got.Restart[0] != "app" || got.Budget != 150*time.Second {
		t.Errorf("proposed %+v", got)
	}
	data, _ := json.Marshal(res.StructuredContent)
	var r report.TryResult
	if err := json.Unmarshal(data, &r); err != nil || r.ExitCode != ui.WrongAnswers || r.Broken.Sample != "GET /: expected a, got b" || r.Interval != nil || r.Next == "" || r.Step != 7 {
		t.Errorf("%v: %s", err, data)
	}
}

// A client that cancels, or that leaves, ends the try; Run waits until it has
// put everything back. Meanwhile there is no second one.
func TestTryIsPutBackWhenCancelled(t *testing.T) {
	for _, leave := range []bool{false, true} {
		o := shop(t)
		o.AllowTry = true
		begun, back := make(chan bool), make(chan bool, 1)
		o.Try = func(ctx context.Context, _ tune.Proposal, _ tune.Reporter) (*store.Step, error) {
			begun <- true
			<-ctx.Done()
			back <- true
			return nil, ctx.Err()
		}
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		served := make(chan error, 1)
		go func() {
			served <- New(o).Run(t.Context(), &sdk.IOTransport{Reader: fromClient, Writer: toClient})
			toClient.Close()
		}()
		cs, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "try", Arguments: in{"set": []string{"a.b=c"}}})
			ended <- err
		}()
		<-begun
		if _, wrong := call[any](t, cs, "try", in{"set": []string{"a.b=c"}}); !strings.Contains(wrong, "trying another") {
			t.Errorf("a second try: %q", wrong)
		}
		if !leave {
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
			<-back
			if _, wrong := call[Status](t, cs, "status", nil); wrong != "" {
				t.Errorf("after it: %s", wrong)
			}
			cs.Close()
		} else {
			toServer.Close() // as the pipe of a client that was killed
			<-back
			<-ended
		}
		<-served
		cancel()
	}
}

// Whoever has the lease is named.
func TestStatusNamesWhoIsAtWork(t *testing.T) {
	o := shop(t)
	v, err := o.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	x, err := change.Open(t.Context(), change.Options{Dir: v.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	st, wrong := call[Status](t, client(t, o, nil), "status", nil)
	if want := fmt.Sprintf("process %d", os.Getpid()); wrong != "" || !strings.HasPrefix(st.Busy, want) {
		t.Errorf("%s busy %q, want %s", wrong, st.Busy, want)
	}
}
