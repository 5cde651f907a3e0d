package evidence

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// workerUser reads whom a service's workers run as: the last descendant's
// user, or the main process' own when it has none.
func workerUser(ctx context.Context, h host.Host, pids []int) (ProcessUser, error) {
	var u ProcessUser
	err := fmt.Errorf("no process")
	// Workers come after the main process; one may end while it is read.
	for i := len(pids) - 1; i >= 0; i-- {
		var data []byte
		if data, err = h.ReadFile(ctx, fmt.Sprintf("/proc/%d/status", pids[i])); err != nil {
			continue
		}
		if u, err = parseStatusUser(data); err == nil {
			break
		}
	}
	if err != nil {
		return u, fmt.Errorf("read the user of the workers: %w", err)
	}
	u.Name, u.Group = nameOf(ctx, h, "passwd", u.UID), nameOf(ctx, h, "group", u.GID)
	return u, nil
}

// nameOf finds the name of a user ("passwd") or group ("group"): in the local
// file, else by getent(1), which also asks directories. "" if there is none.
func nameOf(ctx context.Context, h host.Host, list string, id int) string {
	if data, err := h.ReadFile(ctx, "/etc/"+list); err == nil {
		if name := parseNameList(data, id); name != "" {
			return name
		}
	}
	res, err := h.Run(ctx, host.Command{Argv: []string{"getent", list, strconv.Itoa(id)}})
	if err != nil || res.ExitCode != 0 {
		return ""
	}
	name, _, _ := strings.Cut(string(res.Stdout), ":")
	return name
}

// may reports whether u may use a file in the way of bit: 4 read, 1 enter.
func (u ProcessUser) may(info host.FileInfo, bit uint32) bool {
	mode := uint32(info.Mode.Perm())
	switch {
	case u.UID == 0:
		return true
	case info.UID == u.UID:
		return mode>>6&bit == bit
	case u.inGroup(info.GID):
		return mode>>3&bit == bit
	}
	return mode&bit == bit
}

// notByPID says that u may make no files in the folder of a pid file; false if that
// is not known.
func (u ProcessUser) notByPID(ctx context.Context, h host.Host, pidFile string) bool {
	if pidFile == "" {
		return false
	}
	const writeAndEnter = 0o3
	info, err := h.Stat(ctx, path.Dir(pidFile))
	return err == nil && !u.may(info, writeAndEnter)
}

func (u ProcessUser) inGroup(gid int) bool {
	if u.GID == gid {
		return true
	}
	for _, g := range u.Groups {
		if g == gid {
			return true
		}
	}
	return false
}
