package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
)

// process is one entry of the process table.
type process struct {
	procStat
	cmdline []string
}

// title is the command line as one text.
func (p *process) title() string { return strings.Join(p.cmdline, " ") }

// processes is a host's process table at one moment.
type processes struct {
	h     host.Host
	byPID map[int]*process
}

// readProcesses reads /proc. Kernel threads and processes that ended meanwhile
// are left out.
func readProcesses(ctx context.Context, h host.Host) (*processes, error) {
	t := &processes{h: h, byPID: map[int]*process{}}
	h = host.Gather(ctx, h, "/proc/[0-9]*/stat", "/proc/[0-9]*/cmdline")
	entries, err := h.List(ctx, "/proc")
	if err != nil {
		return nil, fmt.Errorf("read the process table of %s: %w", h.Name(), err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(filepath.Base(e.Path))
		if err != nil {
			continue
		}
		p, err := readProcess(ctx, h, pid)
		if err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("read the process table of %s: %w", h.Name(), err)
			}
			continue
		}
		if !p.dead() {
			t.byPID[pid] = p
		}
	}
	return t, nil
}

// readProcess reads one process; fs.ErrNotExist if there is none.
func readProcess(ctx context.Context, h host.Host, pid int) (*process, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	data, err := h.ReadFile(ctx, dir+"/stat")
	if err != nil {
		return nil, err
	}
	st, err := parseProcStat(data)
	if err != nil {
		return nil, err
	}
	p := &process{procStat: st}
	if data, err = h.ReadFile(ctx, dir+"/cmdline"); err == nil {
		p.cmdline = parseCmdline(data)
	}
	return p, nil
}

// Of a process that is running another program (execve) the command line is empty for a moment,
// as of a server that starts itself anew: HAProxy's master, once its worker serves. It was so in a
// thousandth of the looks at one within 0.6 s of its start, so 50 ms are many times enough.
const (
	execLooks = 10
	execPause = 5 * time.Millisecond
)

// settles waits until a process has a command line; false: it has none.
func (t *processes) settles(ctx context.Context, p *process) bool {
	for look := range execLooks {
		if look > 0 {
			select {
			case <-ctx.Done():
				return false
			case <-time.After(execPause):
			}
		}
		now, err := readProcess(ctx, t.h, p.pid)
		if err != nil || now.started != p.started || now.dead() {
			return false
		}
		if len(now.cmdline) > 0 {
			*p = *now
			return true
		}
	}
	return false
}

// sorted returns the processes by PID.
func (t *processes) sorted() []*process {
	out := make([]*process, 0, len(t.byPID))
	for _, p := range t.byPID {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *process) int { return a.pid - b.pid })
	return out
}

// handOvers is how often a service's processes are looked for again: a program
// that becomes a daemon is seen as the process that started it, which is gone a
// moment later.
const (
	handOvers    = 5
	handOverTime = 100 * time.Millisecond
)

// under are the roots that are still there, with their descendants.
func (t *processes) under(roots []identity) []identity {
	var ids []identity
	for _, root := range roots {
		if p := t.byPID[root.pid]; p == nil || p.started != root.started {
			continue
		}
		for _, pid := range t.family(root.pid) {
			if id := (identity{pid, t.byPID[pid].started}); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// family returns the PID and all its descendants, ascending after the first.
func (t *processes) family(pid int) []int {
	children := map[int][]int{}
	for _, p := range t.byPID {
		children[p.ppid] = append(children[p.ppid], p.pid)
	}
	if t.byPID[pid] == nil {
		return nil
	}
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	slices.Sort(out[1:])
	return out
}

// link reads a symlink of /proc/PID, e.g. exe or cwd; "" if it is unreadable.
// The " (deleted)" that the kernel adds after an upgrade is cut off.
func link(ctx context.Context, h host.Host, pid int, name string) string {
	info, err := h.Stat(ctx, fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(info.Target, " (deleted)")
}

// program names what a process runs: its executable, or what its command line
// says when the executable cannot be read (another user's process).
func program(ctx context.Context, h host.Host, p *process) string {
	if exe := link(ctx, h, p.pid, "exe"); exe != "" {
		return exe
	}
	if len(p.cmdline) > 0 && strings.HasPrefix(p.cmdline[0], "/") {
		first, _, _ := strings.Cut(p.cmdline[0], " ")
		return first
	}
	return p.comm
}

// socketTable holds the sockets of one network namespace by inode.
type socketTable map[uint64]socket

// readSockets reads the sockets that the process pid can see.
func readSockets(ctx context.Context, h host.Host, pid int) (socketTable, error) {
	return readSocketsIn(ctx, h, pid, 1<<host.TCPListen|1<<host.TCPEstablished)
}

// readListeners is readSockets for who looks at those that listen only: some of the
// others may be missing, as the kernel tells these twenty times as fast.
func readListeners(ctx context.Context, h host.Host, pid int) (socketTable, error) {
	return readSocketsIn(ctx, h, pid, 1<<host.TCPListen)
}

func readSocketsIn(ctx context.Context, h host.Host, pid int, states uint32) (socketTable, error) {
	t, files := socketTable{}, []string{"unix"}
	if !t.ask(ctx, h, pid, states) {
		files = append(files, "tcp", "tcp6")
	}
	dir := fmt.Sprintf("/proc/%d/net/", pid)
	for _, name := range files {
		data, err := h.ReadFile(ctx, dir+name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no IPv6
		}
		if err != nil {
			return nil, fmt.Errorf("read sockets of process %d: %w", pid, err)
		}
		found := parseTCP(bytes.NewReader(data))
		if name == "unix" {
			found = parseUnix(bytes.NewReader(data))
		}
		for _, s := range found {
			t[s.inode] = s
		}
	}
	return t, nil
}

// ask adds the TCP sockets in the states of a mask, if the kernel of this machine can be
// asked for them: the process is of this machine and in Kasoku's network namespace.
// Otherwise it adds nothing. To read files of them is much dearer (host.Local.TCPSockets).
func (t socketTable) ask(ctx context.Context, h host.Host, pid int, states uint32) bool {
	local, is := h.(*host.Local)
	if !is {
		return false
	}
	own, err1 := h.Stat(ctx, "/proc/thread-self/ns/net")
	its, err2 := h.Stat(ctx, fmt.Sprintf("/proc/%d/ns/net", pid))
	if err1 != nil || err2 != nil || own.Target == "" || own.Target != its.Target {
		return false
	}
	found, err := local.TCPSockets(states)
	if err != nil {
		return false
	}
	unmapped := func(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
	for _, s := range found {
		t[s.Inode] = socket{inode: s.Inode, local: unmapped(s.Local), remote: unmapped(s.Remote), listening: s.State == host.TCPListen, connected: s.State == host.TCPEstablished}
	}
	return true
}

// of returns the sockets that the processes hold, each once.
func (t socketTable) of(ctx context.Context, h host.Host, pids []int) ([]socket, error) {
	inodes, err := socketInodes(ctx, h, pids)
	return t.these(inodes), err
}

// these are the sockets with the inodes, where the table knows them.
func (t socketTable) these(inodes []uint64) []socket {
	var out []socket
	for _, inode := range inodes {
		if s, known := t[inode]; known {
			out = append(out, s)
		}
	}
	return out
}

// socketInodes are those of the sockets that the processes hold, each once. With an
// error they are those of the processes before it.
func socketInodes(ctx context.Context, h host.Host, pids []int) ([]uint64, error) {
	var out []uint64
	seen := map[uint64]bool{}
	for _, pid := range pids {
		fds, err := h.List(ctx, fmt.Sprintf("/proc/%d/fd", pid))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return out, fmt.Errorf("read open files of process %d: %w", pid, err)
		}
		for _, fd := range fds {
			target := fd.Target
			if target == "" {
				if info, err := h.Stat(ctx, fd.Path); err == nil {
					target = info.Target
				}
			}
			text, ok := strings.CutPrefix(target, "socket:[")
			inode, err := strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 64)
			if ok && err == nil && !seen[inode] {
				seen[inode] = true
				out = append(out, inode)
			}
		}
	}
	return out, nil
}
