package stack

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/host"
	"kasoku/internal/knownapp"
	"kasoku/internal/lazyregexp"
)

// Bounds of the search for settings files: an application's own are near its
// top and small; a tree of uploads or packages must not be read through.
const (
	settingsDepth   = 4
	settingsEntries = 4000
	settingsSize    = 64 << 10 // bytes
	settingsFiles   = 20
)

// settingsSkip are folders of packages and of data.
var settingsSkip = []string{"vendor", "node_modules", "cache", "tmp", "temp", "log", "logs", "var", "storage", "uploads", "upload", "images", "sessions", "test", "tests", "docs"}

var settingsExtensions = []string{".env", ".ini", ".php", ".yml", ".yaml", ".json", ".conf", ".toml", ".cnf", ".properties", ".py", ".rb"}

// settings finds the files below the app's root that name a discovered store,
// breadth first, and from them whom the app talks to.
func (d *discovery) settings(ctx context.Context, app *instance) {
	if app.svc.Root == "" {
		return
	}
	stores := d.stores()
	if d.knownSettings(ctx, app, stores) {
		return
	}
	type folder struct {
		path  string
		depth int
	}
	queue, entries := []folder{{app.svc.Root, 0}}, 0
	var sources []string
	etc := d.etcFolder(ctx, app.svc.Root)
	if etc != "" { // first: it holds settings alone
		queue = append([]folder{{etc, 0}}, queue...)
	}
	for len(queue) > 0 && len(app.svc.Settings) < settingsFiles && entries < settingsEntries {
		dir := queue[0]
		queue = queue[1:]
		list, err := d.h.List(ctx, dir.path)
		if err != nil {
			d.note("%s: %s could not be searched for settings (%v).", app.svc.Name, dir.path, err)
			continue
		}
		for _, e := range list {
			entries++
			name := filepath.Base(e.Path)
			full := path.Join(dir.path, name)
			switch {
			case e.Mode.IsDir():
				if dir.depth < settingsDepth && name[0] != '.' && !slices.Contains(settingsSkip, name) {
					queue = append(queue, folder{full, dir.depth + 1})
				}
			case !d.settingsOf(ctx, app, e, full, etc, stores) && e.Mode.IsRegular() && slices.Contains(sourceExtensions, filepath.Ext(name)) && len(sources) < sourceFiles:
				sources = append(sources, full)
			}
		}
	}
	d.storesInSource(ctx, app, sources, stores)
}

// settingsOf looks into a file if its name is one of settings; false if it is not.
func (d *discovery) settingsOf(ctx context.Context, app *instance, e host.FileInfo, full, etc string, stores []store) bool {
	name := filepath.Base(full)
	switch {
	case !e.Mode.IsRegular() && e.Mode&fs.ModeSymlink == 0:
	case e.Mode.IsRegular() && e.Size > settingsSize:
	case e.Mode.IsRegular() && packaged(app.svc.Root) && Below(app.svc.Root, full) && len(app.svc.Settings) > 0:
		// The package's own source; its settings were found in /etc.
	case isSettingsName(name) || etc != "" && strings.HasPrefix(full, etc+"/") && slices.Contains(scriptExtensions, filepath.Ext(name)):
		d.settingsFile(ctx, app, full, stores)
		return true
	}
	return false
}

// sourceExtensions of programs whose text may name a store's address; those that may hold
// settings, too, are in settingsExtensions.
var sourceExtensions = []string{".js", ".mjs", ".cjs", ".ts", ".go", ".pl", ".psgi", ".pm"}

const sourceFiles = 200

// storesInSource finds the stores whose address the program itself holds, written out as
// HOST:PORT of this host, or as the path of a socket. Such a place is none of the settings:
// only a person, or a patch, changes a program.
func (d *discovery) storesInSource(ctx context.Context, app *instance, sources []string, stores []store) {
	stores = slices.DeleteFunc(slices.Clone(stores), func(s store) bool { return slices.Contains(app.svc.TalksTo, s.name) })
	for _, file := range sources {
		if len(stores) == 0 {
			return
		}
		data, err := d.h.ReadFile(ctx, file)
		if err != nil || len(data) > settingsSize {
			continue
		}
		stores = slices.DeleteFunc(stores, func(s store) bool {
			if !s.writtenOut(string(data)) {
				return false
			}
			app.svc.TalksTo = append(app.svc.TalksTo, s.name)
			d.note("%s talks to %s: a guess from %s, which names its address; Kasoku does not change that.", app.svc.Name, s.name, file)
			return true
		})
		storesByDefault(app, file, string(data), stores)
	}
}

// storesByDefault notes the stores that a program's text names as what it takes where its
// environment says nothing.
func storesByDefault(app *instance, file, text string, stores []store) {
	for _, name := range namedStores(defaultsOf(text), stores).names {
		app.byDefault = append(app.byDefault, [2]string{name, file})
	}
}

// takeDefaults has an application talk to those stores, once all else that tells whom it
// talks to is known.
func (d *discovery) takeDefaults(app *instance) {
	for _, b := range app.byDefault {
		if name, file := b[0], b[1]; !slices.ContainsFunc(app.svc.TalksTo, func(t string) bool { return d.kindOf(t) == d.kindOf(name) }) {
			app.svc.TalksTo = append(app.svc.TalksTo, name)
			d.note("%s talks to %s: a guess from %s, which names it where the environment does not; Kasoku does not change that.", app.svc.Name, name, file)
		}
	}
}

// kindOf a service that was found on this host or another.
func (d *discovery) kindOf(name string) Kind {
	for _, o := range append([]*discovery{d}, d.all...) {
		for _, in := range o.found {
			if in.svc.Name == name {
				return in.svc.Kind
			}
		}
	}
	return ""
}

// writtenOut reports whether a text holds a store's address between quotes.
func (s store) writtenOut(text string) bool {
	var addresses []string
	if s.port != "" {
		for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
			addresses = append(addresses, host+":"+s.port)
		}
	}
	addresses = append(addresses, s.sockets...)
	for line := range strings.Lines(text) {
		if commentLine.MatchString(line) {
			continue
		}
		for _, m := range quotedText.FindAllStringSubmatch(line, -1) {
			// As it stands, or in a URL or a DSN.
			if slices.ContainsFunc(addresses, func(a string) bool {
				return m[1] == a || strings.Contains(m[1], "//"+a) || strings.Contains(m[1], "@"+a) || strings.Contains(m[1], "("+a+")")
			}) {
				return true
			}
		}
	}
	return false
}

var (
	// commentLine begins as a comment of C's or the shell's family does.
	commentLine = lazyregexp.New(`^\s*(?://|/?\*|#)`)
	// quotedText is a text in a program, in any language's quotes.
	quotedText = lazyregexp.New(`["'\x60]([^"'\x60\n]{3,200})["'\x60]`)
)

// unsettled says of an application that nothing was found of whom it talks to: neither
// in files nor in its environment, nor by a connection that it holds.
func (d *discovery) unsettled(app *instance) {
	stores := d.stores()
	for _, o := range d.others() {
		stores = append(stores, o.stores()...)
	}
	if app.svc.Kind == App && app.svc.Root != "" && len(app.svc.Settings)+len(app.svc.TalksTo) == 0 && len(stores) > 0 {
		d.note("No file below %s names a database or cache that was found; fill in settings and talks_to of %s.", app.svc.Root, app.svc.Name)
	}
}

// packaged reports whether a package owns the folder: what an operator sets is elsewhere
// (FHS 3.0, 4.11: /usr/share is read-only data), or a link that leads there.
func packaged(root string) bool {
	return strings.HasPrefix(root, "/usr/share/") || strings.HasPrefix(root, "/usr/lib/")
}

// scriptExtensions of settings that are written as a program, which are looked for
// in a package's folder in /etc alone.
var scriptExtensions = []string{".pm", ".pl", ".lua", ".js", ""}

// reCompose are files that say how containers are started: what they name is in those, and
// what runs in them was left out.
var reCompose = lazyregexp.New(`^(?:docker-)?compose(?:[.-].*)?\.ya?ml$`)

func isSettingsName(name string) bool {
	return !reCompose.MatchString(name) && (slices.Contains(settingsExtensions, strings.ToLower(filepath.Ext(name))) || strings.HasPrefix(name, ".env"))
}

func (d *discovery) settingsFile(ctx context.Context, app *instance, file string, stores []store) {
	data, err := d.h.ReadFile(ctx, file)
	if err != nil || len(data) > settingsSize {
		return
	}
	if filepath.Ext(file) == ".php" {
		data = knownapp.WithoutComments(data) // examples in the documentation of code
	}
	found := namedStores(string(data), stores)
	if len(found.names) == 0 && !found.mentions {
		found = d.namedDatabase(ctx, string(data))
	}
	if names, guessed := d.farStores(ctx, string(data)); len(names) > 0 {
		found.names, found.guessed = append(found.names, names...), found.guessed || guessed
	}
	if len(found.names) == 0 && !found.mentions {
		storesByDefault(app, file, string(data), stores)
		return
	}
	app.svc.Settings = append(app.svc.Settings, file)
	for _, n := range found.names {
		if !slices.Contains(app.svc.TalksTo, n) {
			app.svc.TalksTo = append(app.svc.TalksTo, n)
		}
	}
	if found.guessed {
		d.note("%s talks to %s: a guess from %s, which names %s.", app.svc.Name, strings.Join(found.names, ", "), file, cmp.Or(found.why, "this machine but no port"))
	}
	if len(found.names) == 0 {
		d.note("%s: %s names a database that was not found on this machine.", app.svc.Name, file)
	}
}

// namedDatabase finds the database server that has a database which the text of a settings
// file names, where it names no server: programs take this machine's by default. The
// server runs in its data folder, in which each database is a folder of its name.
func (d *discovery) namedDatabase(ctx context.Context, text string) namedIn {
	if hostAnywhere.MatchString(text) {
		return namedIn{}
	}
	out := namedIn{guessed: true}
	for _, m := range databaseKey.FindAllStringSubmatch(text, -1) {
		for _, in := range d.found {
			if !in.svc.IsDatabase() || in.master == nil || slices.Contains(out.names, in.svc.Name) {
				continue
			}
			if info, err := d.h.Stat(ctx, fmt.Sprintf("/proc/%d/cwd/%s", in.master.pid, m[1])); err == nil && info.Mode.IsDir() {
				out.names, out.why = append(out.names, in.svc.Name), "its database "+m[1]
			}
		}
	}
	if len(out.names) != 1 { // none, or two that have one of that name
		return namedIn{}
	}
	return out
}
