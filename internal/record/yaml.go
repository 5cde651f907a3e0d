package record

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// scenario is what is rendered as scenario.yaml. Texts are templates: what
// comes from a source went through literal.
type scenario struct {
	comment  []string
	name     string
	settings []pair // top-level keys with YAML values
	pools    []pool
	sessions []session
	// setup and teardown are done once, before and after the load.
	setup, teardown []step
}

// phase is the list of steps that are done once; nil for those of sessions.
func (s *scenario) phase(name string) *[]step {
	switch name {
	case "setup":
		return &s.setup
	case "teardown":
		return &s.teardown
	}
	return nil
}

type pair struct{ key, value string }

// pool is a CSV file. order "" is the default.
type pool struct {
	name, order string
	header      []string
	rows        [][]string
}

type session struct {
	comment []string
	name    string
	weight  int
	draw    []pair
	steps   []step
}

type step struct {
	comment []string
	name    string
	request string
	route   string
	draw    []pair
	headers []pair
	form    []pair // a key may occur several times
	json    string // YAML flow, "" if none
	body    string
	// multipart instead of form, json or body.
	multipart []part
	repeat    int
	status    []int
	typ       string
	contains  string // that a right answer has
	lacks     string // that no right answer has
	equals    pair   // path into a JSON answer and the value there, as YAML
	extract   []extract
	assets    []string
	think     time.Duration
}

// part of a multipart body; a file name makes it a file.
type part struct{ name, text, file, typ string }

// extract is one of json, header and regexp. value is what the source had.
type extract struct{ name, json, header, cookie, regexp, value string }

// literal makes a text stand for itself in a template.
func literal(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// writer renders YAML, two spaces a level.
type writer struct{ bytes.Buffer }

func (w *writer) line(indent int, format string, args ...any) {
	w.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

func (w *writer) comment(indent int, lines []string) {
	for _, l := range lines {
		for _, part := range wrap(printable(l), 78-2*indent) {
			w.line(indent, "# %s", part)
		}
	}
}

// files renders the scenario and its pools.
func (s *scenario) files() ([]File, error) {
	var w writer
	w.comment(0, s.comment)
	w.line(0, "version: 1")
	w.line(0, "name: %s", quote(s.name))
	for _, p := range s.settings {
		w.line(0, "%s: %s", p.key, p.value)
	}
	var out []File
	if len(s.pools) > 0 {
		w.line(0, "\npools:")
	}
	for _, p := range s.pools {
		file := "pools/" + p.name + ".csv"
		order := ""
		if p.order != "" {
			order = ", order: " + p.order
		}
		w.line(1, "%s: {file: %s%s}", p.name, file, order)
		data, err := p.csv()
		if err != nil {
			return nil, err
		}
		out = append(out, File{file, data})
	}
	w.line(0, "\nsessions:")
	for i := range s.sessions {
		w.session(&s.sessions[i])
	}
	w.once("setup", s.setup)
	w.once("teardown", s.teardown)
	return append([]File{{scenarioFile, bytes.Clone(w.Bytes())}}, out...), nil
}

func (p *pool) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(p.header); err != nil {
		return nil, fmt.Errorf("write pool %s: %w", p.name, err)
	}
	for _, r := range p.rows {
		if len(r) == 1 && r[0] == "" {
			b.WriteString("") // a lone empty field must be quoted, else it is an empty line
			w.Flush()
			b.WriteString("\"\"\n")
			continue
		}
		if err := w.Write(r); err != nil {
			return nil, fmt.Errorf("write pool %s: %w", p.name, err)
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func (w *writer) session(s *session) {
	w.comment(1, s.comment)
	w.line(1, "- name: %s", quote(s.name))
	if s.weight > 1 {
		w.line(2, "weight: %d", s.weight)
	}
	w.flow(2, "draw", s.draw)
	w.line(2, "steps:")
	for i := range s.steps {
		w.step(&s.steps[i])
	}
}

// once writes steps that are done once, at the top level.
func (w *writer) once(key string, steps []step) {
	if len(steps) == 0 {
		return
	}
	w.line(0, "\n%s:", key)
	var inner writer
	for i := range steps {
		inner.step(&steps[i])
	}
	for line := range strings.Lines(inner.String()) {
		w.WriteString(strings.TrimPrefix(line, "    "))
	}
}

func (w *writer) step(s *step) {
	w.comment(3, s.comment)
	if s.name != "" {
		w.line(3, "- name: %s", quote(s.name))
		w.line(4, "request: %s", quote(s.request))
	} else {
		w.line(3, "- request: %s", quote(s.request))
	}
	if s.route != "" {
		w.line(4, "route: %s", quote(s.route))
	}
	w.flow(4, "draw", s.draw)
	if s.repeat > 1 {
		w.line(4, "repeat: %d", s.repeat)
	}
	w.block(4, "headers", s.headers)
	w.block(4, "form", s.form)
	if s.json != "" {
		w.line(4, "json: %s", s.json)
	}
	if s.body != "" {
		w.line(4, "body: %s", double(s.body))
	}
	w.multipart(4, s.multipart)
	w.expect(s)
	if len(s.extract) > 0 {
		w.line(4, "extract:")
		for _, x := range s.extract {
			switch {
			case x.json != "":
				w.line(5, "%s: {json: %s}", x.name, double(x.json))
			case x.header != "":
				w.line(5, "%s: {header: %s}", x.name, x.header)
			case x.cookie != "":
				w.line(5, "%s: {cookie: %s}", x.name, quote(x.cookie))
			default:
				w.line(5, "%s: {regexp: %s}", x.name, double(x.regexp))
			}
		}
	}
	if len(s.assets) > 0 {
		w.line(4, "assets:")
		for _, a := range s.assets {
			w.line(5, "- %s", quote(a))
		}
	}
	if s.think > 0 {
		w.line(4, "think: %s", s.think)
	}
}

func (w *writer) expect(s *step) {
	var parts []string
	switch {
	case len(s.status) == 1 && s.status[0] != 200:
		parts = append(parts, fmt.Sprintf("status: %d", s.status[0]))
	case len(s.status) > 1:
		var list []string
		for _, n := range s.status {
			list = append(list, strconv.Itoa(n))
		}
		parts = append(parts, "status: ["+strings.Join(list, ", ")+"]")
	}
	if s.typ != "" {
		parts = append(parts, "type: "+double(s.typ))
	}
	if s.contains != "" {
		parts = append(parts, "contains: "+double(s.contains))
	}
	if s.equals.key != "" {
		parts = append(parts, fmt.Sprintf("json: {%s: %s}", double(s.equals.key), s.equals.value))
	}
	if s.lacks != "" {
		parts = append(parts, "not_contains: "+double(s.lacks))
	}
	if len(parts) > 0 {
		w.line(4, "expect: {%s}", strings.Join(parts, ", "))
	}
}

func (w *writer) flow(indent int, key string, pairs []pair) {
	if len(pairs) == 0 {
		return
	}
	var parts []string
	for _, p := range pairs {
		parts = append(parts, p.key+": "+p.value)
	}
	w.line(indent, "%s: {%s}", key, strings.Join(parts, ", "))
}

// multipart writes the parts of a form with files; those of the same name are
// a list.
func (w *writer) multipart(indent int, parts []part) {
	var names []string
	values := map[string][]string{}
	for _, p := range parts {
		if p.name == "" || strings.ContainsAny(p.name+p.file, "\"\r\n") {
			continue
		}
		if values[p.name] == nil {
			names = append(names, p.name)
		}
		values[p.name] = append(values[p.name], p.yaml())
	}
	if len(names) > 0 {
		w.line(indent, "multipart:")
	}
	for _, name := range names {
		if all := values[name]; len(all) == 1 {
			w.line(indent+1, "%s: %s", double(name), all[0])
		} else {
			w.line(indent+1, "%s: [%s]", double(name), strings.Join(all, ", "))
		}
	}
}

// yaml of one part: a text, or its text with a file name and a type.
func (p *part) yaml() string {
	if strings.ContainsAny(p.typ, "\"\r\n") {
		p.typ = ""
	}
	if p.file == "" && p.typ == "" {
		return double(p.text)
	}
	fields := "text: " + double(p.text)
	if p.file != "" {
		fields += ", name: " + double(p.file)
	}
	if p.typ != "" {
		fields += ", type: " + double(p.typ)
	}
	return "{" + fields + "}"
}

// block writes pairs; values of the same key become a list.
func (w *writer) block(indent int, key string, pairs []pair) {
	if len(pairs) == 0 {
		return
	}
	w.line(indent, "%s:", key)
	for i, p := range pairs {
		var values []string
		for j, q := range pairs {
			if q.key == p.key {
				if j < i {
					values = nil
					break
				}
				values = append(values, double(q.value))
			}
		}
		switch len(values) {
		case 0: // written with the first of its key
		case 1:
			w.line(indent+1, "%s: %s", double(p.key), values[0])
		default:
			w.line(indent+1, "%s: [%s]", double(p.key), strings.Join(values, ", "))
		}
	}
}

// names makes names for pools and variables that are used once.
type names map[string]bool

// unique makes a name of letters, digits and dashes of a text.
func (n names) unique(text string) string {
	base := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 32
		}
		return ' '
	}, text), " ")
	base = strings.Join(strings.Fields(base), "-")
	if len(base) > 40 {
		base = strings.Trim(base[:40], "-")
	}
	if base == "" || base[0] >= '0' && base[0] <= '9' {
		base = strings.TrimSuffix("p-"+base, "-")
	}
	name := base
	for i := 2; n[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	n[name] = true
	return name
}
