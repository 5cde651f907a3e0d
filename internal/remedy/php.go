package remedy

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
)

// setPHP plans php.ini settings where they win: in a pool's php_value or
// php_admin_value, in the last file of the scan folder that names them, else
// in the service's php.ini.
func setPHP(in Input, svc *stack.Service, values [][2]string, why string) ([]change.Change, error) {
	fpm, err := diagnose.FPMConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	byFile := map[string][][2]string{}
	for _, kv := range values {
		if setInPools(fpm, kv) {
			continue
		}
		file, err := winningIni(in.Snapshot, svc, kv[0])
		if err != nil {
			return nil, err
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
	return fileChanges(in.Snapshot, svc, changed, change.Restart, why)
}

type iniEditor interface {
	Sections() []string
	Keys(string) []string
	Set(section, key, value string) error
}

// setInPools edits a pool's own value of a php setting, if any pool has one.
func setInPools(fpm iniEditor, kv [2]string) bool {
	found := false
	for _, pool := range fpm.Sections() {
		for _, key := range fpm.Keys(pool) {
			for _, form := range []string{"php_admin_value", "php_admin_flag", "php_value", "php_flag"} {
				if key == form+"["+kv[0]+"]" && fpm.Set(pool, key, kv[1]) == nil {
					found = true
				}
			}
		}
	}
	return found
}

// winningIni is the ini file whose value of key PHP uses: files of the scan
// folder come after php.ini, in alphabetical order (PHP manual, "The
// configuration file").
func winningIni(snap *evidence.Snapshot, svc *stack.Service, key string) (string, error) {
	best := ""
	for p, f := range snap.Files[hostOf(svc)] {
		if f.Service != svc.Name || path.Ext(p) != ".ini" || p == svc.PHPIni {
			continue
		}
		conf, err := diagnose.PHPIni(snap, svc, p)
		if err != nil {
			return "", err
		}
		if _, ok := conf.Get("", key); ok && path.Base(p) > path.Base(best) {
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

func planOPcache(in Input, f diagnose.Finding) ([]Plan, error) {
	svc := in.Stack.Service(f.Service)
	changes, err := setPHP(in, svc, [][2]string{{"opcache.enable", "1"}}, f.Text)
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: "php.opcache:" + svc.Name, Title: "Turn on OPcache in " + svc.Name, Changes: changes}}, nil
}

func planJIT(in Input, f diagnose.Finding) ([]Plan, error) {
	svc := in.Stack.Service(f.Service)
	// 64 MiB hold the machine code of a large framework; tracing is what the
	// manual recommends (PHP manual, "opcache.jit").
	changes, err := setPHP(in, svc, [][2]string{{"opcache.jit", "tracing"}, {"opcache.jit_buffer_size", "64M"}}, f.Text)
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: "php.jit:" + svc.Name, Title: "Compile hot PHP code of " + svc.Name + " to machine code (JIT)", Changes: changes}}, nil
}

// planWorkers searches the number of processes of a pool, as static ones.
func planWorkers(in Input, f diagnose.Finding) ([]Plan, error) {
	svc := in.Stack.Service(f.Service)
	pool := f.Subject["pool"]
	current, err := strconv.Atoi(f.Subject["current"])
	if err != nil {
		return nil, fmt.Errorf("pool %s: pm.max_children is not a number", pool)
	}
	at := func(n int) ([]change.Change, error) {
		conf, err := diagnose.FPMConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		for _, kv := range [][2]string{{"pm", "static"}, {"pm.max_children", strconv.Itoa(n)}} {
			if err := conf.Set(pool, kv[0], kv[1]); err != nil {
				return nil, err
			}
		}
		return fileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, f.Text)
	}
	values := workerCounts(in, svc.Name, current, f.Subject["pm"] == "static")
	if len(values) == 0 {
		return nil, fmt.Errorf("pool %s: no other number fits into memory", pool)
	}
	p := Plan{ID: fmt.Sprintf("php.workers:%s:%s:%s-%d", svc.Name, pool, f.Subject["pm"], current),
		Title:  fmt.Sprintf("Find the number of processes of pool %s in %s", pool, svc.Name),
		Search: &Search{Name: "pm.max_children", Current: current, Values: values, At: at}}
	p.Changes, err = at(values[0])
	return []Plan{p}, err
}

// workerCounts are the numbers to try: one, two, four and eight processes per
// CPU, as far as memory allows.
func workerCounts(in Input, service string, current int, static bool) []int {
	perProcess := int64(32 * mib) // PHP's own default limit is 128 MiB; few use a quarter
	if use, ok := in.Evidence.Services[service]; ok && use.Processes > 1 && use.RSS > 0 {
		perProcess = max(use.RSS/int64(use.Processes), mib)
	}
	room := in.Evidence.System.MemoryAvailable - in.Snapshot.Memory*int64(in.Stack.Regulation.Headroom())/100
	var out []int
	for _, per := range []int{1, 2, 4, 8} {
		n := per * max(in.Snapshot.CPUs, 1)
		if static && n == current {
			continue
		}
		if int64(n-current)*perProcess > room {
			break
		}
		out = append(out, n)
	}
	return out
}

// planSessions moves session files to a file system in memory.
func planSessions(in Input, f diagnose.Finding) ([]Plan, error) {
	svc := in.Stack.Service(f.Service)
	if in.Snapshot.SharedMemory == "" {
		return nil, fmt.Errorf("the host has no memory file system with room")
	}
	user, ok := in.Snapshot.Users[hostOf(svc)+"/"+svc.Name]
	if !ok {
		return nil, fmt.Errorf("the user of %s's workers is not known", svc.Name)
	}
	dir := path.Join(in.Snapshot.SharedMemory, "kasoku-sessions-"+strings.ToLower(svc.Name))
	mk := change.Change{Kind: change.KindDir, Host: hostOf(svc), Path: dir, Why: f.Text,
		After:   &change.FileState{Mode: 0o700, UID: user.UID, GID: user.GID},
		Command: fmt.Sprintf("install -d -m 700 -o %s -g %s %s", user.Name, user.Group, dir)}
	changes, err := setPHP(in, svc, [][2]string{{"session.save_path", `"` + dir + `"`}}, f.Text)
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: "php.session-memory:" + svc.Name, Title: "Keep sessions of " + svc.Name + " in memory",
		Trades: []regulation.Trade{regulation.SessionDurability}, Changes: append([]change.Change{mk}, changes...)}}, nil
}
