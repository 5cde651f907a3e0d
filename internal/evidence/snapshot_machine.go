package evidence

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// machines reads what every host has.
func (t *taker) machines() error {
	front := t.st.FrontHost()
	for _, name := range t.st.HostNames() {
		m, err := machine(t.ctx, t.hosts[name])
		if err != nil {
			return fmt.Errorf("take a snapshot of %s: %w", name, err)
		}
		if name == front {
			t.snap.Root, t.snap.Memory, t.snap.CPUs, t.snap.SharedMemory = m.Root, m.Memory, m.CPUs, m.SharedMemory
			continue
		}
		if t.snap.Machines == nil {
			t.snap.Machines = map[string]Machine{}
		}
		t.snap.Machines[name] = m
	}
	if !t.opts.Brief && len(t.st.HostNames()) > 1 {
		t.addresses()
	}
	return nil
}

// addresses reads how the hosts may be called.
func (t *taker) addresses() {
	t.snap.Addresses = map[string][]string{}
	for _, name := range t.st.HostNames() {
		found, err := stack.HostAddresses(t.ctx, t.hosts[name])
		if err != nil {
			t.bad("addresses of "+name, err)
			continue
		}
		if data, err := t.hosts[name].ReadFile(t.ctx, "/proc/sys/kernel/hostname"); err == nil {
			found = append(found, strings.TrimSpace(string(data)))
		}
		t.snap.Addresses[name] = found
	}
}

// machine reads memory, CPUs and rights of a host.
func machine(ctx context.Context, h host.Host) (m Machine, err error) {
	data, err := h.ReadFile(ctx, "/proc/stat")
	if err != nil {
		return m, err
	}
	stat, err := parseStat(data)
	if err != nil {
		return m, err
	}
	m.CPUs = stat.CPUs
	if m.Memory, _, err = readMemory(ctx, h); err != nil {
		return m, err
	}
	res, err := h.Run(ctx, host.Command{Argv: []string{"id", "-u"}})
	if err != nil {
		return m, err
	}
	m.Root = strings.TrimSpace(string(res.Stdout)) == "0"
	m.SharedMemory = sharedMemory(ctx, h)
	return m, nil
}

const (
	shm = "/dev/shm"
	// shmRoom that must be free: 16,000 session files, each one page.
	shmRoom = 64 << 20
)

// sharedMemory is /dev/shm if it is a tmpfs with room.
func sharedMemory(ctx context.Context, h host.Host) string {
	data, err := h.ReadFile(ctx, "/proc/mounts")
	if err != nil || !mountedAs(data, shm, "tmpfs") {
		return ""
	}
	res, err := h.Run(ctx, host.Command{Argv: []string{"stat", "-f", "-c", "%a %S", shm}})
	if err != nil || res.ExitCode != 0 {
		return ""
	}
	f := strings.Fields(string(res.Stdout))
	if len(f) != 2 {
		return ""
	}
	blocks, err1 := strconv.ParseInt(f[0], 10, 64)
	size, err2 := strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil || blocks < shmRoom/max(size, 1) {
		return ""
	}
	return shm
}

// mountedAs: the last mount on dir is of this type and may be written
// (proc_pid_mounts(5): device, folder, type, options).
func mountedAs(mounts []byte, dir, kind string) bool {
	is := false
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) >= 4 && f[1] == dir {
			is = f[2] == kind && slices.Contains(strings.Split(f[3], ","), "rw")
		}
	}
	return is
}
