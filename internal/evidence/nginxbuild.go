package evidence

import (
	"bytes"
	"fmt"
	"strings"
)

// parseNginxBuild reads what `nginx -V` writes to its standard error.
func parseNginxBuild(data []byte) (NginxBuild, error) {
	var b NginxBuild
	for raw := range bytes.Lines(data) {
		line := strings.TrimSpace(string(raw))
		if v, ok := strings.CutPrefix(line, "nginx version: "); ok {
			_, v, _ = strings.Cut(v, "/")
			b.Version, _, _ = strings.Cut(v, " ")
		}
		if args, ok := strings.CutPrefix(line, "configure arguments:"); ok {
			b.Modules = shellWords(args)
		}
	}
	if b.Version == "" {
		return b, fmt.Errorf("parse nginx -V: no version in %q", shorten(string(data), 80))
	}
	return b, nil
}

// shellWords splits at spaces outside of quotes and takes the quotes off.
func shellWords(s string) []string {
	var out []string
	var word strings.Builder
	quote, open := byte(0), false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t':
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		out = append(out, word.String())
	}
	return out
}
