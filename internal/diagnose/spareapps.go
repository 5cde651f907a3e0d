package diagnose

import (
	"fmt"
	"path"
	"strings"

	"kasoku/internal/confedit/phpvars"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// Answering leaves out spare services that did not run: no request is theirs.
func Answering(services []*stack.Service, ev *evidence.Evidence) []*stack.Service {
	var out []*stack.Service
	for _, svc := range services {
		if svc.SpareFor == "" || ev != nil && ev.Services[svc.Name].Processes > 0 {
			out = append(out, svc)
		}
	}
	return out
}

// spareSettings looks at what a known application keeps on its own host: what
// another host would not see when it changes forbids to ask that host (why), and
// folders that Kasoku has made for it (folders, one a line) must be made there.
//
// MediaWiki takes a page from its file cache without asking the database
// whether it is the newest (includes/MediaWiki.php, HTMLFileCache::isCacheGood
// "Assume up to date"), and each server has its own APCu
// (Manual:$wgMainCacheType).
func (m *model) spareSettings(f Finding, spare *stack.Service) (_ Finding, why string) {
	var folders []string
	for _, app := range m.in.Stack.OfKind(stack.App) {
		if app.RunsIn != spare.SpareFor && app.Name != spare.SpareFor || m.in.Snapshot.Known[app.Name].ID != "mediawiki" {
			continue
		}
		for _, file := range app.Settings {
			vars := phpvars.Parse(file, m.in.Snapshot.Files[app.HostName()][path.Clean(file)].Content)
			if v, ok := vars.Get("wgUseFileCache"); ok && strings.EqualFold(v.Text, "true") {
				return f, fmt.Sprintf("%s keeps pages in files ($wgUseFileCache), and an edit on one host does not throw away the files of another; a cache in front of all hosts can take their place", app.Name)
			}
			if v, ok := vars.Get("wgMainCacheType"); ok && v.Text == "CACHE_ACCEL" {
				return f, fmt.Sprintf("%s keeps what it has computed in APCu ($wgMainCacheType), and APCu of one host does not see what another changes; a memcached that all hosts reach can take its place", app.Name)
			}
			v, ok := vars.Get("wgCacheDirectory")
			if dir := strings.Trim(v.Text, `"'`); ok && path.IsAbs(dir) && strings.HasPrefix(path.Base(dir), evidence.OwnFolder) {
				folders = append(folders, dir)
			}
		}
	}
	if len(folders) > 0 {
		f = f.with("folders", strings.Join(folders, "\n"))
	}
	return f, ""
}
