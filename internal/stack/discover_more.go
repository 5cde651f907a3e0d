package stack

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// unixPeers are the paths of the unix sockets that the other ends of connected ones
// have, by inode: only ss(8) tells them.
func (d *discovery) unixPeers(ctx context.Context) map[uint64]string {
	return parseUnixPeers(d.output(ctx, "ss", "-xaH"))
}

// parseUnixPeers reads lines of `ss -xaH`: type, state, two queues, then local and
// peer address, each with the inode in a field of its own.
func parseUnixPeers(text string) map[uint64]string {
	out := map[uint64]string{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "ESTAB" || !strings.HasPrefix(f[4], "/") {
			continue
		}
		if peer, err := strconv.ParseUint(f[7], 10, 64); err == nil && peer > 0 {
			out[peer] = f[4]
		}
	}
	return out
}

// unitProperty of a service's unit; "" if it has none.
func (d *discovery) unitProperty(ctx context.Context, in *instance, name string) string {
	if in.svc.Control.Unit == "" {
		return ""
	}
	return strings.TrimSpace(d.output(ctx, "systemctl", "show", "--property="+name, "--value", in.svc.Control.Unit))
}

// execArgv finds the command line in systemd's own form of ExecStart=:
// "{ path=/bin/x ; argv[]=/bin/x -y ; … }".
var execArgv = regexp.MustCompile(`argv\[\]=(.*?) ;`)

// programFolders hold a program of an application that lies around them.
var programFolders = []string{"bin", "sbin", "libexec", "script", "scripts", "exe"}

// inferRoot fills in the folder of an application whose process works in "/", from the
// script that it runs: that of its command line, or where the process shows a title
// instead, of its unit.
func (d *discovery) inferRoot(ctx context.Context, app *instance) {
	if app.svc.Root != "" || app.svc.RunsIn != "" {
		return
	}
	words := strings.Fields(strings.Join(app.master.cmdline, " "))
	if dir := d.unitProperty(ctx, app, "WorkingDirectory"); filepath.IsAbs(dir) && dir != "/" {
		app.svc.Root = dir
		return
	}
	if m := execArgv.FindStringSubmatch(d.unitProperty(ctx, app, "ExecStart")); m != nil {
		words = append(words, strings.Fields(m[1])...)
	}
	for _, w := range words {
		if !filepath.IsAbs(w) || w == app.svc.Binary || filepath.Clean(w) != w {
			continue
		}
		if info, err := d.h.Stat(ctx, w); err != nil || !info.Mode.IsRegular() && info.Mode&fs.ModeSymlink == 0 {
			continue
		}
		dir := path.Dir(w)
		if slices.Contains(programFolders, path.Base(dir)) {
			dir = path.Dir(dir)
		}
		if strings.Count(dir, "/") >= 2 && dir != "/usr/local" && dir != "/usr/lib" && dir != "/usr/share" {
			app.svc.Root = dir
			return
		}
	}
}

// environment finds whom an application talks to in the environment that its process
// has, and the files that its unit takes it from. Nothing of it is kept but names of
// services and of files.
func (d *discovery) environment(ctx context.Context, app *instance, stores []store) {
	if app.svc.RunsIn != "" {
		return
	}
	if data, err := d.h.ReadFile(ctx, fmt.Sprintf("/proc/%d/environ", app.master.pid)); err == nil {
		text := strings.ReplaceAll(string(data), "\x00", "\n")
		found := namedStores(text, stores)
		if len(found.names) == 0 && !found.mentions {
			found = d.namedDatabase(ctx, text)
		}
		for _, n := range found.names {
			if !slices.Contains(app.svc.TalksTo, n) {
				app.svc.TalksTo = append(app.svc.TalksTo, n)
			}
		}
	}
	for line := range strings.Lines(d.unitProperty(ctx, app, "EnvironmentFiles")) {
		file, _, _ := strings.Cut(strings.TrimSpace(line), " (")
		if filepath.IsAbs(file) && !slices.Contains(app.svc.Settings, file) {
			d.settingsFile(ctx, app, file, stores)
		}
	}
}

// etcFolder is where a package keeps the settings of the application in this root:
// /etc/request-tracker5 of /usr/share/request-tracker5; "" if there is none.
func (d *discovery) etcFolder(ctx context.Context, root string) string {
	for _, above := range []string{"/usr/share/", "/usr/lib/", "/opt/", "/var/www/", "/srv/"} {
		if name, ok := strings.CutPrefix(root, above); ok {
			name, _, _ = strings.Cut(name, "/")
			if dir := path.Join("/etc", name); name != "" && exists(ctx, d.h, dir) {
				return dir
			}
		}
	}
	return ""
}

// build proposes how a compiled application is made, from the files that lie beside
// its program. A person sees it in kasoku.yaml before it is ever run.
func (d *discovery) build(ctx context.Context, app *instance) {
	exe := strings.TrimSuffix(app.svc.Binary, " (deleted)")
	if app.svc.RunsIn != "" || !filepath.IsAbs(exe) || strings.HasPrefix(exe, "/usr/") {
		return
	}
	name := path.Base(exe)
	for dir, up := path.Dir(exe), 0; up < 4 && strings.Count(dir, "/") >= 2; dir, up = path.Dir(dir), up+1 {
		product, err := filepath.Rel(dir, exe)
		if err != nil {
			return
		}
		has := func(file string) bool { return exists(ctx, d.h, path.Join(dir, file)) }
		var command []string
		switch {
		case has("Cargo.toml") && strings.HasPrefix(product, "target/release/"):
			command = []string{"cargo", "build", "--release"}
		case has("go.mod"):
			command = []string{d.goTool(ctx, dir), "build", "-o", product, d.mainPackage(ctx, dir, name)}
		case has("Makefile") && d.makes(ctx, path.Join(dir, "Makefile"), product):
			command = []string{"make", product}
		default:
			continue
		}
		app.svc.Build = &Build{Dir: dir, Command: command, Products: []string{product}}
		d.note("%s: build is a guess from the files in %s: %s; take it out or correct it if the program is made in another way.", app.svc.Name, dir, strings.Join(command, " "))
		return
	}
}

// lastThat prints the last file of the patterns' order that can be run.
const lastThat = `for pattern; do for f in $pattern; do [ -x "$f" ] && found=$f; done; [ -n "$found" ] && break; done; printf %s "$found"`

// goTool is the Go tool as a build command names it: where PATH does not hold one, that of
// whoever the module belongs to.
func (d *discovery) goTool(ctx context.Context, module string) string {
	if lookUp(ctx, d.h, "go") != "" {
		return "go"
	}
	home, err := d.h.Run(ctx, host.Command{Argv: []string{"sh", "-c", `getent passwd "$(stat -c %u "$1")" | cut -d: -f6`, "sh", module}})
	if err != nil {
		return "go"
	}
	found, err := d.h.Run(ctx, host.Command{Argv: append([]string{"sh", "-c", lastThat, "sh"}, host.GoTools(strings.TrimSpace(string(home.Stdout)))...)})
	if err != nil || len(found.Stdout) == 0 {
		return "go"
	}
	return string(found.Stdout)
}

// mainPackage is the package of a module that makes a program of that name, by the
// usual layout: cmd/NAME, or the module's own folder.
func (d *discovery) mainPackage(ctx context.Context, module, name string) string {
	if exists(ctx, d.h, path.Join(module, "cmd", name)) {
		return "./cmd/" + name
	}
	return "."
}

// makes reports whether a Makefile has a target of that name.
func (d *discovery) makes(ctx context.Context, file, target string) bool {
	data, err := d.h.ReadFile(ctx, file)
	return err == nil && regexp.MustCompile(`(?m)^(?:[^\s#:=]+ +)*`+regexp.QuoteMeta(target)+`(?: +[^\s#:=]+)* *:(?:[^=]|$)`).Match(data)
}

// titled reports whether a process shows a title instead of its command line, as
// Starman, Unicorn and PostgreSQL do: what it shows starts nothing.
func titled(ctx context.Context, d *discovery, p *process) bool {
	if len(p.cmdline) == 0 {
		return true
	}
	first := p.cmdline[0]
	if filepath.IsAbs(first) {
		return !exists(ctx, d.h, first)
	}
	return strings.ContainsAny(first, " :") || lookUp(ctx, d.h, first) == ""
}
