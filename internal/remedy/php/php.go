// Package php plans changes of PHP and PHP-FPM.
package php

import (
	"fmt"
	"path"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// Set plans php.ini settings where they win: in a pool's php_value or
// php_admin_value, and unless every pool has its own, in the last file of the
// scan folder that names them, else in the service's php.ini. For Apache with
// PHP in it, see setApache.
func Set(in planning.Input, svc *stack.Service, values [][2]string, why string) ([]change.Change, error) {
	if svc.Kind == stack.Apache {
		return setApache(in, svc, values, why)
	}
	fpm, err := diagnose.FPMConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	return SetWith(in, svc, fpm, values, why)
}

// SetWith is Set on a pool configuration that may hold edits already.
func SetWith(in planning.Input, svc *stack.Service, fpm *ini.Config, values [][2]string, why string) ([]change.Change, error) {
	byFile := map[string][][2]string{}
	for _, kv := range values {
		// OPcache is set up before pools are read, so a pool's value alone can
		// turn nothing of it on.
		if setInPools(fpm, kv) && inPool(kv[0]) && kv[0] != "opcache.jit" {
			continue
		}
		file, err := winningIni(in.Snapshot, svc, kv[0])
		if err != nil {
			return nil, err
		}
		if f, known := in.Snapshot.Files[planning.HostOf(svc)][file]; known && !f.Writable && file != svc.PHPIni && inPool(kv[0]) {
			// The scan folder is shared with other programs, and its value
			// wins over php.ini's: the pools' own value wins over both.
			if err := addToPools(fpm, kv); err != nil {
				return nil, err
			}
			continue
		}
		byFile[file] = append(byFile[file], kv)
	}
	changed := fpm.Changed()
	for file, kvs := range byFile {
		conf, err := diagnose.PHPIni(in.Snapshot, svc, file)
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			if err := conf.Set("", kv[0], kv[1]); err != nil {
				return nil, err
			}
		}
		for p, b := range conf.Changed() {
			changed[p] = b
		}
	}
	return planning.FileChanges(in.Snapshot, svc, changed, change.Restart, why)
}

// setInPools edits the pools' own values of a php setting. It reports whether
// every pool has one, so that php.ini's does not count.
func setInPools(fpm *ini.Config, kv [2]string) bool {
	pools, own := 0, 0
	for _, pool := range fpm.Sections() {
		if pool == "" || pool == "global" {
			continue
		}
		pools++
		found := false
		for _, key := range fpm.Keys(pool) {
			for _, form := range []string{"php_admin_value", "php_admin_flag", "php_value", "php_flag"} {
				if key == form+"["+kv[0]+"]" && fpm.Set(pool, key, kv[1]) == nil {
					found = true
				}
			}
		}
		if found {
			own++
		}
	}
	return pools > 0 && own == pools
}

// inPool reports whether a pool's value of a setting has effect. OPcache is set
// up before pools are read; only whether JIT is used is looked at later (PHP
// manual, "OPcache configuration": opcache.jit is changeable at run time).
// Xdebug and pcov, too, read their mode when PHP starts.
func inPool(key string) bool {
	for _, early := range []string{"opcache.", "xdebug.", "pcov."} {
		if strings.HasPrefix(key, early) {
			return key == "opcache.jit"
		}
	}
	return true
}

func addToPools(fpm *ini.Config, kv [2]string) error {
	for _, pool := range fpm.Sections() {
		if pool == "" || pool == "global" {
			continue
		}
		if err := fpm.Set(pool, "php_admin_value["+kv[0]+"]", kv[1]); err != nil {
			return err
		}
	}
	return nil
}

// winningIni is the ini file whose value of key PHP uses: files of the scan
// folder come after php.ini, in alphabetical order (PHP manual, "The
// configuration file").
func winningIni(snap *evidence.Snapshot, svc *stack.Service, key string) (string, error) {
	best := ""
	for p, f := range snap.Files[planning.HostOf(svc)] {
		if f.Service != svc.Name || path.Ext(p) != ".ini" || p == svc.PHPIni {
			continue
		}
		conf, err := diagnose.PHPIni(snap, svc, p)
		if err != nil {
			return "", err
		}
		if _, ok := conf.Get("", key); ok && (path.Base(p) > path.Base(best) || path.Base(p) == path.Base(best) && p > best) {
			best = p
		}
	}
	if best != "" {
		return best, nil
	}
	if svc.PHPIni == "" {
		return "", fmt.Errorf("%s: name its php.ini in kasoku.yaml (php_ini)", svc.Name)
	}
	return svc.PHPIni, nil
}

func planOPcache(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	changes, err := Set(in, svc, [][2]string{{"opcache.enable", "1"}}, f.Text)
	if err != nil {
		return nil, err
	}
	p := planning.Plan{ID: "php.opcache:" + svc.Name, Title: "Turn on OPcache in " + svc.Name, Changes: changes}
	if v, known := in.Snapshot.PHP[svc.Name]["opcache.validate_timestamps"]; known && !diagnose.On(v) {
		// New scripts would not be seen before the next reload.
		p.Trades = []regulation.Trade{regulation.Staleness}
	}
	return []planning.Plan{p}, nil
}

func planJIT(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	// 64 MiB hold the machine code of a large framework; tracing is what the
	// manual recommends (PHP manual, "opcache.jit").
	changes, err := Set(in, svc, [][2]string{{"opcache.jit", "tracing"}, {"opcache.jit_buffer_size", "64M"}}, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "php.jit:" + svc.Name, Title: "Compile hot PHP code of " + svc.Name + " to machine code (JIT)", Changes: changes}}, nil
}

// planSessions moves session files to a file system in memory.
func planSessions(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	if planning.MachineOf(in, svc).SharedMemory == "" {
		return nil, fmt.Errorf("the host has no memory file system with room")
	}
	user, ok := in.Snapshot.Users[planning.HostOf(svc)+"/"+svc.Name]
	if !ok {
		return nil, fmt.Errorf("the user of %s's workers is not known", svc.Name)
	}
	dir := path.Join(planning.MachineOf(in, svc).SharedMemory, "kasoku-sessions-"+strings.ToLower(svc.Name))
	mk := change.Change{Kind: change.KindDir, Host: planning.HostOf(svc), Path: dir, Why: f.Text,
		After:   &change.FileState{Mode: 0o700, UID: user.UID, GID: user.GID},
		Command: fmt.Sprintf("install -d -m 700 -o %s -g %s %s", planning.NameOr(user.Name, user.UID), planning.NameOr(user.Group, user.GID), dir)}
	values := [][2]string{{"session.save_path", dir}}
	why := f.Text + " The folder is gone after a reboot; it must be there before " + svc.Name + " starts."
	if in.Snapshot.PHP[svc.Name]["session.gc_probability"] == "0" {
		// Distributions turn PHP's own clean-up off and clean the folder that
		// they know; nobody would empty this one.
		values = append(values, [2]string{"session.gc_probability", "1"})
	}
	changes, err := Set(in, svc, values, f.Text)
	if err != nil {
		return nil, err
	}
	all := []change.Change{mk}
	if planning.MachineOf(in, svc).Root && svc.Control.Unit != "" {
		all = append(all, planning.BootFolder(svc, dir, 0o700, user, "Without it the folder, and every log-in, would fail after a reboot."))
		why = f.Text + " systemd makes the folder anew at each boot."
	}
	return []planning.Plan{{ID: "php.session-memory:" + svc.Name, Title: "Keep sessions of " + svc.Name + " in memory", Why: why,
		Trades: []regulation.Trade{regulation.SessionDurability}, Changes: append(all, changes...)}}, nil
}
