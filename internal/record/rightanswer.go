package record

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

var (
	pageTitle = lazyregexp.New(`(?i)<title>[^<>\r\n]{1,80}</title>`)
	// wideTitle stands on lines of its own, as templates write it.
	wideTitle = lazyregexp.New(`(?i)<title>([^<>]{1,400})</title>`)
	// pageEnd is what a page lacks that ended in an error.
	pageEnd = lazyregexp.New(`(?i)</html>`)
	// plainField of a JSON object is no id.
	plainField = lazyregexp.New(`^[A-Za-z_]+$`)
)

// rightAnswer is a text that the recorded answer has and another one has not, so that an
// error page, or a refusal as JSON with status 200, is no right answer: the name of a JSON
// object's first field (and that it is true), or a page's title, else its end. "" if there is
// none that stays the same.
func (e *harEntry) rightAnswer() string {
	if e.Answer.Status != 200 || e.Request.Method == "HEAD" {
		return ""
	}
	switch kind := e.answerType(); {
	case strings.HasSuffix(kind, "json"):
		return firstField(e.body)
	case kind == "text/html":
		title := pageTitle.FindString(e.body)
		if title == "" {
			title = titleLine(e.body)
		}
		if title == "" || strings.ContainsAny(title, "0123456789&") { // counts, dates, names in another writing
			return pageEnd.FindString(e.body)
		}
		return title
	}
	return ""
}

// titlesOf the pages among entries.
func titlesOf(entries []*harEntry) (titles []string) {
	for _, e := range entries {
		if right := e.rightAnswer(); strings.HasSuffix(right, titleEnd) && !slices.Contains(titles, right) {
			titles = append(titles, right)
		}
	}
	return titles
}

// titleEnd is where a page's title ends.
const titleEnd = "</title>"

// ofSite leaves the end of a title out that others of the session begin with: it is the
// site's, and a page that has it today (no results) may say more tomorrow.
func (h *harDraft) ofSite(right string) string {
	site, ok := strings.CutSuffix(right, titleEnd)
	if ok && slices.ContainsFunc(h.titles, func(t string) bool { return t != right && strings.HasPrefix(t, site) }) {
		return site
	}
	return right
}

// leastTitle letters: a shorter line of a title stands elsewhere in pages by chance.
const leastTitle = 6

// titleLine is the longest line of a title that stands on several; "" if it is too short.
func titleLine(body string) (line string) {
	m := wideTitle.FindStringSubmatch(body)
	if m == nil {
		return ""
	}
	for l := range strings.Lines(m[1]) {
		if l = strings.TrimSpace(l); len(l) > len(line) {
			line = l
		}
	}
	if len(line) < leastTitle {
		return ""
	}
	return line
}

// errorFields begin answers that refuse.
var errorFields = []string{"error", "errors"}

func firstField(body string) string {
	d := json.NewDecoder(strings.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	t, err := d.Token()
	name, ok := t.(string)
	quoted := `"` + name + `"`
	if err != nil || !ok || !plainField.MatchString(name) || slices.Contains(errorFields, name) || !strings.Contains(body, quoted) {
		return ""
	}
	if t, err := d.Token(); err == nil && t == true { // a refusal says false
		if m := regexp.MustCompile(quoted + `\s*:\s*true`).FindString(body); len(m) < 60 && !strings.ContainsAny(m, "\r\n") && m != "" {
			return m
		}
	}
	return quoted
}

// worth gives points to steps alone where files of pages outnumber them: a page with two
// hundred scripts, all sent within a moment, would else be two hundred points.
func (h *harDraft) worth() {
	var steps []string
	for _, s := range h.out.sessions {
		for _, st := range s.steps {
			route := st.route
			if route == "" {
				route, _, _ = strings.Cut(st.request, "?")
			}
			if !strings.Contains(route, "${") && !slices.Contains(steps, route) {
				steps = append(steps, route)
			}
		}
	}
	if h.assets <= int(h.taken)-h.assets || len(steps) == 0 {
		return
	}
	weights := make([]string, len(steps))
	for i, route := range steps {
		weights[i] = double(route) + ": 1"
	}
	h.out.settings = append(h.out.settings, pair{"score", "{default_weight: 0, weights: {" + strings.Join(weights, ", ") + "}}"})
	h.once("Files of pages are fetched and checked, but score nothing, since they outnumber the steps: see score.")
}

const (
	// usualUsers of a run, its usual time-out, and within which time an answer scores as a
	// rule: what package load takes where a scenario says nothing.
	usualUsers     = 8
	usualTimeout   = 5 * time.Second
	usualObjective = 500 * time.Millisecond
	// mostTimeout that is written: a run of a few windows must end.
	mostTimeout = time.Minute
)

// patience gives a service time that was slow for one visitor alone: with all users at once
// its answers take up to as many times as long, which is no time-out, and an answer that
// never comes within the objective would score nothing before and little after, whatever
// became faster.
func (h *harDraft) patience() {
	if all := usualUsers * h.slowest; all > usualTimeout {
		limit := min(all, mostTimeout).Round(time.Second)
		h.out.settings = append(h.out.settings, pair{"timeout", limit.String()})
		h.once(fmt.Sprintf("An answer took %s with one visitor alone, so requests may take %s (timeout).", h.slowest.Round(10*time.Millisecond), limit))
	}
	scored := slices.ContainsFunc(h.out.settings, func(p pair) bool { return p.key == "score" })
	if h.slowest > usualObjective && !scored {
		h.out.settings = append(h.out.settings, pair{"score", "{default_weight: 1}"})
		h.once(fmt.Sprintf("An answer took %s with one visitor alone, so every right one scores, however late, not only those within %s (score).", h.slowest.Round(10*time.Millisecond), usualObjective))
	}
}

// took is how long the answer took when it was recorded; 0 if the source does not say.
func (e *harEntry) took() time.Duration {
	return time.Duration(min(max(e.Time, 0), 1e6) * float64(time.Millisecond))
}
