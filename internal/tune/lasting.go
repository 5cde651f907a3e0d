package tune

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// writer is a line of a file that undoes a change whenever it is run.
type writer struct {
	host, path string
	line       int
	text       string
}

func (w writer) String() string {
	at := fmt.Sprintf("%s:%d", w.path, w.line)
	if w.host != stack.LocalHost {
		at = w.host + ":" + at
	}
	text := strings.Join(strings.Fields(w.text), " ")
	if r := []rune(text); len(r) > 80 {
		text = string(r[:80]) + "…"
	}
	return fmt.Sprintf("%s (%s)", at, text)
}

// mostWriters are told of one change.
const mostWriters = 3

// schemaFolders are where projects keep what makes their database, beside the
// application's folder or the script that resets it.
var schemaFolders = []string{"sql", "db", "database", "schema", "migrations", "initdb", "initial-data", "scripts", "etc"}

// undoes is an extended regular expression, as grep -E -i takes it, of lines that
// undo a change; "" where none is known.
func undoes(c change.Change) string {
	switch {
	case c.Kind == change.KindIndex && c.Index != nil:
		table, schema := regexp.QuoteMeta(c.Index.Table), regexp.QuoteMeta(c.Index.Schema)
		name := "[`\"]?(" + schema + "[`\"]?\\.[`\"]?)?" + table + "[`\"]?([^[:alnum:]_]|$)"
		return "(create|drop)[[:space:]]+table[[:space:]]+(if[[:space:]]+(not[[:space:]]+)?exists[[:space:]]+)?" + name +
			"|drop[[:space:]]+(database|schema)[[:space:]]+(if[[:space:]]+exists[[:space:]]+)?[`\"]?" + schema + "([^[:alnum:]_]|$)" +
			"|drop[[:space:]]+index[[:space:]].*" + regexp.QuoteMeta(c.Index.Name)
	case c.Kind == change.KindVariable:
		return "set[[:space:]]+(global|persist|@@global\\.|@@persist\\.)[[:space:]]*[`]?" + regexp.QuoteMeta(c.Variable) + "([^[:alnum:]_]|$)"
	case c.Kind == change.KindTable && c.Table != nil:
		return "(create|drop|alter)[[:space:]]+table[[:space:]].*" + regexp.QuoteMeta(c.Table.Name)
	case c.Kind == change.KindSysctl:
		return regexp.QuoteMeta(c.Variable)
	case c.Path != "":
		return regexp.QuoteMeta(path.Base(c.Path))
	}
	return ""
}

// writersOf finds lines that undo a change, in the files that the reset and the
// benchmark's command name, in the applications' folders, and in the folders beside
// them where schemas lie.
func (t *Tuner) writersOf(ctx context.Context, c change.Change) []writer {
	pattern := undoes(c)
	if pattern == "" {
		return nil
	}
	var out []writer
	for _, at := range t.whereWritten(ctx) {
		if c.Path != "" && at.where == c.Path {
			continue
		}
		h := t.Bench.Hosts[at.host]
		if h == nil {
			continue
		}
		// Text files of at most 64 MiB; dumps are larger than sources are.
		argv := []string{"find", at.where, "-xdev"}
		if at.schemas {
			// A copy that somebody keeps makes no tables, and is not to be edited.
			argv = append(argv, "-maxdepth", "5", "-name", "*.sql", "-not", "-ipath", "*backup*")
		}
		argv = append(argv, "-type", "f", "-size", "-64M", "-not", "-path", "*/.git/*", "-not", "-path", "*/node_modules/*", "-not", "-path", "*/vendor/*",
			"-exec", "grep", "-IHnEi", "-m", "20", "-e", pattern, "--", "{}", "+")
		res, err := h.Run(ctx, host.Command{Argv: argv, Timeout: 20 * time.Second})
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(res.Stdout)) {
			w, ok := parseWriter(strings.TrimSuffix(line, "\n"))
			w.host = at.host
			if ok && w.path != c.Path && !slices.ContainsFunc(out, func(o writer) bool { return o.path == w.path && o.line == w.line }) {
				out = append(out, w)
			}
		}
	}
	if len(out) > mostWriters && c.Kind != change.KindIndex {
		out = out[:mostWriters]
	}
	return out
}

// parseWriter takes a line of grep -Hn: path:number:text.
func parseWriter(line string) (writer, bool) {
	for rest, at := line, 0; ; {
		i := strings.IndexByte(rest, ':')
		if i < 0 {
			return writer{}, false
		}
		name, after := line[:at+i], rest[i+1:]
		if number, text, ok := strings.Cut(after, ":"); ok {
			if n, err := strconv.Atoi(number); err == nil {
				return writer{path: name, line: n, text: text}, true
			}
		}
		at, rest = at+i+1, after
	}
}

// spot is a file or folder of a host; schemas: only files of SQL below it matter.
type spot struct {
	host, where string
	schemas     bool
}

// whereWritten are the places where something may be written again by a reset, a
// benchmark or an application, the likeliest first.
func (t *Tuner) whereWritten(ctx context.Context) []spot {
	var out spots
	for _, file := range t.commandFiles(ctx) {
		out.add(spot{host: stack.LocalHost, where: file})
		out.addSchemas(stack.LocalHost, filepath.Dir(file))
	}
	for i := range t.Stack.Services {
		svc := &t.Stack.Services[i]
		if svc.Root == "" {
			continue
		}
		out.add(spot{host: svc.HostName(), where: svc.Root})
		out.addSchemas(svc.HostName(), path.Dir(svc.Root))
		out.addSchemas(svc.HostName(), path.Dir(path.Dir(svc.Root)))
	}
	for i := range t.Stack.Services {
		svc := &t.Stack.Services[i]
		for up := path.Dir(svc.Root); svc.Root != "" && ofProject(up); up = path.Dir(up) {
			out.add(spot{host: svc.HostName(), where: up, schemas: true})
		}
	}
	return out
}

// spots are absolute, and each is there once.
type spots []spot

func (s *spots) add(p spot) {
	if filepath.IsAbs(p.where) && p.where != "/" && !slices.Contains(*s, p) {
		*s = append(*s, p)
	}
}

// addSchemas adds the folders below dir that hold schemas in many projects.
func (s *spots) addSchemas(hostName, dir string) {
	for _, name := range schemaFolders {
		if dir != "/" {
			s.add(spot{host: hostName, where: path.Join(dir, name)})
		}
	}
}

// commandFiles are the files of this machine that load.reset and load.command name.
func (t *Tuner) commandFiles(ctx context.Context) []string {
	local := t.Bench.Hosts[stack.LocalHost]
	if local == nil {
		return nil
	}
	argv := slices.Clone(t.Stack.Load.Reset.Command())
	if cmd := t.Stack.Load.Command; cmd != nil {
		argv = append(argv, cmd.Argv...)
	}
	var out []string
	for _, word := range strings.Fields(strings.Join(argv, " ")) { // of sh -c, too
		word = strings.Trim(word, `"'<>;&|`)
		if word == "" || strings.HasPrefix(word, "-") {
			continue
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(t.Stack.Dir, word)
		}
		if info, err := local.Stat(ctx, word); err == nil && info.Mode.IsRegular() && !inSystem(word) {
			out = append(out, word)
		}
	}
	return out
}

// ofProject: a folder above an application's may hold what belongs to it, and is not
// one that holds several people's or programs' things.
func ofProject(dir string) bool {
	shared := []string{"/", ".", "/var", "/var/www", "/var/lib", "/usr", "/usr/share", "/usr/local", "/usr/lib", "/opt", "/srv", "/home", "/root", "/etc", "/tmp"}
	return !slices.Contains(shared, dir) && path.Dir(dir) != "/home"
}

// inSystem: a program of the distribution's, which nobody edits.
func inSystem(name string) bool {
	for _, dir := range []string{"/usr/", "/bin/", "/sbin/", "/lib"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// placed is the change that makes c last: an index that is lost because its table is
// made anew is made by the file that makes the table, after all else that the file
// does. Only a file that makes the table anew in any case will do: elsewhere the
// second run would find the index and fail.
func (t *Tuner) placed(ctx context.Context, c change.Change, writers []writer) (change.Change, bool) {
	if c.Kind != change.KindIndex || c.Drop || c.Index == nil {
		return change.Change{}, false
	}
	for _, w := range writers {
		if path.Ext(w.path) != ".sql" {
			continue
		}
		h := t.Bench.Hosts[w.host]
		was, err := fileState(ctx, h, w.path)
		if err != nil {
			continue
		}
		name, ok := madeAnew(string(was.Content), c.Index)
		if !ok {
			continue
		}
		now := *was
		now.Content = append(bytes.TrimRight(bytes.Clone(was.Content), "\n"), []byte(indexStatement(name, c.Index))...)
		now.Hash, now.ModTime = host.HashOf(now.Content), time.Time{}
		return change.Change{Kind: change.KindFile, Host: w.host, Path: w.path, Before: was, After: &now,
			Why: fmt.Sprintf("%s makes table %s anew and would lose the index; with this it makes it, too", path.Base(w.path), c.Index.Table)}, true
	}
	return change.Change{}, false
}

// indexStatement is a statement that adds the index to the table of that name.
func indexStatement(table string, x *change.Index) string {
	return fmt.Sprintf("\nALTER TABLE %s ADD INDEX `%s` (%s);\n", table, x.Name, change.ColumnList(x.Columns))
}

// madeAnew reports whether the text of a schema file makes the index's table anew
// each time, and how it names it: it drops the table or its database before it
// makes the table.
func madeAnew(text string, x *change.Index) (name string, ok bool) {
	table, schema := regexp.QuoteMeta(x.Table), regexp.QuoteMeta(x.Schema)
	named := "((?:[`\"]?" + schema + "[`\"]?\\.)?[`\"]?" + table + "[`\"]?)"
	create := regexp.MustCompile(`(?im)^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?` + named + `\s*(?:\(|$)`).FindStringSubmatchIndex(text)
	if create == nil {
		return "", false
	}
	drop := regexp.MustCompile(`(?im)^\s*(?:/\*!\d+\s+)?drop\s+(?:table\s+(?:if\s+exists\s+)?[^;]*` + "[`\"\\s.,]" + table + "[`\"\\s;,]" + `|(?:database|schema)\s+(?:if\s+exists\s+)?` + "[`\"]?" + schema + `\b)`).FindStringIndex(text)
	if drop == nil || drop[0] > create[0] {
		return "", false
	}
	return text[create[2]:create[3]], true
}

// merged adds a change of a file to others; two of one file become one with both
// additions.
func merged(cs []change.Change, c change.Change) []change.Change {
	for i := range cs {
		if cs[i].Host != c.Host || cs[i].Path != c.Path {
			continue
		}
		added := bytes.TrimPrefix(c.After.Content, bytes.TrimRight(c.Before.Content, "\n"))
		both := *cs[i].After
		both.Content = append(bytes.TrimRight(bytes.Clone(both.Content), "\n"), added...)
		both.Hash = host.HashOf(both.Content)
		cs[i].After = &both
		return cs
	}
	return append(cs, c)
}
