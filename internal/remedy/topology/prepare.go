package topology

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/diagnose"
	"kasoku/internal/host"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// prepare is what a spare service needs before it is asked: the application's
// code, a pool that listens for the web server, its unit.
func prepare(in planning.Input, f diagnose.Finding) ([][]change.Change, error) {
	spare := in.Stack.Service(f.Subject["spare"])
	if spare == nil {
		return nil, fmt.Errorf("there is no service %q", f.Subject["spare"])
	}
	main := in.Stack.Service(spare.SpareFor)
	var out [][]change.Change
	if c, ok := install(f, spare); ok {
		out = append(out, []change.Change{c})
	}
	var code, run []change.Change
	for folder := range strings.FieldsFuncSeq(f.Subject["copy"], func(r rune) bool { return r == '\n' }) {
		from := main.HostName()
		code = append(code, change.Change{Kind: change.KindReady, Host: planning.HostOf(spare),
			Ready:   &change.Ready{Dir: path.Dir(folder), Products: []string{path.Base(folder)}, From: from + ":" + path.Dir(folder)},
			Why:     fmt.Sprintf("%s is not on %s; it is copied from %s as it is now. Each deployment must bring it to both.", folder, spare.HostName(), from),
			Command: fmt.Sprintf("rsync -a --delete %s:%s/ %s:%s/", from, folder, spare.HostName(), folder)})
	}
	folders, err := foldersLike(in, f, main, spare)
	if err != nil {
		return nil, err
	}
	code = append(code, folders...)
	if len(code) > 0 {
		out = append(out, code)
	}
	if f.Subject["pool"] != "" {
		c, err := poolLike(in, f, spare)
		if err != nil {
			return nil, err
		}
		run = append(run, c)
	}
	for file := range strings.FieldsFuncSeq(f.Subject["php_ini"], func(r rune) bool { return r == '\n' }) {
		c, err := planning.FileChange(in.Snapshot, spare, file, in.Snapshot.Files[planning.HostOf(main)][file].Content, change.Restart,
			fmt.Sprintf("PHP in %s is set as in %s on %s.", spare.Name, main.Name, planning.HostOf(main)))
		if err != nil {
			return nil, err
		}
		run = append(run, c)
	}
	clients, err := clientsLike(in, f, spare)
	if err != nil {
		return nil, err
	}
	run = append(run, clients...)
	if unit := f.Subject["unit"]; unit != "" {
		for i := range run {
			run[i].Service, run[i].Activate = "", change.None // it reads the pool when it starts
		}
		run = append(run, change.Change{Kind: change.KindUnit, Host: planning.HostOf(spare), Service: spare.Name,
			Unit:    &change.Unit{Name: unit, After: change.UnitState{Enabled: "enabled", Active: "active"}},
			Why:     spare.Name + " does not run. It is started, and at each boot, before it is asked.",
			Command: "systemctl enable --now " + unit})
	}
	if len(run) > 0 {
		out = append(out, run)
	}
	return out, nil
}

// foldersLike gives the spare's host the folders that Kasoku has made for the
// application's settings.
func foldersLike(in planning.Input, f diagnose.Finding, main, spare *stack.Service) ([]change.Change, error) {
	var out []change.Change
	for folder := range strings.FieldsFuncSeq(f.Subject["folders"], func(r rune) bool { return r == '\n' }) {
		user, known := in.Snapshot.Users[planning.HostOf(main)+"/"+main.Name]
		if !known {
			return nil, fmt.Errorf("the user of %s's workers is not known, to whom %s on %s must belong", main.Name, folder, spare.HostName())
		}
		out = append(out, change.Change{Kind: change.KindDir, Host: planning.HostOf(spare), Path: folder,
			Why:     fmt.Sprintf("The settings of the application name %s, which only %s has.", folder, planning.HostOf(main)),
			After:   &change.FileState{Mode: 0o700, UID: user.UID, GID: user.GID},
			Command: fmt.Sprintf("install -d -m 700 -o %s -g %s %s", planning.NameOr(user.Name, user.UID), planning.NameOr(user.Group, user.GID), folder)})
	}
	return out, nil
}

// install plans the packages that a spare lacks. They do not start what they
// bring: their own pool is none that anybody asks.
func install(f diagnose.Finding, spare *stack.Service) (change.Change, bool) {
	names := strings.Fields(f.Subject["packages"])
	if len(names) == 0 {
		return change.Change{}, false
	}
	// The server itself first, so that the title tells what it is about.
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := strings.HasSuffix(a, "-fpm"), strings.HasSuffix(b, "-fpm")
		switch {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return 0
	})
	return change.Change{Kind: change.KindPackage, Host: planning.HostOf(spare), Package: &change.Package{Name: names[0], Version: "candidate", With: names[1:]},
		Why:     fmt.Sprintf("%s runs from these packages, and %s lacks them.", spare.SpareFor, spare.HostName()),
		Command: "apt-get install --no-install-recommends " + strings.Join(names, " ")}, true
}

// notCopied are settings of a pool that are of its own endpoint.
var notCopied = []string{"listen", "listen.owner", "listen.group", "listen.mode", "listen.acl_users", "listen.acl_groups", "listen.allowed_clients"}

// poolLike writes a pool for the spare like the one that is asked now. Only the
// web server may connect (PHP manual, "FPM configuration":
// listen.allowed_clients): FastCGI asks for no password.
func poolLike(in planning.Input, f diagnose.Finding, spare *stack.Service) (change.Change, error) {
	conf, err := diagnose.FPMConfig(in.Snapshot, in.Stack.Service(spare.SpareFor))
	if err != nil {
		return change.Change{}, err
	}
	pool := f.Subject["pool"]
	name := "kasoku-" + pool
	file := path.Join(f.Subject["pool_folder"], name+".conf")
	own, err := ini.Load(file, ini.FPM, func(string) ([]byte, error) {
		return []byte("; " + f.Service + " asks this pool from another host.\n"), nil
	}, func(string) ([]string, error) { return nil, nil })
	if err != nil {
		return change.Change{}, err
	}
	set := func(key, value string) {
		if err == nil {
			err = own.Set(name, key, value)
		}
	}
	set("listen", f.Subject["address"])
	set("listen.allowed_clients", f.Subject["client"])
	for _, key := range conf.Keys(pool) {
		if v, ok := conf.Get(pool, key); ok && !slices.Contains(notCopied, key) {
			set(key, strings.ReplaceAll(v.Text, "$pool", pool))
		}
	}
	if err != nil {
		return change.Change{}, fmt.Errorf("write a pool like %s for %s: %w", pool, spare.Name, err)
	}
	content := own.Changed()[file]
	return change.Change{Kind: change.KindFile, Host: planning.HostOf(spare), Service: spare.Name, Activate: change.Reload, Path: file,
		Why:    fmt.Sprintf("A pool like %s of %s, for %s alone.", pool, spare.SpareFor, f.Subject["client"]),
		Before: &change.FileState{}, After: &change.FileState{Hash: host.HashOf(content), Content: content, Mode: 0o644, UID: -1, GID: -1}}, nil
}
