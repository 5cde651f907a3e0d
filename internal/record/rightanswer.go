package record

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

var (
	pageTitle = lazyregexp.New(`(?i)<title>[^<>\r\n]{1,80}</title>`)
	// plainField of a JSON object is no id.
	plainField = lazyregexp.New(`^[A-Za-z_]+$`)
)

// rightAnswer is a text that the recorded answer has and another one has not, so that an
// error page, or a refusal as JSON with status 200, is no right answer: the name of a JSON
// object's first field (and that it is true), or a page's title. "" if there is none that stays the same.
func (e *harEntry) rightAnswer() string {
	if e.Answer.Status != 200 || e.Request.Method == "HEAD" {
		return ""
	}
	switch kind := e.answerType(); {
	case strings.HasSuffix(kind, "json"):
		return firstField(e.body)
	case kind == "text/html":
		title := pageTitle.FindString(e.body)
		if strings.ContainsAny(title, "0123456789&") { // counts, dates, names in another writing
			return ""
		}
		return title
	}
	return ""
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
