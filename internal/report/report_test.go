package report

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/trace"
)

// -out DIR keeps the sample's renderings, to look at them:
// go test ./internal/report -run Sample -args -out /tmp
var out = flag.String("out", "", "folder for the sample report")

// sampleJSON is the sample's model; the store behind it takes a second of fsyncs.
var sampleJSON []byte

func sample(t *testing.T) *Model {
	t.Helper()
	if sampleJSON == nil {
		st, id := sampleStore(t)
		m, err := Build(context.Background(), st, id, Options{Now: start.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		sampleJSON = []byte(render(t, JSON, m))
	}
	var m Model
	if err := json.Unmarshal(sampleJSON, &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

func render(t *testing.T, write func(io.Writer, *Model) error, m *Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSample(t *testing.T) {
	m := sample(t)
	page := render(t, HTML, m)
	for _, want := range []string{
		"×34.1 the score in 41m12s: 4,037 points/s instead of 118 points/s. 5 of the 10 changes that were tried were kept.",
		"kasoku undo 4", "8 users as found, 32 at the end", "logs and metrics may become fewer or later",
		"&lt;script&gt;alert", "contains &#34;2 books&#34;", "it trades durability", "processes outside the stack used 23 %",
		"goodput 119/s, Apdex 0.96", ">0.97</td>", "SELECT * FROM customers WHERE email = ?", "the pool has no status page", "not judged", "logarithmic scale",
	} {
		if !strings.Contains(strings.ToLower(page), strings.ToLower(want)) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	md := render(t, Markdown, m)
	if !strings.Contains(md, "| 0.97 | 1.00 |") {
		t.Error("Markdown does not hold the Apdex of POST /login")
	}
	for name, s := range map[string]string{"the page": page, "Markdown": strings.ReplaceAll(md, `\_`, "_")} {
		if want := "Nothing is planned for it: php_admin_value sets it already."; !strings.Contains(s, want) {
			t.Errorf("%s does not hold %q", name, want)
		}
	}
	text := render(t, SessionText, m)
	for name, s := range map[string]string{"page": page, "Markdown": md, "text": text} {
		for _, no := range []string{"NaN", "Inf", "%!", "<no value>", "ZgotmplZ", "n/a"} {
			if strings.Contains(s, no) {
				t.Errorf("%s holds %q", name, no)
			}
		}
	}
	if *out != "" {
		for name, s := range map[string]string{"sample.html": page, "sample.md": md, "sample.txt": text, "sample.json": render(t, JSON, m)} {
			if err := os.WriteFile(filepath.Join(*out, name), []byte(s), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPageLoadsNothing(t *testing.T) {
	page := render(t, HTML, sample(t))
	for _, no := range []string{"<script", "<link", "<img", "<iframe", "@import", "url(", "src=", "javascript:"} {
		if strings.Contains(page, no) {
			t.Errorf("the page holds %q", no)
		}
	}
	for _, u := range regexp.MustCompile(`https?://[^"]*`).FindAllString(page, -1) {
		if u != "http://www.w3.org/2000/svg" {
			t.Errorf("the page names %s", u)
		}
	}
}

func TestPicturesAreWellFormed(t *testing.T) {
	page := render(t, HTML, sample(t))
	pics := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	// Score, proofs of 9 steps, resources, time, CPU, routes, statements, forest.
	if want := 2 * (1 + 9 + 6); len(pics) != want {
		t.Fatalf("%d pictures, want %d", len(pics), want)
	}
	for _, p := range pics {
		d := xml.NewDecoder(strings.NewReader(p))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, p)
			}
		}
	}
}

func TestComparison(t *testing.T) {
	m := sample(t)
	if c := m.CPU[0]; c.Name != "db" || c.Before < 0.0117 || c.Before > 0.0118 || c.After > 0.00014 {
		t.Errorf("CPU of db: %+v", c)
	}
	if last := m.CPU[len(m.CPU)-1]; last.Part != "foreign" {
		t.Errorf("the last part is %+v", last)
	}
	if r := m.Routes[0]; r.Route != "GET /orders" || r.Before == nil || r.After == nil || r.After.PerSecond != 610 {
		t.Errorf("route: %+v", r)
	}
	if s := m.Statements[0]; s.Before.RowsPerCall != 150_000 || s.After.RowsPerCall != 10 {
		t.Errorf("statement: %+v", s)
	}
	if m.Runs.Unfit != 1 || m.Runs.Diagnostic != 2 || m.Runs.Total != m.Runs.Scored+2 {
		t.Errorf("runs: %+v", m.Runs)
	}
	if len(m.Warnings) != 3 {
		t.Errorf("warnings: %v", m.Warnings)
	}
}

func TestJSONReadsBack(t *testing.T) {
	m := sample(t)
	var back Model
	if err := json.Unmarshal([]byte(render(t, JSON, m)), &back); err != nil {
		t.Fatal(err)
	}
	if back.Headline != m.Headline || len(back.Steps) != len(m.Steps) || back.Steps[4].Wrong[0].Request != "GET /cart" || back.Format != Format {
		t.Errorf("came back as %+v", back)
	}
}

// TestNothingIsInjected: whatever a target sends, no element, attribute or
// Markdown of its own comes into being.
func TestNothingIsInjected(t *testing.T) {
	evil := "x\"'><script>alert(1)</script><img src=x onerror=alert(2)></title></style></svg>`|*_[a](javascript:b)\n# h\x1b[2J\u202e{{.}}"
	m := &Model{Kasoku: evil, Setup: Setup{Scenario: evil, Engine: evil, Runs: []SetupRun{{ConfigHash: evil}}, Hosts: []SetupHost{{Name: evil, Kernel: evil}}, Services: []SetupService{{evil, evil}}}, Headline: evil, Caveats: []string{evil}, Session: store.Session{Stack: evil, BindsText: evil, Stopped: evil, Allowed: []string{evil},
		Refusals: []remedy.Refusal{{Plan: remedy.Plan{Title: evil}, Why: evil}}},
		Score: Score{AsFound: 1, Final: 2, Measured: true, Factor: 2},
		Steps: []Step{
			{Step: store.Step{Kept: true, Plan: remedy.Plan{Title: evil, Why: evil}, Verdict: experiment.Verdict{Outcome: experiment.Improved, Reason: evil, Pairs: 2, Low: -.1, High: .2, CandidateScore: 2},
				Diffs: []store.Diff{{Title: evil, Text: evil, Kind: "file"}}}, Trades: []Trade{{Text: evil}}, Commands: []string{evil}},
			{Step: store.Step{Plan: remedy.Plan{Title: evil}, Verdict: experiment.Verdict{Outcome: experiment.Outcome(evil), Reason: evil, Pairs: 3, Low: .1, High: .2}},
				Wrong: []load.Mismatch{{Request: evil, Expected: evil, Got: evil, Body: evil, Step: evil}}}},
		Before: &Side{Label: evil, CPUPerRequest: 1, Demands: []diagnose.Demand{{Resource: evil}}, Unhealthy: []string{evil}}, After: &Side{Label: evil, BindsText: evil, Next: []diagnose.Next{{Resource: evil, Text: evil, Factor: 2}}},
		CPU:        []CPUShare{{Name: evil, Part: "service", Before: 1000, After: 1}},
		Routes:     []RouteChange{{Route: evil, Before: &RouteStats{}}},
		Statements: []StatementChange{{Service: evil, Fingerprint: evil, Before: &StatementStats{}}},
		Findings:   []diagnose.Finding{{Title: evil, Text: evil, Formula: evil, Evidence: []string{evil}, Unplanned: evil}}, NotJudged: []diagnose.NotJudged{{Rule: evil, Why: evil}},
		Work: []diagnose.Work{{Title: evil, Text: evil, Statement: evil, After: evil, Also: []string{evil}, Sources: []string{evil}, Better: evil, Service: evil, StatementShare: .5,
			On: []diagnose.WorkOn{{Route: evil, PerRequest: 2}}, Form: trace.Form{Text: "SELECT " + evil, Notes: []string{evil}}}},
		Times:     []TimeShare{{Name: evil, Part: partStatement, Service: evil, Before: 1}, {Name: evil, Part: partOutside, Before: 1}},
		Resources: []Resource{{Name: evil, Before: index(0.5), Binds: true}},
		Seen:      &Seen{Label: evil, Unfit: evil, Evidence: fullEvidence(evil)},
		Warnings:  []Warning{{evil, evil}}, Reproduce: []Command{{evil, evil}}}
	page := render(t, HTML, m)
	clean := render(t, HTML, stripped(t, m, evil))
	tags := regexp.MustCompile(`<[a-zA-Z/!][^>]*>`)
	if a, b := tags.FindAllString(page, -1), tags.FindAllString(clean, -1); len(a) != len(b) {
		t.Errorf("%d elements, %d without the evil text", len(a), len(b))
	}
	for _, no := range []string{"<script", "<img", "onerror=alert(2)>", "\x1b"} {
		if strings.Contains(page, no) {
			t.Errorf("the page holds %q", no)
		}
	}
	md := render(t, Markdown, m)
	outside := regexp.MustCompile("(?s)\n```.*?\n```\n|``.*?``").ReplaceAllString(md, "")
	for _, no := range []string{"<script", "<img", "a](javascript", "\n# h", "alert(1)\n"} {
		if strings.Contains(outside, no) {
			t.Errorf("Markdown holds %q outside of code", no)
		}
	}
	if strings.Contains(md+render(t, SessionText, m), "\x1b") {
		t.Error("Markdown or text holds a control character")
	}
}

// stripped is the model with a harmless text of the same width instead.
func stripped(t *testing.T, m *Model, evil string) *Model {
	t.Helper()
	old, _ := json.Marshal(evil)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	harmless, _ := json.Marshal(strings.Repeat("x", 60) + "\n" + strings.Repeat("y", 60))
	var c Model
	if err := json.Unmarshal(bytes.ReplaceAll(b, old, harmless), &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

func TestOddSessions(t *testing.T) {
	for name, c := range map[string]struct {
		s     store.Session
		steps []store.Step
		want  string
	}{
		"ended before anything was measured": {store.Session{Command: "tune", State: "failed", Stopped: "no route"}, nil, "ended before the service was measured"},
		"nothing tried":                      {store.Session{Command: "tune", AsFound: 50, Final: 51}, nil, "50 points/s as found; nothing was tried."},
		"one put back":                       {store.Session{Command: "tune", AsFound: 50}, []store.Step{{Seq: 1, Verdict: experiment.Verdict{Outcome: experiment.NoDifference}}}, "the one change that was tried was not better"},
		"interrupted in a step":              {store.Session{Command: "tune", AsFound: 50, State: "interrupted"}, []store.Step{{Seq: 1, Plan: remedy.Plan{Title: "p"}}}, "goes on from here"},
		"negative score":                     {store.Session{Command: "tune", AsFound: -3, Final: 20}, []store.Step{{Kept: true, Verdict: experiment.Verdict{Outcome: experiment.Improved, CandidateScore: 20}}}, "20 points/s instead of -3 points/s"},
		"final not measured":                 {store.Session{Command: "tune", AsFound: 10}, []store.Step{{Kept: true, Verdict: experiment.Verdict{Outcome: experiment.Improved, CandidateScore: 20, Effect: 1, Pairs: 1}}}, "×2.00 the score"},
		"try":                                {store.Session{Command: "try"}, []store.Step{{Plan: remedy.Plan{Title: "more workers"}, Verdict: experiment.Verdict{Outcome: experiment.Regressed, Pairs: 3, Effect: -0.1, Low: -0.12, High: -0.08}}}, "more workers: regressed"},
		"runs that are gone":                 {store.Session{Command: "tune", AsFound: 5, AsFoundRun: 900, FinalRun: 901}, nil, "No diagnostic run was stored"},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := store.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			if err := st.SaveSession(&c.s); err != nil {
				t.Fatal(err)
			}
			for _, s := range c.steps {
				s.Session = c.s.ID
				if err := st.SaveStep(&s); err != nil {
					t.Fatal(err)
				}
			}
			m, err := Build(context.Background(), st, c.s.ID, Options{})
			if err != nil {
				t.Fatal(err)
			}
			page := render(t, HTML, m)
			if !strings.Contains(page, c.want) {
				t.Errorf("the page does not hold %q; headline %q", c.want, m.Headline)
			}
			render(t, Markdown, m)
			render(t, JSON, m)
			render(t, SessionText, m)
		})
	}
}

func TestBuildErrors(t *testing.T) {
	st, id := sampleStore(t)
	if _, err := Build(context.Background(), st, id+1, Options{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(ctx, st, id, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestServiceThatIsOnlyThereAfterwards(t *testing.T) {
	b, a := before(), after()
	a.Services["cache"] = evidence.ServiceUse{CPU: 1}
	parts := compareCPU(b, a)
	if n := len(parts); n != 6 || parts[3].Name != "cache" || parts[3].Before != 0 || parts[3].After == 0 {
		t.Errorf("got %+v", parts)
	}
}

func TestCommandsOnce(t *testing.T) {
	got := commands(remedy.Plan{Changes: []change.Change{{Command: "a"}, {Command: ""}, {Command: "b"}, {Command: "a"}}})
	if strings.Join(got, " ") != "a b" {
		t.Errorf("got %v", got)
	}
}

func TestRunText(t *testing.T) {
	ev := before()
	ev.Load.Routes[0].Apdex = nil // nothing was asked
	run := &store.Run{ID: 7, Label: "baseline", Score: 98.6, Evidence: ev}
	var b bytes.Buffer
	if err := RunText(&b, run, run, Most); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "goodput") {
		t.Errorf("a run of an older version has a goodput:\n%s", b.String())
	}
	ev.Load.Latency = load.Percentiles{P50: 20 * time.Millisecond} // the others are not known
	ev.Load.ScoreText = "score = right answers\x1b[31m per second"
	b.Reset()
	if err := RunText(&b, run, run, Most); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"latency p50 20.0 ms  p95 n/a  p99 n/a  max n/a", "goodput 119/s   Apdex 0.96   score = right answers", "Apdex [T]", "0.97 [500 ms]", "–"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("holds a control character")
	}
}
