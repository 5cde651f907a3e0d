package trace

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/sqllog"
)

// Form is what the code should send instead of a pattern's calls.
type Form struct {
	// Text is SQL, a command of the cache, or a setting, several of them one
	// per line; values are ?, "…" stands for further ones. "" if none could be
	// built; Pattern.Better then says in words what to do.
	Text string `json:"text,omitempty"`
	// Notes are what to mind when the results are used.
	Notes []string `json:"notes,omitempty"`
}

// Form builds the batched form from the pattern's own statements: by the SQL
// grammar for databases, by the commands' names for caches. A statement that
// the grammar does not know, or that has no such form, gives an empty one.
func (p Pattern) Form() Form {
	switch p.Kind {
	case NPlusOne:
		return listForm(p.What, p.Keys)
	case RowWrites:
		return bulkForm(p.What, p.Keys)
	case SameTable:
		return mergedForm(p.Statements)
	case QueriesInLoop:
		return groupForm(p.Statements, p.Keys)
	case PrepareOnce:
		return Form{Text: p.What, Notes: []string{"sent as one text with the values put in by the driver: PDO::ATTR_EMULATE_PREPARES => true, interpolateParams=true in a Go DSN; or prepared once per connection and kept"}}
	case SingleGets, SingleRedis:
		return keysForm(p.System, p.What)
	case SameRead:
		return Form{Text: p.What, Notes: []string{"sent once; the result is kept, by its values, in a map that lives as long as the request"}}
	}
	return Form{}
}

// groupForm gives every statement of a loop's body its own form.
func groupForm(statements, keys []string) Form {
	var out Form
	var lines []string
	for _, s := range statements {
		f := Form{}
		switch verb := sqllog.Verb(s); verb {
		case "SELECT":
			f = listForm(s, keys)
		case "INSERT", "REPLACE", "UPDATE", "DELETE":
			f = bulkForm(s, keys)
		}
		if f.Text == "" {
			continue
		}
		lines = append(lines, f.Text)
		for _, n := range f.Notes {
			if !slices.Contains(out.Notes, n) {
				out.Notes = append(out.Notes, n)
			}
		}
	}
	if len(lines) == 0 {
		return Form{}
	}
	out.Text = strings.Join(lines, "\n")
	out.Notes = append(out.Notes, "each statement once for all items, in the loop's order, within one transaction; not where a turn reads what the turn before wrote")
	return out
}

// keysForm: one command for several keys. memcached: protocol.txt, "get
// <key>*"; Redis: the commands' reference.
func keysForm(system, what string) Form {
	verb, key, _ := strings.Cut(what, " ")
	if key == "" {
		return Form{}
	}
	key, rest, _ := strings.Cut(key, " ")
	if system == Memcached {
		if v := strings.ToLower(verb); v != "get" && v != "gets" {
			return Form{}
		}
		return Form{Text: fmt.Sprintf("%s %s %s …", verb, key, key),
			Notes: []string{"getMulti([…]) of the client; keys that are not in the answer were missed"}}
	}
	switch strings.ToUpper(verb) {
	case "GET":
		return Form{Text: fmt.Sprintf("MGET %s %s …", key, key), Notes: []string{"the answer has the order of the keys; nil where there is none"}}
	case "SET":
		if rest != "" && rest != "*" {
			return Form{} // EX, NX: MSET has no options
		}
		return Form{Text: fmt.Sprintf("MSET %s ? %s ? …", key, key), Notes: []string{"MSET sets no time to live: where one is set, use a pipeline of SET … EX"}}
	}
	return Form{Text: fmt.Sprintf("%s\n%s\n…", what, what), Notes: []string{"in one pipeline: all commands are sent before the first answer is read"}}
}
