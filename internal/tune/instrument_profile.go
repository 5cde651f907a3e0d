package tune

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// profiled reports whether diagnostic runs take profiles.
func (b *Bench) profiled() bool { return !b.Instruments.Plain && b.Stack.Evidence.Profile != "off" }

// phpProfiles plans a sampling profiler for the pools of every php-fpm service:
// a folder in memory that the pool's user owns, a PHP file in it, and the
// pools' setting that runs it before each script. Where PHP has no profiler,
// FPM's own slow log is turned on. Pools that are refused are told by the
// collector.
func phpProfiles(b *Bench, snap *evidence.Snapshot) []instrument {
	if !b.profiled() {
		return nil
	}
	var out []instrument
	for _, svc := range b.Stack.OfKind(stack.PHPFPM) {
		user, known := snap.Users[svc.HostName()+"/"+svc.Name]
		shared := snap.On(svc.HostName()).SharedMemory
		if !known || shared == "" || len(snap.PHP[svc.Name]) == 0 {
			continue
		}
		conf, err := diagnose.FPMConfig(snap, svc)
		if err != nil {
			continue // the collector says so
		}
		p := &phpProfile{svc: svc, snap: snap, conf: conf, user: user,
			folder: path.Join(shared, fmt.Sprintf("kasoku-php-%s-%d", strings.ToLower(svc.Name), time.Now().UnixNano()))}
		if changes := p.changes(evidence.PHPProfilePools(snap.PHP[svc.Name], conf, user)); len(changes) > 0 {
			out = append(out, instrument{title: "Sample PHP functions of " + svc.Name + " for a diagnostic run", changes: changes,
				fails: "PHP functions of " + svc.Name + " cannot be sampled", without: "which of them take the time is not judged"})
		}
	}
	return out
}

// phpProfile is the plan for one service.
type phpProfile struct {
	svc    *stack.Service
	snap   *evidence.Snapshot
	conf   *ini.Config
	user   evidence.ProcessUser
	folder string
}

const phpProfileWhy = "see in which functions PHP spends its time during a diagnostic run"

// changes are the folder, the PHP files and the pools' configuration; nothing
// if there is no pool to instrument, or its file may not be written.
func (p *phpProfile) changes(pools []evidence.PHPPool) []change.Change {
	out := []change.Change{{Kind: change.KindDir, Host: p.svc.HostName(), Path: p.folder, Why: phpProfileWhy,
		After: &change.FileState{Mode: 0o700, UID: p.user.UID, GID: p.user.GID}}}
	children := 0
	for _, pool := range pools {
		children += max(pool.Children, 1)
	}
	var chained []string
	for _, pool := range pools {
		var err error
		switch {
		case pool.Refused == "":
			n := slices.Index(chained, pool.Prepend)
			if n < 0 {
				n = len(chained)
				chained = append(chained, pool.Prepend)
				out = append(out, p.file(n, evidence.PHPProfileFile(p.folder, pool.Prepend, children)))
			}
			err = p.conf.Set(pool.Name, pool.Key, path.Join(p.folder, evidence.PHPProfileName(n)))
		case pool.NoProfiler && !evidence.SlowLogged(pool.SlowTimeout):
			// A second is the shortest that FPM knows.
			if err = p.conf.Set(pool.Name, "request_slowlog_timeout", "1s"); err == nil {
				err = p.conf.Set(pool.Name, "slowlog", path.Join(p.folder, "slow.log"))
			}
		}
		if err != nil {
			return nil
		}
	}
	edits := p.edits()
	if len(edits) == 0 {
		return nil
	}
	return append(out, edits...)
}

func (p *phpProfile) file(n int, content []byte) change.Change {
	return change.Change{Kind: change.KindFile, Host: p.svc.HostName(), Path: path.Join(p.folder, evidence.PHPProfileName(n)), Before: &change.FileState{},
		After: &change.FileState{Hash: host.HashOf(content), Content: content, Mode: 0o400, UID: p.user.UID, GID: p.user.GID}, Why: phpProfileWhy}
}

// edits are the pools' changed files; none if one of them may not be written.
func (p *phpProfile) edits() []change.Change {
	changed := p.conf.Changed()
	var out []change.Change
	for _, file := range slices.Sorted(maps.Keys(changed)) {
		f, known := p.snap.Files[p.svc.HostName()][file]
		if !known || !f.Writable {
			return nil
		}
		before := change.FileState{Mode: fs.FileMode(f.Mode), UID: f.UID, GID: f.GID, ModTime: f.ModTime, Hash: host.HashOf(f.Content), Content: f.Content}
		after := change.FileState{Mode: fs.FileMode(f.Mode), UID: f.UID, GID: f.GID, Hash: host.HashOf(changed[file]), Content: changed[file]}
		out = append(out, change.Change{Kind: change.KindFile, Host: p.svc.HostName(), Service: p.svc.Name, Activate: change.Reload,
			Path: file, Before: &before, After: &after, Why: phpProfileWhy})
	}
	return out
}
