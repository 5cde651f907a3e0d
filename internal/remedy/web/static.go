package web

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/ui"
)

// staticGroup is files below one folder that one location passes on.
type staticGroup struct {
	root   string // their place on the host is root + URL path
	origin *nginx.Directive
	// headers that the application sends with each of them; fileMark stands for the
	// file's own name in a value.
	headers []string
	paths   []string
}

// fileMark is the variable that holds a file's own name where a header has it, as
// Content-Disposition does. Then a location is of one folder.
const fileMark = "$kasoku_file"

// named reports whether a header has the file's own name.
func (g *staticGroup) named() bool {
	return slices.ContainsFunc(g.headers, func(h string) bool { return strings.Contains(h, fileMark) })
}

// planStatic lets nginx send files that it now asks the application for.
// Anything that is not there, and every method but GET and HEAD, still goes to
// the application.
func planStatic(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	var what []string
	files := 0
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		groups, err := groupStatic(in, server, strings.Split(f.Subject["paths"], "\n"))
		if err != nil {
			return err
		}
		for _, g := range groups {
			if err := addStatic(in, conf, server, g); err != nil {
				return err
			}
			what = append(what, g.root+g.pattern())
			files += len(g.paths)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.static:" + f.Service + ":" + strings.Join(what, "+"),
		Title: fmt.Sprintf("Let %s send %s itself", f.Service, ui.Plural(files, "static file", "static files")), Changes: changes}}, nil
}

// groupStatic sorts URL paths by folder and location. Left out are files whose
// place does not end with the URL path, hidden ones and those without an
// extension, which no narrow pattern can name.
func groupStatic(in planning.Input, server *nginx.Directive, paths []string) ([]*staticGroup, error) {
	var out []*staticGroup
	for _, p := range paths {
		root, ok := strings.CutSuffix(in.Snapshot.StaticFiles[p].Path, p)
		if !ok || root == "" || len(path.Ext(p)) < 2 || strings.Contains(p, "/.") {
			continue
		}
		origin := nginx.MatchLocation(server, p)
		if origin == nil {
			return nil, fmt.Errorf("%s is answered at server level, not in a location", p)
		}
		headers := headersOf(in, p)
		i := slices.IndexFunc(out, func(g *staticGroup) bool {
			return g.root == root && g.origin == origin && slices.Equal(g.headers, headers) && (!g.named() || path.Dir(g.paths[0]) == path.Dir(p))
		})
		if i < 0 {
			i = len(out)
			out = append(out, &staticGroup{root: root, origin: origin, headers: headers})
		}
		out[i].paths = append(out[i].paths, p)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no file's place on the host ends with its URL path")
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].root < out[j].root })
	return out, nil
}

// headersOf are what the application adds to a file's answer (Cache-Control,
// Content-Security-Policy…): nginx must send them too.
func headersOf(in planning.Input, file string) []string {
	for _, a := range in.Evidence.Load.Assets {
		if a.Path != file {
			continue
		}
		var out []string
		for _, h := range a.Headers {
			name, value, _ := strings.Cut(h, ": ")
			if strings.Contains(value, "$") {
				return a.Headers // nginx cannot write it
			}
			out = append(out, name+": "+strings.ReplaceAll(value, path.Base(file), fileMark))
		}
		return out
	}
	return nil
}

// unsafeInside are directives whose meaning changes when a location's body is
// copied into a named one (nginx manual, "location", "alias", "try_files").
var unsafeInside = []string{"alias", "try_files", "rewrite", "internal"}

// guards decide who may have an answer. A location that has one is left alone.
var guards = []string{"allow", "deny", "satisfy", "auth_basic", "auth_request", "auth_jwt", "auth_delay", "secure_link", "valid_referers",
	"limit_req", "limit_conn", "limit_rate", "limit_except", "access_by_lua_file", "access_by_lua_block"}

// alsoForFiles are directives of the location that hold for files as well.
var alsoForFiles = []string{"add_header", "expires", "etag", "access_log", "error_log", "log_not_found",
	"gzip", "gzip_types", "gzip_vary", "gzip_min_length", "gzip_comp_level", "gzip_static", "sendfile", "tcp_nopush"}

func addStatic(in planning.Input, conf *nginx.Config, server *nginx.Directive, g *staticGroup) error {
	name := strings.Join(g.origin.Args, " ")
	if g.origin.Parent != server {
		return fmt.Errorf("location %s is inside another one; a named location cannot be", name)
	}
	var body, kept strings.Builder
	for _, d := range g.origin.Children {
		if err := movable(d, name); err != nil {
			return err
		}
		line := "    " + d.Name
		for _, a := range d.Args {
			line += " " + nginx.Quote(a)
		}
		body.WriteString(line + ";\n")
		if slices.Contains(alsoForFiles, d.Name) {
			kept.WriteString(line + ";\n")
		}
	}
	types, err := typesOf(in, g.paths)
	if err != nil {
		return err
	}
	for _, h := range g.headers {
		name, value, _ := strings.Cut(h, ": ")
		if strings.ContainsAny(strings.ReplaceAll(value, fileMark, ""), "$\n\r") {
			return fmt.Errorf("the application sends %s: %s, which nginx cannot write as it is", name, value)
		}
		fmt.Fprintf(&kept, "    add_header %s %s;\n", name, nginx.Quote(value))
	}
	app := freeName(conf, "location", "@kasoku_app")
	// A file is only sent for GET and HEAD; nginx answers other methods with
	// 405 before it reads the body, so the application can still have them.
	text := fmt.Sprintf("location ~ %s {\n    root %s;\n%s%s    try_files $uri %s;\n    error_page 405 = %s;\n}\nlocation %s {\n%s}",
		nginx.Quote(g.pattern()), nginx.Quote(g.root), kept.String(), types, app, app, app, body.String())
	if err := insertLocation(conf, server, g.origin, text); err != nil {
		return err
	}
	for _, p := range g.paths {
		if now := nginx.MatchLocation(server, p); now == nil || !slices.ContainsFunc(now.Find("try_files"), func(d *nginx.Directive) bool { return slices.Contains(d.Args, app) }) {
			return fmt.Errorf("location %s leaves no room for a regular expression", name)
		}
	}
	return nil
}

// movable refuses what would mean something else in a named location.
func movable(d *nginx.Directive, location string) error {
	switch {
	case slices.Contains(unsafeInside, d.Name) || d.IsBlock && !slices.Contains(guards, d.Name):
		return fmt.Errorf("location %s uses %s, which cannot be moved safely", location, d.Name)
	case slices.Contains(guards, d.Name):
		return fmt.Errorf("location %s uses %s, which files would have to obey too", location, d.Name)
	case d.Name == "proxy_pass" && len(d.Args) > 0:
		if _, after, _ := strings.Cut(d.Args[0], "://"); strings.Contains(after, "/") && !strings.HasPrefix(after, "unix:") || strings.Count(after, ":") > 1 && strings.HasPrefix(after, "unix:") {
			return fmt.Errorf("location %s has a path in proxy_pass, which a named location cannot", location)
		}
	}
	return nil
}

// insertLocation adds text where no other regular expression loses a request
// to it: at the server's end, or directly before origin if that is a regular
// expression itself.
func insertLocation(conf *nginx.Config, server, origin *nginx.Directive, text string) error {
	if !strings.HasPrefix(origin.Args[0], "~") {
		return server.Append(text)
	}
	if n := timesShown(conf, origin); n > 1 {
		return fmt.Errorf("%s:%d is included in %d places; a location there would be in all of them", origin.File.Path, origin.Line, n)
	}
	return origin.InsertBefore(text)
}

// timesShown counts how often includes show the same text.
func timesShown(conf *nginx.Config, d *nginx.Directive) int {
	n := 0
	conf.Root.Walk(func(o *nginx.Directive) bool {
		if o.File == d.File && o.Line == d.Line && o.Name == d.Name && slices.Equal(o.Args, d.Args) {
			n++
		}
		return true
	})
	return n
}

// freeName is prefix and the first number that no block of that kind has.
func freeName(conf *nginx.Config, block, prefix string) string {
	used := map[string]bool{}
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name == block && len(d.Args) > 0 {
			used[d.Args[0]] = true
		}
		return true
	})
	for i := 0; ; i++ {
		if name := fmt.Sprintf("%s%d", prefix, i); !used[name] {
			return name
		}
	}
}

// pattern is staticPattern, which puts the file's own name into fileMark where a header
// has it.
func (g *staticGroup) pattern() string {
	p := staticPattern(g.paths)
	if !g.named() {
		return p
	}
	dir := "^(?:" + regexp.QuoteMeta(strings.TrimSuffix(path.Dir(g.paths[0]), "/")+"/")
	file := strings.TrimSuffix(strings.TrimPrefix(p, dir), ")$")
	return dir + "(?<" + fileMark[1:] + ">" + file + "))$"
}

// staticPattern matches files of the sampled folders with the extensions
// sampled there, and no hidden ones.
func staticPattern(paths []string) string {
	exts := map[string]map[string]bool{}
	for _, p := range paths {
		dir := strings.TrimSuffix(path.Dir(p), "/") + "/"
		if exts[dir] == nil {
			exts[dir] = map[string]bool{}
		}
		exts[dir][strings.TrimPrefix(path.Ext(p), ".")] = true
	}
	var out []string
	for dir, set := range exts {
		out = append(out, regexp.QuoteMeta(dir)+`[^/.][^/]*\.(?:`+alternatives(set)+")")
	}
	sort.Strings(out)
	return "^(?:" + strings.Join(out, "|") + ")$"
}

func alternatives(set map[string]bool) string {
	var out []string
	for s := range set {
		out = append(out, regexp.QuoteMeta(s))
	}
	sort.Strings(out)
	return strings.Join(out, "|")
}

// typesOf writes the Content-Types as the application sent them. A charset is
// written apart, because nginx compares gzip_types with the bare type.
func typesOf(in planning.Input, paths []string) (string, error) {
	byExt := map[string]string{}
	for _, p := range paths {
		ext, typ := strings.TrimPrefix(path.Ext(p), "."), in.Snapshot.StaticFiles[p].ContentType
		if old, ok := byExt[ext]; ok && old != typ {
			return "", fmt.Errorf("files ending in .%s are sent as %s and as %s", ext, old, typ)
		}
		byExt[ext] = typ
	}
	exts := make([]string, 0, len(byExt))
	for e := range byExt {
		exts = append(exts, e)
	}
	sort.Strings(exts)
	types, charset, bare := "    types {", "", map[string]bool{}
	var coded []string
	for _, e := range exts {
		typ, param, _ := strings.Cut(byExt[e], ";")
		typ = strings.TrimSpace(typ)
		types += fmt.Sprintf(" %s %s;", nginx.Quote(typ), e)
		cs, has := strings.CutPrefix(strings.ToLower(strings.TrimSpace(param)), "charset=")
		switch {
		case param == "":
			bare[typ] = true
		case !has || charset != "" && charset != cs:
			return "", fmt.Errorf("files are sent with different parameters (%s)", byExt[e])
		default:
			charset = cs
			if !slices.Contains(coded, typ) {
				coded = append(coded, typ)
			}
		}
	}
	types += " }\n"
	if charset == "" {
		return types + "    charset off;\n", nil
	}
	for _, typ := range coded {
		if bare[typ] {
			return "", fmt.Errorf("files of type %s are sent with and without a charset", typ)
		}
	}
	for i := range coded {
		coded[i] = nginx.Quote(coded[i])
	}
	return types + "    charset " + nginx.Quote(strings.Trim(charset, `"`)) + ";\n    charset_types " + strings.Join(coded, " ") + ";\n", nil
}
