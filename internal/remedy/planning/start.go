package planning

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// StartChanges are the changes of files that say how a service is started,
// sorted by path. One that is not there yet is made: a drop-in of its unit with
// the folder that it lies in, its configuration. A process reads them when it
// starts, so the service is restarted.
func StartChanges(in Input, svc *stack.Service, changed map[string][]byte, why string) ([]change.Change, error) {
	have := in.Snapshot.Files[HostOf(svc)]
	var out []change.Change
	for _, p := range slices.Sorted(maps.Keys(changed)) {
		if _, known := have[p]; known {
			c, err := FileChange(in.Snapshot, svc, p, changed[p], change.Restart, why)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
			continue
		}
		if dir := path.Dir(p); strings.HasPrefix(dir, "/etc/systemd/system/") && strings.HasSuffix(dir, ".d") && !holdsFile(have, dir) {
			out = append(out, change.Change{Kind: change.KindDir, Host: HostOf(svc), Path: dir, Why: "Drop-ins of the unit of " + svc.Name + " lie there.",
				Before: &change.FileState{}, After: &change.FileState{Mode: 0o755, UID: -1, GID: -1}})
		}
		out = append(out, change.Change{Kind: change.KindFile, Host: HostOf(svc), Service: svc.Name, Activate: change.Restart, Path: p, Why: why,
			Before: &change.FileState{}, After: &change.FileState{Hash: host.HashOf(changed[p]), Content: changed[p], Mode: 0o644, UID: -1, GID: -1}})
	}
	return out, nil
}

// holdsFile reports whether a file that was read lies in dir.
func holdsFile[F any](files map[string]F, dir string) bool {
	for p := range files {
		if path.Dir(p) == dir {
			return true
		}
	}
	return false
}

// UnitFiles plans that the unit which starts a service lets a process have n
// files open; none if it does, or if no unit starts it. Without LimitNOFILE=
// the hard limit is systemd's own, 524288 since version 240
// (systemd-system.conf(5), DefaultLimitNOFILE=), up to which a server may
// raise its own.
func UnitFiles(in Input, svc *stack.Service, n int, why string) ([]change.Change, error) {
	if svc.ControlMethod() != stack.MethodSystemd {
		return nil, nil
	}
	start, err := diagnose.StartOf(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	limit := unitFiles
	if text, ok := start.Unit("LimitNOFILE"); ok && text != "" {
		limit = hardLimit(text)
	}
	if limit >= n {
		return nil, nil
	}
	return SetUnit(in, svc, why, [2]string{"LimitNOFILE", strconv.Itoa(n)})
}

// unitFiles is the hard limit of units that name none.
const unitFiles = 524288

// hardLimit reads a limit of a unit, "soft:hard" or one number for both
// (systemd.exec(5), "Process Properties"); 0 if it cannot be read.
func hardLimit(text string) int {
	if _, hard, both := strings.Cut(text, ":"); both {
		text = hard
	}
	if text == "infinity" {
		return math.MaxInt
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 0
	}
	return n
}

// SetUnit plans settings of the [Service] section of a service's unit, as
// pairs of a name and a value; none if they are so already.
func SetUnit(in Input, svc *stack.Service, why string, settings ...[2]string) ([]change.Change, error) {
	start, err := diagnose.StartOf(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if err := start.SetUnit(s[0], s[1]); err != nil {
			return nil, err
		}
	}
	return StartChanges(in, svc, start.Changed(), why)
}

// BootFolder has systemd make a folder in memory at each boot, before any
// service starts (tmpfiles.d(5)).
func BootFolder(svc *stack.Service, dir string, mode fs.FileMode, user evidence.ProcessUser, why string) change.Change {
	content := fmt.Appendf(nil, "d %s %04o %s %s -\n", dir, mode.Perm(), NameOr(user.Name, user.UID), NameOr(user.Group, user.GID))
	return change.Change{Kind: change.KindFile, Host: HostOf(svc), Path: "/etc/tmpfiles.d/" + path.Base(dir) + ".conf", Why: why,
		Before: &change.FileState{}, After: &change.FileState{Hash: host.HashOf(content), Content: content, Mode: 0o644}}
}

// ExpectWorkers has the last of the changes that the service takes on say how many workers
// must run then.
func ExpectWorkers(changes []change.Change, svc *stack.Service, w change.Workers) {
	for i := len(changes) - 1; i >= 0; i-- {
		if changes[i].Service == svc.Name && changes[i].Activate == change.Restart {
			changes[i].Workers = &w
			return
		}
	}
}
