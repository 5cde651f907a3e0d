package pagecache

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// AdmitsByAddress reports whether a directive of Apache, its name and arguments,
// lets clients in or keeps them out by their address (mod_authz_host,
// mod_access_compat), or by whether they are on the host.
func AdmitsByAddress(words []string) (address, local bool) {
	if len(words) < 2 {
		return false, false
	}
	args := words[1:]
	switch strings.ToLower(words[0]) {
	case "require":
		if strings.EqualFold(args[0], "not") {
			args = args[1:]
		}
		if len(args) == 0 {
			return false, false
		}
		return len(args) > 1 && slices.Contains([]string{"ip", "host", "forward-dns"}, strings.ToLower(args[0])), strings.EqualFold(args[0], "local")
	case "allow", "deny":
		return len(args) > 1 && strings.EqualFold(args[0], "from") && !strings.EqualFold(args[1], "all") && !strings.HasPrefix(strings.ToLower(args[1]), "env="), false
	}
	return false, false
}

// leading are directives by which URLs lead to folders that are not known here
// (Apache 2.4 manual, "Mapping URLs to Filesystem Locations").
var leading = []string{"aliasmatch", "scriptaliasmatch", "virtualdocumentroot", "virtualscriptalias", "userdir", "action"}

// asksAddress is in a test of Apache that asks where a request comes from
// (Apache 2.4 manual, "Expressions"; mod_rewrite, RewriteCond); -R is short for it.
var asksAddress = regexp.MustCompile(`(?i)\bREMOTE_(?:ADDR|HOST)\b|\bHTTP:(?:[\w-]*(?:Forwarded-For|Real-IP|Client-IP)|Forwarded)\b[^-]|(?:^|\s)-R\s`)

// byVariable are the names of variables that Apache sets by the client's address.
func byVariable(words []string, known []string) []string {
	switch strings.ToLower(words[0]) {
	case "setenvif", "setenvifnocase", "setenvifexpr":
	default:
		return known
	}
	if len(words) < 3 || !asksAddress.MatchString(words[1]) && !asksForwarded.MatchString(words[1]) {
		return known
	}
	for _, w := range words[2:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(w, "!"), "=")
		known = append(known, name)
	}
	return known
}

// asksForwarded is the name of a header that tells the client's address, in a SetEnvIf.
// Forwarded headers for host and scheme are part of a page's key.
var asksForwarded = regexp.MustCompile(`(?i)^(?:[\w-]*(?:Forwarded-For|Real-IP|Client-IP)|Forwarded)$`)

// decides reports whether a directive of Apache gives or refuses pages by the
// client's address. variables are those that byVariable found.
func decides(words, variables []string) bool {
	if address, local := AdmitsByAddress(words); address || local {
		return true
	}
	text := strings.Join(words[1:], " ")
	switch strings.ToLower(words[0]) {
	case "rewritecond", "if", "elseif":
		return asksAddress.MatchString(text)
	case "require", "allow", "deny":
		return asksAddress.MatchString(text) || slices.ContainsFunc(words[1:], func(w string) bool {
			return slices.Contains(variables, strings.TrimPrefix(w, "env="))
		})
	}
	return false
}

// line is one of Apache's directives: name and arguments.
type line struct {
	words  []string
	text   string            // where it stands
	at     *apache.Directive // nil in a .htaccess
	folder string            // of a .htaccess
}

// root is a folder that URLs lead to: those that begin with url.
type root struct{ folder, url string }

func apacheAdmission(in planning.Input, svc *stack.Service, conf *apache.Config) admission {
	lines := apacheLines(in, svc, conf)
	roots, mapped := rootsOf(lines)
	out := admission{leads: leadsOf(lines, roots)}
	var variables []string
	for _, l := range lines {
		variables = byVariable(l.words, variables)
	}
	for _, l := range lines {
		if !decides(l.words, variables) {
			continue
		}
		rule := l.text + strings.Join(l.words, " ") + " decides by the client's address"
		folder := l.folder
		if l.at != nil {
			var known *area
			if known, folder = section(l.at); known != nil {
				known.rule = rule
				out.areas = append(out.areas, *known)
				continue
			}
		}
		if !mapped || folder == "" {
			out.areas = append(out.areas, area{rule: rule})
			continue
		}
		for _, url := range urlsOf(folder, roots) {
			out.areas = append(out.areas, area{rule: rule, prefix: url})
		}
	}
	return out
}

// apacheLines are the directives in force, and those of its .htaccess files.
func apacheLines(in planning.Input, svc *stack.Service, conf *apache.Config) []line {
	var out []line
	conf.Root.Walk(func(d *apache.Directive) bool {
		if d.State == apache.Inactive {
			return false
		}
		where := ""
		if d.File != nil {
			where = fmt.Sprintf("%s:%d: ", d.File.Path, d.Line)
		}
		out = append(out, line{words: append([]string{d.Name}, d.Args...), text: where, at: d})
		return true
	})
	for _, file := range in.Snapshot.Apache[svc.Name].AccessFiles {
		for text := range strings.Lines(string(in.Snapshot.Files[planning.HostOf(svc)][file].Content)) {
			if words := strings.Fields(strings.TrimLeft(text, "< \t")); len(words) > 0 {
				out = append(out, line{words: words, text: file + ": ", folder: path.Dir(file)})
			}
		}
	}
	return out
}

// rootsOf are the folders that URLs lead to, and whether there are no others.
func rootsOf(lines []line) (roots []root, all bool) {
	all = true
	for _, l := range lines {
		name, args := strings.ToLower(l.words[0]), l.words[1:]
		switch {
		case name == "documentroot" && len(args) == 1:
			roots = append(roots, root{path.Clean(args[0]), "/"})
			all = all && path.IsAbs(args[0])
		case (name == "alias" || name == "scriptalias") && len(args) == 2:
			roots = append(roots, root{path.Clean(args[1]), args[0]})
			all = all && path.IsAbs(args[1])
		case name == "alias" || name == "scriptalias" || slices.Contains(leading, name):
			all = false
		}
	}
	return roots, all && len(roots) > 0
}

// urlsOf are the beginnings of the URLs that lead to a folder or to what is in it.
func urlsOf(folder string, roots []root) []string {
	var out []string
	for _, at := range roots {
		switch {
		case within(at.folder, folder):
			out = append(out, at.url)
		case within(folder, at.folder):
			out = append(out, path.Join(at.url, strings.TrimPrefix(folder, at.folder)))
		}
	}
	return out
}

// leadsOf are what RewriteRule, FallbackResource and DirectoryIndex lead URLs to. A
// path without a slash is below any folder: which, is not asked.
func leadsOf(lines []line, roots []root) []lead {
	var targets []string
	bases := []string{"/"}
	for _, r := range roots {
		bases = append(bases, r.url)
	}
	for _, l := range lines {
		args := l.words[1:]
		switch strings.ToLower(l.words[0]) {
		case "rewriterule":
			if len(args) > 1 && args[1] != "-" && !strings.Contains(args[1], "://") {
				targets = append(targets, args[1])
			}
		case "fallbackresource", "directoryindex":
			targets = append(targets, args...)
		case "rewritebase":
			bases = append(bases, args...)
		}
		if l.folder != "" {
			bases = append(bases, urlsOf(l.folder, roots)...)
		}
	}
	slices.Sort(bases)
	var out []lead
	for _, t := range targets {
		to := known(t, "$%")
		if strings.HasPrefix(to.text, "/") {
			out = append(out, to)
			for _, r := range roots { // it may be a file's path as well
				if within(to.text, r.folder) {
					out = append(out, lead{path.Join(r.url, strings.TrimPrefix(to.text, r.folder)), to.whole})
				}
			}
			continue
		}
		for _, base := range slices.Compact(bases) {
			out = append(out, lead{strings.TrimSuffix(base, "/") + "/" + to.text, to.whole})
		}
	}
	return out
}

// known is a text up to its first variable, which begins with one of marks.
func known(text, marks string) lead {
	if i := strings.IndexAny(text, marks); i >= 0 {
		return lead{text[:i], false}
	}
	return lead{text, true}
}

// within reports whether a folder is another or lies in it.
func within(folder, other string) bool {
	return folder == other || strings.HasPrefix(folder, strings.TrimSuffix(other, "/")+"/")
}

// wildcard is of a path that stands for many.
const wildcard = "*?["

// section is where a directive of Apache stands: the URLs of a <Location>, or the
// folder of a <Directory>. Neither is known of any other section.
func section(d *apache.Directive) (*area, string) {
	for at := d.Section(); at != nil && at.Parent != nil; at = at.Section() {
		arg := ""
		if len(at.Args) > 0 {
			arg = at.Args[len(at.Args)-1]
		}
		switch {
		case at.Is("LocationMatch") || at.Is("Location") && len(at.Args) == 2:
			if re, err := regexp.Compile(arg); err == nil {
				return &area{regex: re}, ""
			}
			return &area{}, ""
		case at.Is("Location"):
			if strings.ContainsAny(arg, wildcard) {
				return &area{}, ""
			}
			return &area{prefix: arg}, ""
		case at.Is("Directory") && len(at.Args) == 1 && !strings.ContainsAny(arg, wildcard):
			return nil, path.Clean(arg)
		case at.Is("Directory") || at.Is("DirectoryMatch") || at.Is("VirtualHost"):
			return &area{}, ""
		}
	}
	return &area{}, ""
}
