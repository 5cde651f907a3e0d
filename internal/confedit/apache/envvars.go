package apache

import (
	"regexp"
	"strings"
)

var pairs = regexp.MustCompile(`^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

// Environment reads the variables that a shell file like Debian's
// /etc/apache2/envvars sets. It does not run the shell: conditions are not
// looked at and the last value of a name counts, which is what Debian's file
// comes to for the one Apache in /etc/apache2. $NAME, ${NAME} and
// ${NAME:-word} are replaced; a value with $(…) or backquotes is left out.
func Environment(text []byte) map[string]string {
	out := map[string]string{}
	for row := range strings.Lines(string(text)) {
		m := pairs.FindStringSubmatch(strings.TrimRight(row, "\r\n"))
		if m == nil || strings.Contains(m[2], "$(") || strings.Contains(m[2], "`") {
			continue
		}
		value := strings.TrimSpace(m[2])
		if i := strings.Index(value, " #"); i >= 0 {
			value = strings.TrimSpace(value[:i])
		}
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			quote := value[0]
			value = value[1 : n-1]
			if quote == '\'' {
				out[m[1]] = value
				continue
			}
		}
		out[m[1]] = shellVariable.ReplaceAllStringFunc(value, func(s string) string {
			v := shellVariable.FindStringSubmatch(s)
			if got := out[v[1]+v[3]]; got != "" || v[2] == "" {
				return got
			}
			return v[2][2:]
		})
	}
	return out
}

var shellVariable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}|([A-Za-z_][A-Za-z0-9_]*))`)
