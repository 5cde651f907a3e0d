package remedy_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/remedy/remedytest"
)

// The sockets and delivery edit the same nginx.conf: the first edit begins from
// what is there, each other from what the one before it leaves, and each is told
// to be of one part.
func TestTogether(t *testing.T) {
	in, res := remedytest.Plan(t, remedytest.World(nil))
	before := string(in.Snapshot.Files["local"][remedytest.NginxPath].Content)
	var group *remedy.Plan
	for _, p := range remedy.Together(in, res.Plans) {
		if p.Remedy == "group" {
			group = &p
			continue
		}
		if r := remedyOf(p.Remedy); r.Small {
			t.Errorf("%s is planned alone too", p.ID)
		}
	}
	if group == nil {
		t.Fatalf("no group among %d plans; skipped %v", len(res.Plans), res.Skipped)
	}
	files := map[string]string{}
	phase := 0
	for _, c := range group.Changes {
		if c.Kind != change.KindFile {
			continue
		}
		old, twice := files[c.Path]
		if c.Phase < phase {
			t.Errorf("phase %d comes after phase %d", c.Phase, phase)
		}
		phase = c.Phase
		files[c.Path] = string(c.After.Content)
		if twice && string(c.Before.Content) != old {
			t.Errorf("%s: a change does not begin with what the one before leaves", c.Path)
		}
		if c.Path == remedytest.NginxPath && !twice && string(c.Before.Content) != before {
			t.Error("the change of nginx.conf does not begin from what is there")
		}
	}
	next := 0
	for _, p := range group.Parts {
		if p.First != next || p.Count == 0 || !p.Small {
			t.Errorf("part %+v; its changes are expected to begin at %d", p, next)
		}
		next += p.Count
	}
	if next != len(group.Changes) || len(group.Parts) < 3 {
		t.Errorf("%d parts hold %d of %d changes", len(group.Parts), next, len(group.Changes))
	}
	for path, words := range map[string][]string{
		remedytest.NginxPath: {"fastcgi_pass unix:", "sendfile on;"},
		remedytest.FPMPath:   {"listen = /"},
		remedytest.AppPath:   {"unix_socket=/run/mysqld.sock"},
	} {
		for _, w := range words {
			if !strings.Contains(files[path], w) {
				t.Errorf("%s does not hold %q:\n%s", path, w, files[path])
			}
		}
	}
	for _, id := range []string{"L03", "C19"} {
		if !strings.Contains(strings.Join(group.Measures, " "), id) {
			t.Errorf("measures %v lack %s", group.Measures, id)
		}
	}
	if string(in.Snapshot.Files["local"][remedytest.NginxPath].Content) != before {
		t.Error("planning changed the snapshot")
	}
}

// Plans of different services are joined, one that edits what another has
// written is left over, and any part can be taken out alone.
func TestGroup(t *testing.T) {
	old := remedy.Table
	t.Cleanup(func() { remedy.Table = old })
	line := func(id, service, path, from, to string) remedy.Remedy {
		return remedy.Remedy{ID: id, Rules: []string{"slow." + id}, Reach: 0.5, Plan: func(in remedy.Input, _ diagnose.Finding) ([]remedy.Plan, error) {
			text := string(in.Snapshot.Files["local"][path].Content)
			if !strings.Contains(text, from) {
				return nil, nil
			}
			c, err := planning.FileChange(in.Snapshot, in.Stack.Service(service), path, []byte(strings.Replace(text, from, to, 1)), change.Reload, id)
			return []remedy.Plan{{ID: id + ":" + to, Title: id, Changes: []change.Change{c}}}, err
		}}
	}
	remedy.Table = []remedy.Remedy{
		line("a", "web", remedytest.NginxPath, "worker_processes 1;", "worker_processes 2;"),
		line("b", "web", remedytest.NginxPath, "worker_connections 4096;", "worker_connections 8192;"),
		line("c", "web", remedytest.NginxPath, "worker_processes ", "worker_processes  "), // the line that a writes
		line("d", "php", remedytest.FPMPath, "pm.max_children = 32", "pm.max_children = 8"),
	}
	in := remedytest.World(nil)
	in.Diagnosis = &diagnose.Diagnosis{}
	for i, bound := range []float64{1.5, 1.2, 1.1, 1.25} {
		in.Diagnosis.Findings = append(in.Diagnosis.Findings, diagnose.Finding{Rule: "slow." + remedy.Table[i].ID, Bound: bound})
	}
	plan := remedy.Table[1].Plan
	folder := [][]change.Change{{{Kind: change.KindDir, Path: "/srv/kasoku-b"}}}
	remedy.Table[1].Plan = func(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
		plans, err := plan(in, f)
		for i := range plans {
			plans[i].Prepare = folder
		}
		return plans, err
	}
	res := remedy.PlanAll(in)
	group, left := remedy.Group(in, res.Plans)
	if len(group.Prepare) != 1 || group.Prepare[0][0].Path != "/srv/kasoku-b" {
		t.Errorf("prepared: %+v", group.Prepare)
	}
	if len(res.Plans) != 4 || len(group.Parts) != 3 || len(left) != 1 || left[0].Remedy != "c" {
		t.Fatalf("%d plans, parts %+v, left %v", len(res.Plans), group.Parts, left)
	}
	// Shares 1/3, 1/6 and 1/5 of the time: 1 ÷ (1 − 0.7).
	if math.Abs(group.Bound-1/0.3) > 1e-6 {
		t.Errorf("bound %v, want %v", group.Bound, 1/0.3)
	}
	after := planning.WithChanges(in.Snapshot, group.Changes)
	a := group.Parts[slices.IndexFunc(group.Parts, func(p remedy.Part) bool { return p.Remedy == "a" })]
	out, err := remedy.Without(after, group.Changes[a.First:a.First+a.Count])
	if err != nil {
		t.Fatal(err)
	}
	text := string(planning.WithChanges(after, out).Files["local"][remedytest.NginxPath].Content)
	if !strings.Contains(text, "worker_processes 1;") || !strings.Contains(text, "worker_connections 8192;") {
		t.Errorf("without a:\n%s", text)
	}
	for _, p := range res.Plans {
		if !remedy.Joinable(p) {
			t.Errorf("%s cannot be joined", p.ID)
		}
	}
	for name, spoil := range map[string]func(*remedy.Plan){
		"a trade":              func(p *remedy.Plan) { p.Trades = remedytest.AllTrades()[:1] },
		"a search":             func(p *remedy.Plan) { p.Search = &remedy.Search{} },
		"a workload":           func(p *remedy.Plan) { p.Workload = 16 },
		"a package":            func(p *remedy.Plan) { p.Changes = append(p.Changes, change.Change{Kind: change.KindPackage}) },
		"a lost index":         func(p *remedy.Plan) { p.Changes = append(p.Changes, change.Change{Kind: change.KindIndex, Drop: true}) },
		"a package to prepare": func(p *remedy.Plan) { p.Prepare = [][]change.Change{{{Kind: change.KindPackage}}} },
		"pages to check":       func(p *remedy.Plan) { p.Fresh = &planning.Fresh{} },
	} {
		p := res.Plans[0]
		p.Changes = slices.Clone(p.Changes)
		spoil(&p)
		if remedy.Joinable(p) {
			t.Errorf("with %s it is joined", name)
		}
	}
}

// Small plans that were joined are one part of a group, with changes that follow
// each other; either side can be taken out while the other stays, although all
// edit the same file.
func TestGroupWithSmall(t *testing.T) {
	in, res := remedytest.Plan(t, remedytest.World(nil))
	before := string(in.Snapshot.Files["local"][remedytest.NginxPath].Content)
	var plans []remedy.Plan
	for _, p := range remedy.Together(in, res.Plans) {
		if p.OfSmall() || p.Remedy == "nginx.keep-php" || p.Remedy == "nginx.workers" {
			plans = append(plans, p)
		}
	}
	group, left := remedy.Group(in, plans)
	if len(left) != 1 || left[0].Remedy != "nginx.keep-php" { // it edits what the sockets edit, for less
		t.Errorf("left over: %v", left)
	}
	i := slices.IndexFunc(group.Parts, func(p remedy.Part) bool { return len(p.Of) > 0 })
	if i != len(group.Parts)-1 || i < 1 { // it moves a socket, in phases
		t.Fatalf("parts %+v", group.Parts)
	}
	small := group.Parts[i]
	if !small.Small || len(small.Of) < 3 || group.OfSmall() || len(group.PlanIDs()) != len(group.Parts)-1+len(small.Of) {
		t.Errorf("%+v of %v", small, group.PlanIDs())
	}
	if n := len(group.PlanIDs()); !strings.Contains(group.Title, " changes together: ") || strings.Count(group.Title, "; ") != n-1 {
		t.Errorf("%d plans are told as %q", n, group.Title)
	}
	after := planning.WithChanges(in.Snapshot, group.Changes)
	text := func(changes []change.Change) string {
		t.Helper()
		out, err := remedy.Without(after, changes)
		if err != nil {
			t.Fatal(err)
		}
		return string(planning.WithChanges(after, out).Files["local"][remedytest.NginxPath].Content)
	}
	if got := text(group.Changes); got != before {
		t.Errorf("without all:\n%s", got)
	}
	var others []change.Change
	for _, p := range group.Parts {
		if p.ID != small.ID {
			others = append(others, group.Changes[p.First:p.First+p.Count]...)
		}
	}
	if got := text(group.Changes[small.First : small.First+small.Count]); strings.Contains(got, "fastcgi_pass unix:") || got == before {
		t.Errorf("without the small ones:\n%s", got)
	}
	if got := text(others); !strings.Contains(got, "fastcgi_pass unix:") || got == string(after.Files["local"][remedytest.NginxPath].Content) {
		t.Errorf("without the others:\n%s", got)
	}
	// One of them that cannot be planned any more makes it another plan.
	gone := small.Of[0][:strings.IndexByte(small.Of[0], ':')]
	old := remedyOf(gone).Plan
	t.Cleanup(func() { remedyOf(gone).Plan = old })
	remedyOf(gone).Plan = func(remedy.Input, diagnose.Finding) ([]remedy.Plan, error) { return nil, nil }
	if again, left := remedy.Group(in, plans); len(left) != 1 || !left[0].OfSmall() || slices.ContainsFunc(again.Parts, func(p remedy.Part) bool { return p.Small }) {
		t.Errorf("without %s: left %v, parts %+v", gone, left, again.Parts)
	}
}

// One small plan alone needs no group.
func TestTogetherLeavesOneAlone(t *testing.T) {
	in, res := remedytest.Plan(t, remedytest.World(nil))
	var one []remedy.Plan
	for _, p := range res.Plans {
		if p.Remedy == "app.db-socket" {
			one = append(one, p)
		}
	}
	if got := remedy.Together(in, one); len(got) != 1 || got[0].ID != one[0].ID {
		t.Errorf("got %v", got)
	}
}

// What the application says with a file, nginx must say too.
func TestStaticKeepsTheApplicationsHeaders(t *testing.T) {
	in := remedytest.World(nil)
	remedytest.Asset(in, "/srv/public", "/css/a.css", "text/css")
	in.Evidence.Load.Assets[0].Headers = []string{"Cache-Control: max-age=60", "X-Frame-Options: DENY"}
	text := remedytest.After(remedytest.Want(t, in, "nginx.static"), remedytest.NginxPath)
	for _, w := range []string{"add_header Cache-Control max-age=60;", "add_header X-Frame-Options DENY;"} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is lost:\n%s", w, text)
		}
	}
	in.Evidence.Load.Assets[0].Headers = []string{"X-Price: 5$"}
	remedytest.WantNone(t, in, "nginx.static", "X-Price")
	in.Evidence.Load.Assets[0].Private = "a stranger gets status 302"
	remedytest.WantNone(t, in, "nginx.static", "")
}

// remedyOf is the entry of the table, nil if there is none.
func remedyOf(id string) *remedy.Remedy {
	for i := range remedy.Table {
		if remedy.Table[i].ID == id {
			return &remedy.Table[i]
		}
	}
	return nil
}

// Each change of a group has one line: what it is, its reason in a sentence, and what it
// is expected to bring alone.
func TestReasonsOfAGroup(t *testing.T) {
	small := remedy.Plan{Title: "ignored", Parts: []remedy.Part{{Title: "Leave out the version", Why: "server_tokens is on"}, {Title: "More files", Why: "They close. Often.", Bound: 1.2, Reach: 0.5}}}
	index := remedy.Plan{Title: "Add an index", Why: "It scans 71 % of the time (1.5 of 2.1 s). The index takes 1 MiB.", Bound: 4, Reach: 0.7, Spares: 0.5}
	var got []string
	for _, p := range []remedy.Plan{index, small} {
		got = append(got, remedy.Reasons(p)...)
	}
	want := []string{"Add an index: It scans 71 % of the time (1.5 of 2.1 s). Alone about ×1.54.", "Leave out the version: server_tokens is on.", "More files: They close. Alone about ×1.09."}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
