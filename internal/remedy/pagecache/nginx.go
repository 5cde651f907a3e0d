package pagecache

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/load"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/remedy/web"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

const (
	// memoryCache and diskCache bound what is kept: thousands of pages.
	memoryCache = 64 * planning.MiB
	diskCache   = 256 * planning.MiB
	// leastValid: nginx counts validity in whole seconds.
	leastValid = time.Second
)

// kind of what a URL gives, as PageMap tells it.
const (
	pageKind = "1" // kept for requests without a cookie
	fileKind = "2" // the application says public: kept whatever the cookie
)

// wanted is one entry of PageMap.
type wanted struct{ pattern, kind string }

// PlanNginx gives the nginx in front a cache for the pages of the finding.
func PlanNginx(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	age := diagnose.MaxAge(in.Stack.Regulation)
	valid, err := validFor(in, age)
	if err != nil {
		return nil, err
	}
	var changes []change.Change
	files := strings.Split(f.Subject["files"], "\n")
	entries := entriesOf(in, f, files)
	var patterns []string
	for _, e := range entries {
		patterns = append(patterns, e.pattern)
	}
	if err := AdmittedBehind(in, f.Service, patterns); err != nil {
		return nil, err
	}
	edited, err := web.Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		if d := server.Effective("ssl_verify_client"); d != nil && !slices.Equal(d.Args, []string{"off"}) {
			return fmt.Errorf("clients of %s show who they are by certificates (ssl_verify_client)", f.Service)
		}
		if err := admitsByOthers(server, f.Evidence); err != nil {
			return err
		}
		if diagnose.MapBlock(conf, diagnose.PageMap) == nil {
			dir, mk, size, err := place(in, svc, f.Text)
			if err != nil {
				return err
			}
			changes = append(changes, mk)
			if found := locations(server, f.Evidence); len(found) > 0 {
				if err := beside(server, cachePath(diagnose.PassOf(found[0]), dir, size)); err != nil {
					return err
				}
			}
			if err := beside(server, maps(in.Evidence.Load.TellingHeaders, valid)); err != nil {
				return err
			}
		} else if err := renew(conf, in.Evidence.Load.TellingHeaders, valid); err != nil {
			return err
		}
		if err := enter(conf, entries); err != nil {
			return err
		}
		return keepAt(conf, server, f.Evidence, valid)
	})
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, e := range entries {
		fmt.Fprintln(sum, e)
	}
	return []planning.Plan{{ID: fmt.Sprintf("nginx.page-cache:%s:%s:%.8x", f.Service, age, sum.Sum(nil)),
		Title:   fmt.Sprintf("Let %s keep %s for strangers, none older than %s", f.Service, ui.Plural(len(f.Evidence), "answer", "answers"), age),
		Changes: append(changes, edited...), Fresh: &planning.Fresh{URLs: f.Evidence, MaxAge: age}}}, nil
}

// beside adds directives of the http block: at its end, or, where the server
// stands in a file of its own, before it there.
func beside(server *nginx.Directive, text string) error {
	if server.File != server.Parent.File {
		return server.InsertBefore(text)
	}
	return server.Parent.Append(text)
}

// validFor is for how long nginx may call an answer valid so that none is older
// than age when it is sent. nginx compares whole seconds and takes an answer
// while its last second lasts (ngx_http_file_cache_read: valid_sec < now), so
// an answer may be one second older than its validity. What the application
// itself allows (max-age) is never exceeded.
func validFor(in planning.Input, age time.Duration) (time.Duration, error) {
	valid := age
	own := func(headers []string) {
		for _, h := range headers {
			if v, ok := strings.CutPrefix(h, "Cache-Control: "); ok {
				if life, given := load.Lifetime([]string{v}); given && life > 0 {
					valid = min(valid, life)
				}
			}
		}
	}
	for _, p := range in.Evidence.Load.Pages {
		if diagnose.CacheablePage(p) {
			own(p.Headers)
		}
	}
	for _, a := range in.Evidence.Load.Assets {
		if diagnose.CacheableFile(a) {
			own(a.Headers)
		}
	}
	if valid = (valid - time.Second).Truncate(time.Second); valid < leastValid {
		return 0, fmt.Errorf("nginx counts a cache's age in whole seconds and cannot keep a limit below 2s")
	}
	return valid, nil
}

// entriesOf are the patterns of what the finding names, sorted.
func entriesOf(in planning.Input, f diagnose.Finding, files []string) []wanted {
	var out []wanted
	for _, p := range diagnose.PagePatterns(in.Evidence.Load.Pages, func(p load.PageSample) bool { return slices.Contains(f.Evidence, p.URL) }) {
		out = append(out, wanted{p, pageKind})
	}
	for _, a := range in.Evidence.Load.Assets {
		if !slices.Contains(files, a.Path) {
			continue
		}
		kind := pageKind
		if diagnose.Shared(a) {
			kind = fileKind
		}
		out = append(out, wanted{diagnose.FilePattern(a.Path), kind})
	}
	return out
}

// place is a new folder for the cache: in memory where there is room, else
// below /var/cache (Filesystem Hierarchy Standard 3.0, 5.5).
func place(in planning.Input, svc *stack.Service, why string) (dir string, mk change.Change, size int64, err error) {
	machine := planning.MachineOf(in, svc)
	name := "kasoku-pages-" + strings.ToLower(svc.Name)
	switch {
	case machine.SharedMemory != "" && planning.SpareMemory(in, svc) >= 2*memoryCache:
		dir, size = path.Join(machine.SharedMemory, name), memoryCache
	case machine.Root:
		dir, size = path.Join("/var/cache", name), diskCache
	default:
		return "", mk, 0, fmt.Errorf("there is no room in memory for a cache, and only root may make a folder in /var/cache")
	}
	owner := &change.FileState{Mode: 0o700, UID: -1, GID: -1}
	who := ""
	if user, ok := in.Snapshot.Users[planning.HostOf(svc)+"/"+svc.Name]; ok && machine.Root {
		owner.UID, owner.GID = user.UID, user.GID
		who = fmt.Sprintf(" -o %s -g %s", planning.NameOr(user.Name, user.UID), planning.NameOr(user.Group, user.GID))
	}
	return dir, change.Change{Kind: change.KindDir, Host: planning.HostOf(svc), Path: dir, Why: why, After: owner,
		Command: fmt.Sprintf("install -d -m 700%s %s", who, dir)}, size, nil
}

func cachePath(module, dir string, size int64) string {
	return fmt.Sprintf("%s_cache_path %s levels=1:2 use_temp_path=off keys_zone=%s:4m max_size=%dm inactive=10m;",
		module, nginx.Quote(dir), diagnose.CacheZone, size/planning.MiB)
}

// locations are those that hand the URLs to the application, each once.
func locations(server *nginx.Directive, urls []string) []*nginx.Directive {
	var out []*nginx.Directive
	for _, u := range urls {
		if loc := diagnose.PassedBy(server, u); loc != nil && !slices.Contains(out, loc) {
			out = append(out, loc)
		}
	}
	return out
}

// keepAt lets the locations of the URLs use the cache.
func keepAt(conf *nginx.Config, server *nginx.Directive, urls []string, valid time.Duration) error {
	module := ""
	for _, loc := range locations(server, urls) {
		m := diagnose.PassOf(loc)
		switch zone := diagnose.CachedAt(loc); {
		case module != "" && m != module:
			return fmt.Errorf("locations hand pages on by %s_pass and by %s_pass; a cache serves one of them", module, m)
		case zone == diagnose.CacheMap:
			module = m
			continue
		case zone != "":
			return fmt.Errorf("location %s has a cache of its own (%s)", strings.Join(loc.Args, " "), zone)
		case !diagnose.OnOff(loc, m+"_buffering", true):
			return fmt.Errorf("location %s has %s_buffering off, so nothing can be kept", strings.Join(loc.Args, " "), m)
		}
		module = m
		for _, d := range loc.Children {
			if strings.HasPrefix(d.Name, m+"_cache") || d.Name == m+"_no_cache" || d.Name == m+"_ignore_headers" {
				return fmt.Errorf("location %s has %s already", strings.Join(loc.Args, " "), d.Name)
			}
		}
		if err := loc.Append(use(m, valid)); err != nil {
			return err
		}
	}
	if module == "" {
		return fmt.Errorf("no location hands these pages to the application")
	}
	return nil
}

// use is what a location needs. The application's own times are ignored, so
// that none exceeds the limit, and obeyed by _no_cache where they are shorter.
// An expired answer is never sent: _cache_use_stale stays off.
func use(m string, valid time.Duration) string {
	key := "$scheme|$request_method|$http_host|$request_uri"
	for _, h := range forwarded {
		key += "|" + variable(h)
	}
	text := fmt.Sprintf(`%[1]s_cache %[2]s;
%[1]s_cache_key "%[3]s";
%[1]s_cache_valid 200 %[4]ds;
%[1]s_cache_methods GET HEAD;
%[1]s_cache_lock on;
%[1]s_cache_use_stale off;
%[1]s_ignore_headers Cache-Control Expires X-Accel-Expires;
%[1]s_no_cache $kasoku_private $kasoku_dated;`, m, diagnose.CacheMap, key, int(valid/time.Second))
	if m == "proxy" {
		text += "\nproxy_cache_convert_head off;" // the key holds the method
	}
	return text
}
