// Package applications plans changes of known applications' own settings
// (package knownapp), which the regulation must permit.
package applications

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/phpvars"
	"kasoku/internal/diagnose"
	"kasoku/internal/knownapp"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// wiki is a MediaWiki whose settings are to be changed.
type wiki struct {
	in     planning.Input
	app    *stack.Service
	runner *stack.Service // in whose processes it runs
	file   string         // LocalSettings.php
	vars   *phpvars.File
	why    string
}

// mediawiki opens the settings of the finding's application; nil if it is no
// MediaWiki, or if the setting is not called for.
func mediawiki(in planning.Input, f diagnose.Finding, setting string) (*wiki, error) {
	found, ok := in.Snapshot.Known[f.Service]
	if !ok || found.ID != "mediawiki" || found.Call(setting) == nil {
		return nil, nil
	}
	w := &wiki{in: in, app: in.Stack.Service(f.Service), why: knownapp.ByID(found.ID).Knob(setting).Why}
	w.runner = w.app
	if w.app.RunsIn != "" {
		w.runner = in.Stack.Service(w.app.RunsIn)
	}
	for _, s := range found.Settings {
		if slices.Contains(w.app.Settings, s) {
			w.file = s
		}
	}
	if w.file == "" {
		return nil, fmt.Errorf("%s: name its LocalSettings.php in kasoku.yaml (settings), so that it may be changed", w.app.Name)
	}
	data, ok := in.Snapshot.Files[planning.HostOf(w.app)][path.Clean(w.file)]
	if !ok {
		return nil, fmt.Errorf("%s could not be read", w.file)
	}
	w.vars = phpvars.Parse(w.file, data.Content)
	return w, w.vars.Err()
}

// set plans assignments in the settings, as pairs of a variable without $ and
// an expression. Scripts read them at each request; a reload empties what
// OPcache may hold of them.
func (w *wiki) set(sets ...[2]string) ([]change.Change, error) {
	for _, s := range sets {
		if err := w.vars.Set(s[0], s[1]); err != nil {
			return nil, err
		}
	}
	act := change.Restart
	if w.app.RunsIn != "" {
		act = change.Reload
	}
	return planning.FileChanges(w.in.Snapshot, w.app, w.vars.Changed(), act, w.why)
}

// setAtOnce is set with a time of the file that stays, by which MediaWiki tells
// which of its caches hold (Manual:$wgInvalidateCacheOnLocalSettingsChange). For
// settings without a cache that another side of an experiment does not keep up
// to date: the texts that MediaWiki has parsed stand in the database.
func (w *wiki) setAtOnce(sets ...[2]string) ([]change.Change, error) {
	changes, err := w.set(sets...)
	for i := range changes {
		changes[i].SameTime = true
	}
	return changes, err
}

// keepSessions keeps sessions in the database, where they are as long as there
// is no main cache: MediaWiki would put them into it (Manual:$wgSessionCacheType).
// A wiki that says itself where they are is left alone.
func (w *wiki) keepSessions() [][2]string {
	v, ok := w.vars.Get("wgSessionCacheType")
	if ok && v.Text != "CACHE_ANYTHING" {
		return nil
	}
	return [][2]string{{"wgSessionCacheType", "CACHE_DB"}}
}

// planObjectCache has MediaWiki keep what it has computed in a memcached of the
// stack, or in APCu.
func planObjectCache(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	w, err := mediawiki(in, f, "$wgMainCacheType")
	if w == nil || err != nil {
		return nil, err
	}
	var out []planning.Plan
	var why error
	for _, store := range in.Stack.OfKind(stack.Memcached) {
		address, err := w.address(store)
		if err != nil {
			why = err
			continue
		}
		p, err := w.cachePlan("memcached:"+store.Name, "in "+store.Name, [2]string{"wgMainCacheType", "CACHE_MEMCACHED"}, [2]string{"wgMemCachedServers", "[ " + phpvars.Quote(address) + " ]"})
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	p, no := w.planAPCu()
	switch {
	case p != nil:
		out = append(out, *p)
	case why == nil:
		why = no
	}
	if len(out) > 0 {
		why = nil
	}
	return out, why
}

// address is where MediaWiki's own client, which knows no unix sockets
// (includes/libs/objectcache/MemcachedClient.php), reaches a memcached.
func (w *wiki) address(store *stack.Service) (string, error) {
	near := planning.HostOf(w.runner) == planning.HostOf(store)
	for _, l := range diagnose.CacheListens(w.in.Snapshot, store) {
		if strings.HasPrefix(l, "unix:") {
			continue
		}
		if port, loop := diagnose.Loopback(l); loop && near {
			return "127.0.0.1:" + port, nil
		} else if !loop {
			return l, nil
		}
	}
	return "", fmt.Errorf("%s cannot be reached by TCP from %s's host, and MediaWiki's client knows no unix sockets", store.Name, w.app.Name)
}

// planCacheDirectory gives MediaWiki a folder for the texts of its interface.
func planCacheDirectory(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	w, err := mediawiki(in, f, "$wgCacheDirectory")
	if w == nil || err != nil {
		return nil, err
	}
	dir, folder, err := w.folder("kasoku-texts-")
	if err != nil {
		return nil, err
	}
	changes, err := w.setAtOnce([2]string{"wgCacheDirectory", phpvars.Quote(dir)})
	return []planning.Plan{{ID: knownapp.RemedyCacheDirectory + ":" + w.app.Name, EditsSettings: true, Changes: changes,
		// The texts hold on both sides, and are not to be made anew with each switch.
		Prepare: [][]change.Change{{folder}},
		Title:   fmt.Sprintf("Keep texts of %s's interface in files instead of a table", w.app.Name)}}, err
}

// planFileCache has MediaWiki keep whole pages for strangers as files.
func planFileCache(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	w, err := mediawiki(in, f, "$wgUseFileCache")
	if w == nil || err != nil {
		return nil, err
	}
	if n := len(diagnose.Answering(diagnose.PHPServices(in.Stack, in.Snapshot), in.Evidence)); n > 1 {
		return nil, fmt.Errorf("PHP runs in %d services, and an edit on one does not throw away the files of another", n)
	}
	dir, folder, err := w.folder("kasoku-pages-")
	if err != nil {
		return nil, err
	}
	changes, err := w.setAtOnce([2]string{"wgUseFileCache", "true"}, [2]string{"wgFileCacheDirectory", phpvars.Quote(dir)})
	return []planning.Plan{{ID: knownapp.RemedyFileCache + ":" + w.app.Name, EditsSettings: true, Fills: true,
		// Edits throw pages away only while the cache is on, so the folder goes with
		// each switch.
		Changes: append([]change.Change{folder}, changes...),
		Title:   fmt.Sprintf("Keep %s's pages for readers without a login as files", w.app.Name)}}, err
}

// folder plans a folder that only PHP's user reads and writes, beside the
// application's or further up, outside of all that a web server shows.
func (w *wiki) folder(prefix string) (string, change.Change, error) {
	var none change.Change
	user, known := w.in.Snapshot.Users[planning.HostOf(w.runner)+"/"+w.runner.Name]
	switch {
	case !known:
		return "", none, fmt.Errorf("the user of %s's workers is not known", w.runner.Name)
	case !planning.MachineOf(w.in, w.app).Root:
		return "", none, fmt.Errorf("only root can give a folder to %s, %s's user", planning.NameOr(user.Name, user.UID), w.runner.Name)
	case w.in.Snapshot.PHP[w.runner.Name]["open_basedir"] != "":
		return "", none, fmt.Errorf("open_basedir of %s keeps PHP from folders outside of it", w.runner.Name)
	}
	shown, err := w.shown()
	if err != nil {
		return "", none, err
	}
	for at := path.Dir(path.Clean(w.app.Root)); at != "/" && at != "."; at = path.Dir(at) {
		if slices.ContainsFunc(shown, func(s string) bool { return stack.Below(s, at) }) {
			continue
		}
		dir := path.Join(at, prefix+strings.ToLower(w.app.Name))
		return dir, change.Change{Kind: change.KindDir, Host: planning.HostOf(w.app), Path: dir, Why: w.why,
			After:   &change.FileState{Mode: 0o700, UID: user.UID, GID: user.GID},
			Command: fmt.Sprintf("install -d -m 700 -o %s -g %s %s", planning.NameOr(user.Name, user.UID), planning.NameOr(user.Group, user.GID), dir)}, nil
	}
	return "", none, fmt.Errorf("every folder above %s is shown by the web server", w.app.Root)
}

// shown are the folders that web servers of the application's host show.
func (w *wiki) shown() ([]string, error) {
	var out []string
	add := func(p string) {
		if path.IsAbs(p) {
			out = append(out, path.Clean(p))
		}
	}
	for _, svc := range w.in.Stack.OfKind(stack.Apache, stack.Nginx) {
		if planning.HostOf(svc) != planning.HostOf(w.app) {
			continue
		}
		if err := diagnose.ShownFolders(w.in.Snapshot, svc, add); err != nil {
			return nil, err
		}
	}
	return out, nil
}
