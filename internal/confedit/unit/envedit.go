package unit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/textedit"
)

var (
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	plain   = regexp.MustCompile(`^[A-Za-z0-9_./:,%+@=-]+$`)
)

// Set gives a variable a value, written so that systemd and a shell both read
// it back. The last assignment is edited in place and keeps its quotes; if
// there is none, a line is added behind a commented-out one, or else at the
// end.
func (f *EnvFile) Set(key, value string) (textedit.Edit, error) {
	if v, ok := f.Get(key); ok && v.Text == value {
		return textedit.Edit{}, nil
	}
	if !envName.MatchString(key) || strings.ContainsAny(value, "\r\n\x00") {
		return textedit.Edit{}, fmt.Errorf("set %q to %q in %s: an environment file cannot hold that", key, value, f.Path)
	}
	for i := len(f.vars) - 1; i >= 0; i-- {
		v := f.vars[i]
		if v.key != key {
			continue
		}
		return f.apply(key, value, textedit.Edit{Path: f.Path, From: v.at, To: v.end, New: encodeEnv(value, f.text[v.at:v.end])})
	}
	at := len(f.text)
	for _, l := range textedit.Lines(f.text) {
		body, ok := strings.CutPrefix(strings.TrimLeft(f.text[l.From:l.Body], spaces), "#")
		if name, _, has := strings.Cut(strings.TrimSpace(body), "="); ok && has && name == key && l.To > l.Body {
			at = l.To
			break
		}
	}
	return f.apply(key, value, textedit.InsertLine(f.Path, f.text, at, key+"="+encodeEnv(value, "")))
}

// encodeEnv writes value in the quotes that old begins with, where they serve.
func encodeEnv(value, old string) string {
	old = strings.TrimLeft(old, " \t")
	switch {
	case strings.HasPrefix(old, "'") && !strings.Contains(value, "'"):
		return "'" + value + "'"
	case !strings.HasPrefix(old, `"`) && (value == "" || plain.MatchString(value)):
		return value
	}
	return `"` + escapeEnv(value, '"') + `"`
}

// escapeEnv writes text for a place inside quotes; "" if that cannot be.
func escapeEnv(text string, quote byte) string {
	switch {
	case quote == '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`).Replace(text)
	case quote == '\'' && !strings.Contains(text, "'"), quote == 0 && plain.MatchString(strings.ReplaceAll(text, " ", "_")):
		return text
	}
	return ""
}

// apply makes an edit and takes it back if the variable does not read as value
// or another would be read differently.
func (f *EnvFile) apply(key, value string, e textedit.Edit) (textedit.Edit, error) {
	was, others := f.text, f.others(key)
	f.text = textedit.Apply(was, e)
	f.parse()
	if v, ok := f.Get(key); !ok || v.Text != value || !slices.Equal(others, f.others(key)) {
		f.text = was
		f.parse()
		return textedit.Edit{}, fmt.Errorf("set %s to %q in %s: the new text would be read differently; is a quote left open in the file?", key, value, f.Path)
	}
	return e, nil
}

func (f *EnvFile) others(key string) []string {
	var out []string
	for _, v := range f.vars {
		if v.key != key {
			out = append(out, v.key+"="+v.value.String())
		}
	}
	return out
}
