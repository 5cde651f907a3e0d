package supervisor

import (
	"fmt"
	"regexp"
	"strings"
)

// pairs of environment= (supervisor/datatypes.py, dict_of_key_value_pairs):
// KEY=value parted by commas or white space, a value bare or in quotes of
// either kind, which know no escapes.
var (
	pair    = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|[^\s,"']*)`)
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// EnvGet finds a variable in the text of environment=. The last one counts.
func EnvGet(text, name string) (string, bool) {
	value, ok := "", false
	for _, m := range pair.FindAllStringSubmatch(text, -1) {
		if m[1] == name {
			value, ok = strings.ReplaceAll(strings.Trim(m[2], `"'`), "%%", "%"), true
		}
	}
	return value, ok
}

// EnvSet returns the text of environment= with a variable set: its last place
// is edited, or it is added at the end. All other bytes stay.
func EnvSet(text, name, value string) (string, error) {
	if !envName.MatchString(name) || strings.ContainsAny(value, "\"\r\n\x00") {
		return "", fmt.Errorf("set %s in environment=: supervisor cannot hold %q", name, value)
	}
	written := `"` + strings.ReplaceAll(value, "%", "%%") + `"`
	at := []int(nil)
	for _, m := range pair.FindAllStringSubmatchIndex(text, -1) {
		if text[m[2]:m[3]] == name {
			at = m
		}
	}
	switch {
	case at != nil:
		return text[:at[4]] + written + text[at[5]:], nil
	case strings.TrimSpace(text) == "":
		return name + "=" + written, nil
	}
	return strings.TrimRight(text, ", \t") + "," + name + "=" + written, nil
}
