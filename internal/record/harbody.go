package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formType of an HTML form's fields.
const formType = "application/x-www-form-urlencoded"

// maxRecordedBody of a request; scenarios have at most 256 KiB in all.
const maxRecordedBody = 32 << 10

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// body of a request: a form, JSON, or a text as it was.
func (h *harDraft) body(m *made) {
	post := m.entry.Request.Post
	method := m.entry.Request.Method
	if post == nil || post.Text == "" && len(post.Params) == 0 {
		if m.entry.Request.declared() > 0 {
			h.lost(m, "the HAR says how long it was, but does not hold it")
		}
		return
	}
	if method == "GET" || method == "HEAD" {
		h.once(fmt.Sprintf("%s has a body in the source, which load does not send: the body is left out.", shownRequest(&m.step)))
		return
	}
	h.tellCut(m, post)
	switch kind := baseType(post.Type); {
	case len(post.Text) > maxRecordedBody:
		h.lost(m, fmt.Sprintf("its body of %d KiB is too large for a scenario", len(post.Text)>>10))
	case kind == formType && strings.ContainsAny(firstByte(post.Text), "{[") && h.json(m, post): // sent so by a client without a type of its own
	case kind == formType && (post.Text == "" || isFormText(post.Text)):
		m.step.form = h.form(post)
	case strings.HasSuffix(kind, "json") && h.json(m, post):
	case !isLine(post.Type):
		h.lost(m, "its Content-Type is none")
	case !utf8.ValidString(post.Text) || strings.ContainsRune(post.Text, 0) || strings.ContainsRune(post.Text, utf8.RuneError):
		h.lost(m, "its body is binary")
	case post.Text == "":
		h.lost(m, "the HAR has its fields, but not its body")
	default:
		m.step.body = h.text(h.maskFields(post.Text))
		if post.Type != "" {
			addHeader(&m.step, "Content-Type", literal(post.Type))
		}
	}
}

// lost notes a body that could not be taken.
func (h *harDraft) lost(m *made, why string) {
	m.step.comment = append(m.step.comment, "The body is missing: "+why+". Fill in form:, json: or body:.")
	target, _ := maskQuery(m.entry.target())
	h.once(m.entry.Request.Method + " " + target + " has no body: " + why + ".")
}

func (h *harDraft) form(post *harPost) []pair {
	var out []pair
	add := func(name, value string) { out = append(out, pair{name, h.field(name, value)}) }
	if post.Text == "" {
		for _, p := range post.Params {
			add(unescape(p.Name), unescape(p.Value))
		}
		return out
	}
	for _, p := range strings.Split(post.Text, "&") {
		name, value, _ := strings.Cut(p, "=")
		add(unescape(name), unescape(value))
	}
	return out
}

// shortestSecret is masked where it stands again under another name, bytes.
const shortestSecret = 6

// field is a form field's or JSON key's value: a variable, masked, or as it
// was.
func (h *harDraft) field(name, value string) string {
	if v, found := h.variable(name, value); found {
		return v
	}
	if v, found := h.identifier(name, value, h.about); found {
		return v
	}
	if again := h.secrets[value]; (again || isSecretValue(name, value)) && value != "" && value != fillIn && !h.o.KeepSecrets {
		if h.secrets == nil {
			h.secrets = map[string]bool{}
		}
		h.masked[name] = true
		h.secrets[value] = len(value) >= shortestSecret
		return maskedValue
	}
	return literal(h.maskText(value))
}

// Fields of a text that looks like JSON, XML, a query of GraphQL or a form, but
// cannot be read as such.
var namedValues = []*regexp.Regexp{regexp.MustCompile(`"([^"\\\n]+)"\s*:\s*"((?:[^"\\]|\\.)*)"`), regexp.MustCompile(`<([\w:.-]+)[^<>]*>([^<>]+)</`),
	regexp.MustCompile(`([\w.-]+)\s*[:=]\s*"((?:[^"\\]|\\.)*)"`), regexp.MustCompile(`(?:^|[?&;\s])([\w.%\[\]-]+)=([^&;\s"'<>]+)`)}

// maskText masks the values of such fields that are named like a secret.
func (h *harDraft) maskText(body string) string {
	if h.o.KeepSecrets {
		return body
	}
	for _, re := range namedValues {
		var b strings.Builder
		end := 0
		for _, at := range re.FindAllStringSubmatchIndex(body, -1) {
			name, value := body[at[2]:at[3]], body[at[4]:at[5]]
			if !isSecretValue(name, value) || value == "" || value == fillIn {
				continue
			}
			h.masked[name] = true
			b.WriteString(body[end:at[4]] + maskedValue)
			end = at[5]
		}
		body = b.String() + body[end:]
	}
	return body
}

// text of another body (multipart, XML, …): variables are replaced where they
// stand; secrets in it are not known by name, except multipart fields.
func (h *harDraft) text(body string) string {
	body = h.maskText(body)
	out := literal(body)
	const field = `; name="`
	for rest := body; ; {
		at := strings.Index(rest, field)
		if at < 0 {
			return out
		}
		rest = rest[at+len(field):]
		name, after, ok := strings.Cut(rest, `"`)
		_, value, found := strings.Cut(after, "\r\n\r\n")
		value, _, closed := strings.Cut(value, "\r\n")
		if !ok || !found || !closed || value == "" {
			continue
		}
		if v := h.field(name, value); v != literal(value) {
			out = strings.Replace(out, "\r\n\r\n"+literal(value)+"\r\n", "\r\n\r\n"+v+"\r\n", 1)
		}
	}
}

// json renders a JSON body as YAML, so that its texts can hold variables.
// false: it cannot be written so.
func (h *harDraft) json(m *made, post *harPost) bool {
	d := json.NewDecoder(strings.NewReader(post.Text))
	d.UseNumber()
	var b strings.Builder
	if !h.jsonValue(d, &b, "", 0) {
		return false
	}
	if _, err := d.Token(); err != io.EOF || b.String() == "null" { // a key without a value is none
		return false
	}
	m.step.json = b.String()
	if post.Type != "application/json" && isLine(post.Type) {
		m.step.headers = append(m.step.headers, pair{"Content-Type", literal(post.Type)})
	}
	return true
}

// maxJSONDepth: the scenario's own limit is 64.
const maxJSONDepth = 30

func (h *harDraft) jsonValue(d *json.Decoder, b *strings.Builder, name string, depth int) bool {
	t, err := d.Token()
	if err != nil || depth > maxJSONDepth {
		return false
	}
	switch v := t.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case json.Number:
		if isSecretVariable(name, "") && !h.o.KeepSecrets { // a PIN
			h.masked[name] = true
			b.WriteString(double(maskedValue))
			return true
		}
		if ref, found := h.identifier(name, v.String(), h.about); found {
			b.WriteString(double(strings.TrimSuffix(ref, "}") + ":number}"))
			return true
		}
		if _, err := strconv.ParseInt(v.String(), 10, 64); err != nil {
			f, err := v.Float64()
			if err != nil || strconv.FormatFloat(f, 'g', -1, 64) != v.String() || !strings.Contains(v.String(), ".") {
				return false // YAML would write it differently
			}
		}
		b.WriteString(v.String())
	case string:
		b.WriteString(double(h.field(name, v)))
	case json.Delim:
		return h.jsonNested(d, b, v, name, depth)
	}
	return true
}

func (h *harDraft) jsonNested(d *json.Decoder, b *strings.Builder, open json.Delim, name string, depth int) bool {
	b.WriteString(open.String())
	seen := map[string]bool{}
	for i := 0; d.More(); i++ {
		if i > 0 {
			b.WriteString(", ")
		}
		key := name
		if open == '{' {
			t, err := d.Token()
			k, ok := t.(string)
			if err != nil || !ok || k == "" || seen[k] {
				return false
			}
			seen[k], key = true, k
			b.WriteString(double(k) + ": ")
		}
		if !h.jsonValue(d, b, key, depth+1) {
			return false
		}
	}
	end, err := d.Token()
	if err != nil {
		return false
	}
	b.WriteString(end.(json.Delim).String())
	return true
}

// jsonPath finds where a JSON document has a text; "" if nowhere.
func jsonPath(doc, value string) string {
	d := json.NewDecoder(bytes.NewReader([]byte(doc)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return ""
	}
	return findText(v, value, "$", 0)
}
