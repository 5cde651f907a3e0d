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

// leading are directives by which a URL leads to another folder than its path
// says, so that no folder's URLs are known (Apache 2.4 manual, "Mapping URLs to
// Filesystem Locations").
var leading = []string{"rewriterule", "aliasmatch", "scriptaliasmatch", "virtualdocumentroot", "virtualscriptalias", "userdir", "action"}

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

func apacheAreas(in planning.Input, svc *stack.Service, conf *apache.Config) []area {
	type rule struct {
		text, folder string // of a .htaccess
		at           *apache.Directive
	}
	var rules []rule
	var roots []root
	mapped := true
	lead := func(folder, url string) {
		roots = append(roots, root{path.Clean(folder), url})
		mapped = mapped && path.IsAbs(folder)
	}
	var variables []string
	look := func(words []string, r rule) {
		variables = byVariable(words, variables)
		if decides(words, variables) {
			r.text += strings.Join(words, " ") + " decides by the client's address"
			rules = append(rules, r)
		}
		mapped = mapped && !slices.Contains(leading, strings.ToLower(words[0]))
	}
	conf.Root.Walk(func(d *apache.Directive) bool {
		if d.State == apache.Inactive {
			return false
		}
		switch {
		case d.Is("DocumentRoot") && len(d.Args) == 1:
			lead(d.Args[0], "/")
		case (d.Is("Alias") || d.Is("ScriptAlias")) && len(d.Args) == 2:
			lead(d.Args[1], d.Args[0])
		case d.Is("Alias") || d.Is("ScriptAlias"):
			mapped = false
		}
		where := ""
		if d.File != nil {
			where = fmt.Sprintf("%s:%d: ", d.File.Path, d.Line)
		}
		look(append([]string{d.Name}, d.Args...), rule{text: where, at: d})
		return true
	})
	for _, file := range in.Snapshot.Apache[svc.Name].AccessFiles {
		for line := range strings.Lines(string(in.Snapshot.Files[planning.HostOf(svc)][file].Content)) {
			if words := strings.Fields(strings.TrimLeft(line, "< \t")); len(words) > 0 {
				look(words, rule{text: file + ": ", folder: path.Dir(file)})
			}
		}
	}
	var out []area
	for _, r := range rules {
		if r.at != nil {
			var known *area
			if known, r.folder = section(r.at); known != nil {
				known.rule = r.text
				out = append(out, *known)
				continue
			}
		}
		if !mapped || r.folder == "" || len(roots) == 0 {
			out = append(out, area{rule: r.text})
			continue
		}
		for _, at := range roots {
			switch {
			case within(at.folder, r.folder):
				out = append(out, area{rule: r.text, prefix: at.url})
			case within(r.folder, at.folder):
				out = append(out, area{rule: r.text, prefix: path.Join(at.url, strings.TrimPrefix(r.folder, at.folder))})
			}
		}
	}
	return out
}

// root is a folder that URLs lead to: those that begin with url.
type root struct{ folder, url string }

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
