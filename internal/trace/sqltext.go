package trace

import (
	"regexp"
	"strings"
)

var (
	reVerb  = regexp.MustCompile(`(?s)^(?:\s|\(|/\*[^!].*?\*/|--\s[^\n]*\n|#[^\n]*\n)*([A-Za-z]+)`)
	reNames = regexp.MustCompile("`[^`]*`|[\\w$]+|\\S")
)

// sqlVerb is the statement's first word, upper case.
func sqlVerb(sql string) string {
	if m := reVerb.FindStringSubmatch(sql); m != nil {
		return strings.ToUpper(m[1])
	}
	return ""
}

// sqlTables lists the tables of a fingerprint.
func sqlTables(fingerprint string) []string {
	words := reNames.FindAllString(fingerprint, -1)
	var out []string
	list := false // inside FROM a, b
	for i := 0; i < len(words); i++ {
		up := strings.ToUpper(words[i])
		starts := up == "FROM" || up == "JOIN" || up == "STRAIGHT_JOIN" || up == "INTO" || up == "UPDATE" && i == 0 || (up == "REPLACE" || up == "INSERT") && i == 0
		switch {
		case starts, list && up == ",":
			for i+1 < len(words) && modifier(words[i+1]) {
				i++
			}
			name, n := tableName(words[i+1:])
			if name == "" {
				list = false
				continue
			}
			out = append(out, name)
			i += n
			list = up != "INTO"
		case up == "WHERE" || up == "SET" || up == "GROUP" || up == "ORDER" || up == "LIMIT" || up == "SELECT" || up == "ON" || up == "(" || up == ")":
			list = false
		}
	}
	return out
}

func modifier(w string) bool {
	switch strings.ToUpper(w) {
	case "IGNORE", "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "INTO", "QUICK":
		return true
	}
	return false
}

// tableName reads [schema.]table at the beginning of words.
func tableName(words []string) (string, int) {
	if len(words) == 0 || !isNameWord(words[0]) || strings.EqualFold(words[0], "DUAL") {
		return "", 0
	}
	name, n := strings.Trim(words[0], "`"), 1
	if len(words) > 2 && words[1] == "." && isNameWord(words[2]) {
		name, n = name+"."+strings.Trim(words[2], "`"), 3
	}
	return name, n
}

func isNameWord(w string) bool {
	c := w[0]
	return c == '`' || c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// literalsOf is what sqlLiterals finds.
type literalsOf struct {
	values []string
	open   bool // placeholders
	rows   int  // of VALUES
}

var reLiteral = regexp.MustCompile("(?s)/\\*[^!].*?\\*/|--\\s[^\\n]*|#[^\\n]*|'(?:[^'\\\\]|\\\\.|'')*'?|\"(?:[^\"\\\\]|\\\\.|\"\")*\"?|`[^`]*`?|[A-Za-z_$@\\x80-\\xff][\\w$@\\x80-\\xff]*|\\$[0-9]+|[0-9.][\\w.]*|\\S")

// sqlLiterals reads the values of a statement in order.
func sqlLiterals(sql string) literalsOf {
	var out literalsOf
	depth, values := 0, false
	for _, w := range reLiteral.FindAllString(sql, -1) {
		switch c := w[0]; {
		case strings.HasPrefix(w, "/*") || strings.HasPrefix(w, "--") || c == '#':
		case c == '\'' || c == '"' || c >= '0' && c <= '9' || c == '.' && len(w) > 1:
			out.values = append(out.values, w)
		case c == '?' || c == '$' && len(w) > 1 && w[1] >= '0' && w[1] <= '9':
			out.open = true
		case c == '(':
			if values && depth == 0 {
				out.rows++
			}
			depth++
		case c == ')':
			depth--
		case len(w) >= 5 && (strings.EqualFold(w, "VALUES") || strings.EqualFold(w, "VALUE")) && depth == 0 && out.rows == 0:
			values = true
		case depth == 0 && c != ',':
			values = false
		}
	}
	return out
}
