package report

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"kasoku/internal/await"
	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// element is one tag of a page with its parents.
type element struct {
	tag  string
	attr map[string]string
	text string // of all that is in it
}

// voids have no end tag (HTML, 13.1.2).
var voids = []string{"meta", "br", "link", "img", "input", "hr"}

// walk reads a page strictly: every tag is closed where it was opened, and no
// attribute comes twice. The tree builder would mend all that.
func walk(t *testing.T, page string) []*element {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	var all, open []*element
	for {
		kind := z.Next()
		tok := z.Token()
		switch kind {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("<%s> is not closed", open[len(open)-1].tag)
			}
			return all
		case html.TextToken:
			for _, e := range open {
				e.text += tok.Data
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			e := &element{tag: tok.Data, attr: map[string]string{}}
			for _, a := range tok.Attr {
				if _, twice := e.attr[a.Key]; twice {
					t.Errorf("<%s> has %s twice", e.tag, a.Key)
				}
				e.attr[a.Key] = a.Val
			}
			all = append(all, e)
			if kind == html.StartTagToken && !slices.Contains(voids, e.tag) {
				open = append(open, e)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1].tag != tok.Data {
				t.Fatalf("</%s> closes nothing that is open: %+v", tok.Data, open[len(open)-1])
			}
			open = open[:len(open)-1]
		}
	}
}

func byID(all []*element, id string) string {
	for _, e := range all {
		if e.attr["id"] == id {
			return strings.ReplaceAll(e.text, "\u00a0", " ")
		}
	}
	return "(none)"
}

func TestPageIsSound(t *testing.T) {
	m := sample(t)
	m.Seen.Evidence = fullEvidence("")
	m.Work = sampleWork()
	page := render(t, HTML, m)
	all := walk(t, page)
	ids, levels := map[string]bool{}, 0
	for _, e := range all {
		if id, ok := e.attr["id"]; ok {
			if ids[id] {
				t.Errorf("two elements have the ID %s", id)
			}
			ids[id] = true
		}
		switch {
		case e.tag == "svg" && (e.attr["aria-label"] == "" || e.attr["role"] == ""):
			t.Error("a picture has no name or role")
		case len(e.tag) == 2 && e.tag[0] == 'h' && e.tag[1] >= '1' && e.tag[1] <= '6':
			level := int(e.tag[1] - '0')
			if level > levels+1 {
				t.Errorf("a heading of level %d after one of %d: %s", level, levels, e.text)
			}
			levels = level
			if strings.TrimSpace(e.text) == "" {
				t.Error("a heading without text")
			}
		case e.tag == "html" && e.attr["lang"] == "":
			t.Error("the page has no language")
		case e.attr["class"] == "scroll" && (e.attr["tabindex"] != "0" || e.attr["aria-label"] == ""):
			t.Error("what scrolls cannot be reached by keyboard, or has no name")
		}
	}
	for _, e := range all {
		for _, name := range []string{"href", "aria-labelledby"} {
			to, ok := e.attr[name]
			if ok && !ids[strings.TrimPrefix(to, "#")] {
				t.Errorf("%s leads to %s, which is not there", e.tag, to)
			}
		}
	}
	for _, id := range []string{"result", "kept", "rejected", "left", "work", "evidence", "seen", "sure", "again", "step-1", "step-5"} {
		if !ids[id] {
			t.Errorf("there is no %s", id)
		}
	}
	if i, j, k := strings.Index(page, `id="kept"`), strings.Index(page, `id="left"`), strings.Index(page, `id="seen"`); i > j || j > k {
		t.Error("the order is not that of a busy reader")
	}
}

// TestPageEqualsStore: what the page says is what the store holds.
func TestPageEqualsStore(t *testing.T) {
	st, id := sampleStore(t)
	m, err := Build(context.Background(), st, id, Options{Now: start.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	session, err := st.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := st.Steps(id)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := st.Runs(store.RunFilter{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	all, md := walk(t, render(t, HTML, m)), render(t, Markdown, m)
	names := map[string]string{"as-found": "As found", "final": "At the end", "factor": "Factor", "after-restart": "After restarting every service", "took": "Time taken"}
	for id, want := range map[string]string{
		"as-found": points(session.AsFound, session.Unit()), "final": points(session.Final, session.Unit()), "factor": ui.Factor(session.Final / session.AsFound),
		"after-restart": points(session.AfterRestart, session.Unit()) + " (" + ui.Percent(session.AfterRestart/session.Final-1) + ")",
		"took":          fmt.Sprintf("%s, %d runs", ui.Duration(session.Ended.Sub(session.Started)), len(runs)), "runs": fmt.Sprint(len(runs)),
		"alpha": ui.Share(experiment.DefaultRule().Alpha), "max-pairs": fmt.Sprint(experiment.DefaultRule().MaxPairs),
	} {
		if got := byID(all, id); got != want {
			t.Errorf("%s: the page says %q, the store %q", id, got, want)
		}
		if line := "| " + names[id] + " | " + want + " |\n"; names[id] != "" && !strings.Contains(md, line) {
			t.Errorf("Markdown does not hold %q", line)
		}
	}
	for _, want := range []string{fmt.Sprintf("- Runs: %d runs: ", len(runs)), "false-positive rate of " + ui.Share(experiment.DefaultRule().Alpha), fmt.Sprintf("in at most %d pairs", experiment.DefaultRule().MaxPairs),
		fmt.Sprintf("- Evidence: Run %d: 1 source covered it; not: php-fpm status of php: the pool has no status page. Run %d: 0 sources covered it.", session.AsFoundRun, session.FinalRun), "- Limits: "} {
		if !strings.Contains(md, want) {
			t.Errorf("Markdown does not hold %q", want)
		}
	}
	if len(steps) == 0 {
		t.Fatal("no steps")
	}
	var back Model
	if err := json.Unmarshal([]byte(render(t, JSON, m)), &back); err != nil || len(back.Steps) != len(steps) {
		t.Fatalf("JSON: %v, %d steps", err, len(back.Steps))
	}
	for i, s := range steps {
		if want, _ := json.Marshal(s); !same(t, want, back.Steps[i].Step) {
			t.Errorf("JSON of step %d is not the store's", s.Seq)
		}
	}
	if want, _ := json.Marshal(session); !same(t, want, back.Session) {
		t.Error("JSON of the session is not the store's")
	}
	for _, s := range steps {
		place := byID(all, fmt.Sprintf("step-%d", s.Seq))
		if place == "(none)" {
			t.Errorf("step %d is not told", s.Seq)
		}
		if s.Verdict.Pairs > 0 {
			if got := byID(all, fmt.Sprintf("effect-%d", s.Seq)); got != Effect(s.Verdict) {
				t.Errorf("step %d: the page says %q, the store %q", s.Seq, got, Effect(s.Verdict))
			}
			if !strings.Contains(md, mdText(Effect(s.Verdict))) {
				t.Errorf("step %d: Markdown does not hold %q", s.Seq, Effect(s.Verdict))
			}
			if want := fmt.Sprintf("%s → %s", ui.Count(s.Verdict.BaselineScore), ui.Count(s.Verdict.CandidateScore)); !strings.Contains(place, want) {
				t.Errorf("step %d does not hold %q", s.Seq, want)
			}
		}
		if s.Kept != strings.Contains(place, "Undo") {
			t.Errorf("step %d: kept is %t", s.Seq, s.Kept)
		}
	}
}

func same(t *testing.T, want []byte, v any) bool {
	t.Helper()
	got, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(got) == string(want)
}

// TestLargeSessionIsSmall: forty steps with long diffs, many pairs and all
// evidence are a page that a mail takes, and a text that a pull request takes.
func TestLargeSessionIsSmall(t *testing.T) {
	await.SkipShort(t)
	m := sample(t)
	ev := fullEvidence(strings.Repeat("long text of a target ", 10))
	for i := range 400 {
		ev.Statements = append(ev.Statements, evidence.Statement{Service: "db", Fingerprint: fmt.Sprintf("SELECT %s FROM t%d WHERE id = ?", strings.Repeat("column, ", 60), i), Count: 10, Total: time.Second})
		ev.Routes = append(ev.Routes, digest.Route{Method: "GET", Route: fmt.Sprintf("/%s/%d", strings.Repeat("part/", 30), i), Count: 10})
		m.Warnings = append(m.Warnings, Warning{"run 7", strings.Repeat("a warning ", 20)})
	}
	m.Seen.Evidence = ev
	long := strings.Repeat("+    a line that was added to the file\n-    a line that was taken from it\n", 600)
	m.Steps = nil
	for i := range 40 {
		s := Step{Step: store.Step{Seq: i + 1, Kept: i%3 == 0, Tx: int64(i), Plan: remedy.Plan{Title: fmt.Sprintf("change %d", i), Why: strings.Repeat("because of numbers ", 20)},
			Verdict: experiment.Verdict{Outcome: experiment.Improved, Pairs: 30, Runs: 60, Effect: 0.1, Low: 0.05, High: 0.15, BaselineScore: 100, CandidateScore: 110}}}
		for p := range 30 {
			s.Verdict.Samples = append(s.Verdict.Samples, experiment.Sample{Side: experiment.Baseline, Pair: p, Score: 100 + float64(p)}, experiment.Sample{Side: experiment.Candidate, Pair: p, Score: 110 + 2*float64(p)})
		}
		for j := range 6 {
			s.Diffs = append(s.Diffs, store.Diff{Title: fmt.Sprintf("/etc/%d.conf", j), Kind: "file", Text: long})
		}
		m.Steps = append(m.Steps, s)
	}
	for i := range 10 {
		m.Flames = append(m.Flames, Flame{Run: int64(i), When: "as found", Picture: template.HTML("<svg>" + strings.Repeat("<g></g>", 20_000) + "</svg>")})
	}
	page := render(t, HTML, m)
	if len(page) > mostPage {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, want := range []string{"40. change 39", "more lines", "+10.0"} {
		if !strings.Contains(strings.ReplaceAll(page, "\u00a0", " "), want) {
			t.Errorf("the page lost %q", want)
		}
	}
	if md := render(t, Markdown, m); len([]rune(md)) > mostMarkdown || !strings.Contains(md, "40. change 39") {
		t.Errorf("Markdown has %d characters", len([]rune(md)))
	}
}

// TestManyStepsAreFolded: of a long session the pictures show what was kept, and the page folds the rest.
func TestManyStepsAreFolded(t *testing.T) {
	m := sample(t)
	m.Steps = nil
	for i := range 60 {
		s := Step{Step: store.Step{Seq: i + 1, Kept: i%20 == 0, Tx: int64(i), Plan: remedy.Plan{Title: fmt.Sprintf("change %d", i)},
			Verdict: experiment.Verdict{Outcome: experiment.NoDifference, Pairs: 3, Effect: 0.01, Low: -0.01, High: 0.03, BaselineScore: 100, CandidateScore: 101}}}
		m.Steps = append(m.Steps, s)
	}
	var labels []string
	for _, x := range timelineMarks(m) {
		labels = append(labels, x.label)
	}
	want := "As found|1  change 0|2–20  19 changes put back|21  change 20|22–40  19 changes put back|41  change 40|42–60  19 changes put back|At the end|After restarting every service"
	if got := strings.Join(labels, "|"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	page := render(t, HTML, m)
	for _, want := range []string{`<details class="item" id="put-back"><summary>57 changes</summary>`, "The 57 that were put back are not drawn", "60. change 59"} {
		if !strings.Contains(strings.ReplaceAll(page, "\u00a0", " "), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	m.Steps = m.Steps[:mostRows]
	if page := render(t, HTML, m); strings.Contains(page, `id="put-back"`) || strings.Contains(page, "not drawn") {
		t.Error("forty steps are folded")
	}
}

var (
	reTheme = regexp.MustCompile(`(?s):root \{(.*?)\}`)
	reVar   = regexp.MustCompile(`--([\w-]+): (#[0-9a-f]{3,6})`)
)

// TestContrast: every text is readable on what it stands on, in each theme
// (WCAG 2.2, 1.4.3: 4.5; pictures 1.4.11: 3).
func TestContrast(t *testing.T) {
	themes := reTheme.FindAllStringSubmatch(styleSource, -1)
	if len(themes) != 3 {
		t.Fatalf("%d themes, want light, dark and print", len(themes))
	}
	for i, theme := range themes {
		v := map[string]string{}
		for _, m := range reVar.FindAllStringSubmatch(themes[0][1]+theme[1], -1) {
			v[m[1]] = m[2] // later themes change the first
		}
		for _, p := range [][2]string{{"ink", "paper"}, {"soft", "paper"}, {"good", "paper"}, {"bad", "paper"}, {"kept", "paper"}, {"ink", "block"}, {"soft", "block"}, {"ink", "add"}, {"ink", "del"},
			{"on-dark", "s0"}, {"on-dark", "s1"}, {"on-dark", "s2"}, {"on-dark", "s3"}, {"on-dark", "s4"}, {"on-dark", "s5"}, {"on-light", "sg"}, {"on-light", "sf"}, {"on-light", "sw"}, {"on-rest", "sr"}} {
			if c := contrast(t, v[p[0]], v[p[1]]); c < 4.5 {
				t.Errorf("theme %d: %s on %s is %.2f", i, p[0], p[1], c)
			}
		}
		if c := contrast(t, v["sr"], v["paper"]); c < 3 {
			t.Errorf("theme %d: a bar as found is %.2f", i, c)
		}
	}
}

// contrast ratio of two colours (WCAG 2.2, "relative luminance").
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(s string) float64 {
		s = strings.TrimPrefix(s, "#")
		if len(s) == 3 {
			s = string([]byte{s[0], s[0], s[1], s[1], s[2], s[2]})
		}
		n, err := strconv.ParseUint(s, 16, 32)
		if err != nil || len(s) != 6 {
			t.Fatalf("no colour: %q", s)
		}
		sum := 0.0
		for i, w := range []float64{0.2126, 0.7152, 0.0722} {
			c := float64(n>>(16-8*i)&255) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += w * c
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
