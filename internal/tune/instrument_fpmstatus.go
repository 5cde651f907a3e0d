package tune

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

const fpmStatusWhy = "see how busy the pool's processes are during a diagnostic run"

// fpmStatus plans a status page for the pools of every php-fpm service that
// have none: pm.status_path in the pool, which is asked over FastCGI, so that
// no web server needs a rule for it.
func fpmStatus(b *Bench, snap *evidence.Snapshot) []instrument {
	if b.Instruments.Plain {
		return nil
	}
	var out []instrument
	for _, svc := range b.Stack.OfKind(stack.PHPFPM) {
		if !running(snap, svc) {
			continue
		}
		changes, err := fpmStatusOf(svc, snap)
		in := instrument{title: "Let the pools of " + svc.Name + " tell their status for a diagnostic run", changes: changes,
			fails: "the pools of " + svc.Name + " cannot be given a status page", without: "how busy their processes are is not judged"}
		out = in.planned(out, err)
	}
	return out
}

func fpmStatusOf(svc *stack.Service, snap *evidence.Snapshot) ([]change.Change, error) {
	conf, err := diagnose.FPMConfig(snap, svc)
	if err != nil {
		return nil, err
	}
	folder := ""
	if shared := snap.On(svc.HostName()).SharedMemory; shared != "" && ownsStatusListen(snap.PHP[svc.Name]["version"]) {
		folder = path.Join(shared, fmt.Sprintf("kasoku-status-%s-%d", strings.ToLower(svc.Name), time.Now().UnixNano()))
	}
	sockets := 0
	for _, pool := range conf.Sections() {
		if pool == "" || pool == "global" {
			continue
		}
		if v, _ := conf.Get(pool, "pm.status_path"); v.Text != "" {
			continue
		}
		page, err := secretPath()
		if err != nil {
			return nil, err
		}
		if err := conf.Set(pool, "pm.status_path", page); err != nil {
			return nil, err
		}
		socket := path.Join(folder, fmt.Sprintf("%d.sock", sockets))
		if v, _ := conf.Get(pool, "pm.status_listen"); folder == "" || v.Text != "" || len(socket) > longestSocket {
			continue
		}
		if err := conf.Set(pool, "pm.status_listen", socket); err != nil {
			return nil, err
		}
		sockets++
	}
	edits, err := editedFiles(snap, svc, conf.Changed(), fpmStatusWhy)
	if err != nil || sockets == 0 {
		return edits, err
	}
	// FPM's main process makes the sockets and gives them the owner and mode of
	// the pool's own; only Kasoku's user, and root, get into the folder.
	return append([]change.Change{{Kind: change.KindDir, Host: svc.HostName(), Path: folder,
		After: &change.FileState{Mode: 0o700, UID: -1, GID: -1}, Why: fpmStatusWhy}}, edits...), nil
}

// longestSocket is the longest name of a Unix socket (unix(7): 108 bytes with
// the NUL).
const longestSocket = 107

// ownsStatusListen: from PHP 8.0 on pm.status_listen answers beside the pool's
// processes (PHP manual, "FPM configuration"); without it a pool that is full
// cannot tell that it is.
func ownsStatusListen(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	return major != "" && (len(major) > 1 || major >= "8")
}

// secretPath is a path that nobody guesses: a web server may hand all it is
// asked for to PHP-FPM, which answers the status page to anyone who knows it.
func secretPath() (string, error) {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return "/kasoku-" + hex.EncodeToString(b[:]), nil
}
