package tune

import (
	"fmt"
	"path"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// opcacheStatus plans a page with OPcache's counters for every php-fpm service
// of which no page of the site tells them: a PHP file in memory, outside of
// any document root, that is asked for over FastCGI.
func opcacheStatus(b *Bench, snap *evidence.Snapshot) []instrument {
	if b.Instruments.Plain {
		return nil
	}
	var out []instrument
	for _, svc := range b.Stack.OfKind(stack.PHPFPM) {
		shared, values := snap.On(svc.HostName()).SharedMemory, snap.PHP[svc.Name]
		conf, err := diagnose.FPMConfig(snap, svc)
		if svc.Status != "" || len(values) == 0 || err != nil || !running(snap, svc) {
			continue // the collector says why
		}
		page := evidence.OPcachePageOf(values, conf)
		in := instrument{title: "Let OPcache of " + svc.Name + " tell its counters for a diagnostic run",
			fails: "OPcache of " + svc.Name + " cannot be asked", without: "its memory is not judged"}
		switch {
		case page.Refused != "":
		case shared == "":
			page.Refused = "the host has no room in /dev/shm for the file that would tell it"
		default:
			dir := path.Join(shared, fmt.Sprintf("kasoku-opcache-%s-%d", strings.ToLower(svc.Name), time.Now().UnixNano()))
			page.File = path.Join(dir, "status"+page.Extension)
			content := []byte(evidence.OPcachePageText)
			const why = "see how full OPcache is during a diagnostic run"
			// Each pool may run as another user; the file tells nothing by itself.
			in.changes = []change.Change{
				{Kind: change.KindDir, Host: svc.HostName(), Path: dir, After: &change.FileState{Mode: 0o711, UID: -1, GID: -1}, Why: why},
				{Kind: change.KindFile, Host: svc.HostName(), Path: page.File, Before: &change.FileState{}, Why: why,
					After: &change.FileState{Hash: host.HashOf(content), Content: content, Mode: 0o444, UID: -1, GID: -1}}}
		}
		in.watch = func(o *evidence.CollectorOptions) {
			if o.OPcache == nil {
				o.OPcache = map[string]evidence.OPcachePage{}
			}
			o.OPcache[svc.Name] = page
		}
		out = append(out, in)
	}
	return out
}
