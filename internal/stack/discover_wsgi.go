package stack

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/confedit/apache"
)

// wsgiDepth is how many folders above its script an application of mod_wsgi is looked
// for: Django's project lies in a folder of its own beside manage.py.
const wsgiDepth = 2

// wsgiRoots are the folders of applications that mod_wsgi runs in Apache.
func (d *discovery) wsgiRoots(ctx context.Context, cfg *apache.Config) []string {
	if !cfg.Loads("wsgi_module") {
		return nil
	}
	var out, named []string
	for _, dir := range cfg.Root.FindAll("WSGIPythonPath", "WSGIDaemonProcess") {
		named = append(named, wsgiFolders(dir)...)
	}
	for _, dir := range cfg.Root.FindAll("WSGIScriptAlias", "WSGIScriptAliasMatch") {
		if len(dir.Args) < 2 || !filepath.IsAbs(dir.Args[1]) || strings.ContainsAny(dir.Args[1], "$%") {
			continue
		}
		if root := d.wsgiRoot(ctx, filepath.Clean(dir.Args[1]), named); !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	return out
}

// wsgiFolders are the folders in which a directive of mod_wsgi has Python look for modules,
// or works.
func wsgiFolders(dir *apache.Directive) (out []string) {
	args := dir.Args
	if dir.Is("WSGIPythonPath") && len(args) == 1 {
		args = []string{"python-path=" + args[0]}
	}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		if name != "python-path" && name != "home" {
			continue
		}
		for _, at := range filepath.SplitList(value) {
			if filepath.IsAbs(at) {
				out = append(out, filepath.Clean(at))
			}
		}
	}
	return out
}

// wsgiRoot is the folder of the application that a script starts. Often the script is
// alone in a folder that the web server shows, and names the application's: that with
// manage.py in or a little above the script's own; else one above the script that the
// script names; else what it or mod_wsgi's directives (named) name elsewhere, but for
// folders of packages; else the script's own.
func (d *discovery) wsgiRoot(ctx context.Context, script string, named []string) string {
	own := path.Dir(script)
	for above, n := own, 0; n < wsgiDepth; above, n = path.Dir(above), n+1 {
		if exists(ctx, d.h, path.Join(above, "manage.py")) {
			return above
		}
	}
	named = slices.Concat(d.foldersIn(ctx, script), named)
	for _, at := range named {
		if at != own && Below(at, own) && strings.Count(own[len(at):], "/") <= wsgiDepth && strings.Count(at, "/") > 1 {
			return at
		}
	}
	for _, at := range named {
		if !Below(own, at) && !strings.Contains(at, "/site-packages") && !exists(ctx, d.h, path.Join(at, "pyvenv.cfg")) && d.isFolder(ctx, at) {
			return at
		}
	}
	return own
}

// foldersIn are the absolute paths of folders that a program names between quotes.
func (d *discovery) foldersIn(ctx context.Context, file string) (out []string) {
	data, err := d.h.ReadFile(ctx, file)
	if err != nil || len(data) > settingsSize {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		if commentLine.MatchString(line) {
			continue
		}
		for _, m := range quotedText.FindAllStringSubmatch(line, -1) {
			if at := filepath.Clean(m[1]); filepath.IsAbs(m[1]) && d.isFolder(ctx, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

func (d *discovery) isFolder(ctx context.Context, at string) bool {
	info, err := d.h.Stat(ctx, at)
	return err == nil && info.Mode.IsDir()
}
