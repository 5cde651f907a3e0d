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

// ByAddress reports whether an Apache decides by the client's address what it gives,
// in its configuration or a .htaccess; that somebody is on the host does not count. It
// does so if a file is not understood, too.
func ByAddress(in planning.Input, svc *stack.Service, conf *apache.Config) bool {
	lines, unread := apacheLines(in, svc, conf)
	variables := variablesOf(lines)
	return len(unread) > 0 || slices.ContainsFunc(lines, func(l line) bool {
		_, local := admitsByAddress(l.words)
		return !local && decides(l.words, variables)
	})
}

// admitsByAddress reports whether a directive of Apache, its name and arguments,
// lets clients in or keeps them out by their address (mod_authz_host,
// mod_access_compat), or by whether they are on the host.
func admitsByAddress(words []string) (address, local bool) {
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
		return len(args) > 1 && slices.Contains(byAddress, strings.ToLower(args[0])), strings.EqualFold(args[0], "local")
	case "allow", "deny":
		return strings.EqualFold(args[0], "from") && slices.ContainsFunc(args[1:], func(a string) bool {
			return !strings.EqualFold(a, "all") && !strings.HasPrefix(strings.ToLower(a), "env=")
		}), false
	}
	return false, false
}

// byAddress are Apache's providers of mod_authz_host that take arguments.
var byAddress = []string{"ip", "host", "forward-dns"}

// leading are directives by which URLs lead to folders that are not known here
// (Apache 2.4 manual, "Mapping URLs to Filesystem Locations"), or rules may stand in
// files that were not read.
var leading = []string{"aliasmatch", "scriptaliasmatch", "virtualdocumentroot", "virtualscriptalias", "userdir", "action", "accessfilename"}

// asksAddress is in a test of Apache that asks where a request comes from
// (Apache 2.4 manual, "Expressions"; mod_rewrite, RewriteCond; mod_geoip and
// mod_maxminddb); -R is short for it.
var asksAddress = regexp.MustCompile(`(?i)\bREMOTE_(?:ADDR|HOST)\b|\b(?:GEOIP|MM)_[A-Z]|` + addressHeaders + `|(?:^|[^\w-])-R(?:\W|$)`)

// variablesOf are what stands for the client's address: variables that are set by
// it, or by another such variable, and aliases of providers.
func variablesOf(lines []line) []string {
	var known []string
	for {
		before := len(known)
		for _, l := range lines {
			args := l.words[1:]
			var test string
			var names []string
			switch strings.ToLower(l.words[0]) {
			case "setenvif", "setenvifnocase":
				if len(args) > 2 {
					test, names = args[0], args[2:]
				}
			case "setenvifexpr":
				if len(args) > 1 {
					test, names = args[0], args[1:]
				}
			case "authzprovideralias":
				if len(args) > 1 && (slices.Contains(byAddress, strings.ToLower(args[0])) || strings.EqualFold(args[0], "local")) {
					test, names = "REMOTE_ADDR", args[1:2]
				}
			}
			if !mentions(test, known) {
				continue
			}
			for _, n := range names {
				n, _, _ = strings.Cut(strings.TrimPrefix(n, "!"), "=")
				if !slices.Contains(known, n) {
					known = append(known, n)
				}
			}
		}
		if len(known) == before {
			return known
		}
	}
}

// mentions reports whether a text asks for the client's address, itself or by one
// of the variables.
func mentions(text string, variables []string) bool {
	return asksAddress.MatchString(text) || slices.ContainsFunc(variables, func(v string) bool {
		return regexp.MustCompile(`(?i)(?:^|\W)` + regexp.QuoteMeta(v) + `(?:\W|$)`).MatchString(text)
	})
}

// decides reports whether a directive of Apache gives or refuses pages by the
// client's address.
func decides(words, variables []string) bool {
	if address, local := admitsByAddress(words); address || local {
		return true
	}
	switch strings.ToLower(words[0]) {
	case "rewritecond", "if", "elseif", "require", "allow", "deny":
		return mentions(strings.Join(words[1:], " "), variables)
	}
	return false
}

// line is one of Apache's directives: name and arguments.
type line struct {
	words  []string
	text   string // where it stands
	at     *apache.Directive
	folder string // of a .htaccess
}

// root is a folder that URLs lead to: those that begin with url.
type root struct{ folder, url string }

func apacheAdmission(in planning.Input, svc *stack.Service, conf *apache.Config) admission {
	lines, unread := apacheLines(in, svc, conf)
	roots, mapped := rootsOf(lines)
	out := leadsOf(lines, roots)
	out.areas = unread
	variables := variablesOf(lines)
	for _, l := range lines {
		if !decides(l.words, variables) || otherMethods(l.at) {
			continue
		}
		a, folder := area{}, l.folder
		if folder == "" {
			a, folder = section(l.at)
		}
		a.rule = l.text + strings.Join(l.words, " ") + " decides by the client's address"
		if folder == "" || !mapped || slices.ContainsFunc(out.leads, func(to lead) bool { return stack.Below(folder, to.text) || !to.whole && stack.Below(to.text, folder) }) {
			out.areas = append(out.areas, a)
			continue
		}
		for _, url := range urlsOf(folder, roots) {
			a.prefix = url
			out.areas = append(out.areas, a)
		}
	}
	return out
}

// apacheLines are the directives in force, and those of its .htaccess files; of files
// that are not understood nothing is known, wherever they lie.
func apacheLines(in planning.Input, svc *stack.Service, conf *apache.Config) (out []line, unread []area) {
	take := func(conf *apache.Config, folder string) {
		conf.Root.Walk(func(d *apache.Directive) bool {
			// Which modules are loaded a .htaccess does not say.
			if d.State == apache.Inactive && folder == "" {
				return false
			}
			where := ""
			if d.File != nil {
				where = fmt.Sprintf("%s:%d: ", d.File.Path, d.Line)
			}
			out = append(out, line{words: append([]string{d.Name}, d.Args...), text: where, at: d, folder: folder})
			return true
		})
	}
	take(conf, "")
	have := in.Snapshot.Files[planning.HostOf(svc)]
	build := in.Snapshot.Apache[svc.Name]
	if build.AccessFilesLeft > 0 {
		unread = append(unread, area{rule: fmt.Sprintf("whether one of %d .htaccess files of %s that were not read decides by the client's address is not known", build.AccessFilesLeft, svc.Name)})
	}
	for _, file := range build.AccessFiles {
		read := func(p string) ([]byte, error) { return have[p].Content, nil }
		own, err := apache.Load(file, apache.Options{Root: "/"}, read, func(string) ([]string, error) { return nil, nil })
		if err != nil {
			unread = append(unread, area{rule: fmt.Sprintf("whether %s decides by the client's address is not known (%v)", file, err)})
			continue
		}
		take(own, path.Dir(file))
	}
	return out, unread
}

// otherMethods reports whether a directive is for methods only by which no page is
// asked for.
func otherMethods(d *apache.Directive) bool {
	for ; d != nil; d = d.Parent {
		get := slices.ContainsFunc(d.Args, func(a string) bool { return strings.EqualFold(a, "GET") })
		if d.Is("Limit") && !get || d.Is("LimitExcept") && get {
			return true
		}
	}
	return false
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
		case stack.Below(folder, at.folder):
			out = append(out, at.url)
		case stack.Below(at.folder, folder):
			out = append(out, path.Join(at.url, strings.TrimPrefix(folder, at.folder)))
		}
	}
	return out
}

// leadsOf is what RewriteRule, FallbackResource and DirectoryIndex lead URLs to. A
// path without a slash is below any folder: which, is not asked.
func leadsOf(lines []line, roots []root) admission {
	var out admission
	var targets []string
	bases := []string{"/"}
	for _, r := range roots {
		bases = append(bases, r.url)
	}
	for _, l := range lines {
		args, folder := l.words[1:], l.folder
		switch strings.ToLower(l.words[0]) {
		case "rewriterule":
			if len(args) > 1 && args[1] != "-" && !strings.Contains(args[1], "://") && !answers(args[2:]) {
				targets = append(targets, args[1])
			}
			if folder == "" {
				_, folder = section(l.at)
			}
		case "fallbackresource":
			targets = append(targets, args...)
		case "directoryindex":
			for _, a := range args {
				if strings.HasPrefix(a, "/") {
					targets = append(targets, a)
				} else {
					out.behind = append(out.behind, "/"+a)
				}
			}
		case "rewritebase":
			bases = append(bases, args...)
		}
		if folder != "" {
			bases = append(bases, urlsOf(folder, roots)...)
		}
	}
	slices.Sort(bases)
	bases = slices.Compact(bases)
	for _, t := range targets {
		t = strings.TrimPrefix(t, "%{DOCUMENT_ROOT}")
		if rest, ok := strings.CutPrefix(t, "%{ENV:BASE}"); ok {
			t = strings.TrimPrefix(rest, "/")
		}
		to := known(t, "$%")
		if strings.HasPrefix(to.text, "/") {
			out.leads = append(out.leads, to)
			for _, url := range urlsOf(to.text, roots) { // it may be a file's path as well
				out.leads = append(out.leads, lead{url, to.whole})
			}
			continue
		}
		for _, base := range bases {
			out.leads = append(out.leads, lead{strings.TrimSuffix(base, "/") + "/" + to.text, to.whole})
		}
	}
	return out
}

// answers reports whether a RewriteRule's flags make it an answer of its own: a
// redirect, forbidden, or gone.
func answers(flags []string) bool {
	for f := range strings.SplitSeq(strings.Trim(strings.Join(flags, ","), "[]"), ",") {
		f, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(f)), "=")
		if slices.Contains([]string{"r", "redirect", "f", "forbidden", "g", "gone"}, f) {
			return true
		}
	}
	return false
}

// wildcard is of a path that stands for many, or is not known.
const wildcard = "*?[$"

// statusHandlers answer with the server's own state (mod_status, mod_info,
// mod_ldap, mod_proxy_balancer).
var statusHandlers = []string{"server-status", "server-info", "ldap-status", "balancer-manager"}

// section is where a directive of Apache stands: the URLs of a <Location>, or the
// folder of a <Directory>. Any other is an area of all.
func section(d *apache.Directive) (area, string) {
	for at := d.Section(); at != nil && at.Parent != nil; at = at.Section() {
		arg := ""
		if len(at.Args) > 0 {
			arg = at.Args[len(at.Args)-1]
		}
		handler := at.First("SetHandler")
		status := handler != nil && len(handler.Args) == 1 && slices.Contains(statusHandlers, strings.ToLower(handler.Args[0]))
		switch {
		case at.Is("LocationMatch") || at.Is("Location") && len(at.Args) == 2:
			re, err := regexp.Compile(arg)
			if err != nil {
				return area{}, ""
			}
			return area{regex: re, status: status}, ""
		case at.Is("Location") && strings.HasPrefix(arg, "/") && !strings.ContainsAny(arg, wildcard):
			return area{prefix: arg, status: status}, ""
		case at.Is("Directory") && len(at.Args) == 1 && path.IsAbs(arg) && !strings.ContainsAny(arg, wildcard):
			return area{}, path.Clean(arg)
		case slices.ContainsFunc([]string{"Location", "Directory", "DirectoryMatch", "VirtualHost"}, at.Is):
			return area{}, ""
		}
	}
	return area{}, ""
}
