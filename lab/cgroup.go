package lab

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// hierarchy is one mounted cgroup tree (cgroups(7)).
type hierarchy struct {
	mount       string
	v2          bool
	controllers []string
}

// wanted are what a host needs its own cgroup of: systemd's own tree, caps, and
// the count of processes, in which none can hide from Down.
var wanted = []string{"name=systemd", "cpu", "cpuacct", "memory", "pids", "blkio"}

// group is the folder of all labs' cgroups in each hierarchy.
const group = "kasoku-lab"

// hierarchies lists the mounted cgroup trees that a host gets a cgroup in.
func hierarchies() ([]hierarchy, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find the cgroups: %w", err)
	}
	out := parseHierarchies(data)
	for i, h := range out {
		if h.v2 {
			names, err := os.ReadFile(filepath.Join(h.mount, "cgroup.controllers"))
			if err != nil {
				return nil, fmt.Errorf("read what cgroups can do: %w", err)
			}
			out[i].controllers = strings.Fields(string(names))
		}
	}
	if len(out) == 0 {
		return nil, &CannotError{"no cgroups are mounted in /sys/fs/cgroup", "mount them; " + plain}
	}
	return out, nil
}

// parseHierarchies reads proc_pid_mountinfo(5). A tree that is mounted twice counts once.
func parseHierarchies(data []byte) []hierarchy {
	var out []hierarchy
	seen := map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(g) < 3 || seen[f[2]] || f[3] != "/" {
			continue
		}
		h := hierarchy{mount: unescapeMount(f[4]), v2: g[0] == "cgroup2"}
		if g[0] == "cgroup" {
			for _, option := range strings.Split(g[2], ",") {
				if slices.Contains(wanted, option) {
					h.controllers = append(h.controllers, option)
				}
			}
		}
		if h.v2 || len(h.controllers) > 0 {
			seen[f[2]] = true
			out = append(out, h)
		}
	}
	return out
}

func (h *Host) cgroup(t hierarchy) string { return filepath.Join(t.mount, group, h.Machine) }

// makeCgroups makes the host's cgroup in every hierarchy and returns them.
func (h *Host) makeCgroups() ([]string, error) {
	trees, err := hierarchies()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range trees {
		dir := h.cgroup(t)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make a cgroup for %s: %w", h.Name, err)
		}
		out = append(out, dir)
		if !t.v2 {
			continue
		}
		for _, c := range t.controllers {
			if !slices.Contains(wanted, c) && c != "io" {
				continue
			}
			for _, parent := range []string{t.mount, filepath.Dir(dir)} {
				if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+c), 0o644); err != nil {
					return nil, fmt.Errorf("let cgroups of hosts cap %s: %w", c, err)
				}
			}
		}
	}
	return out, nil
}

// controller is the host's cgroup that has it.
func (h *Host) controller(name string) (dir string, v2 bool, err error) {
	trees, err := hierarchies()
	if err != nil {
		return "", false, err
	}
	for _, t := range trees {
		if slices.Contains(t.controllers, name) {
			return h.cgroup(t), t.v2, nil
		}
	}
	return "", false, &CannotError{"this kernel has no cgroup controller " + name, "leave that cap out"}
}

// cfsPeriod is the kernel's default: a host that used up its share waits for
// the rest of 100 ms (Documentation/scheduler/sched-bwc.rst).
const cfsPeriod = 100_000 // µs

// capCPUs lets the host use that many processors' time; 0 is no cap. The least
// the kernel takes is 0.01 (1 ms of each period).
func (h *Host) capCPUs(cpus float64) error {
	if cpus != 0 && (cpus < 0.01 || cpus > 1024) {
		return fmt.Errorf("a cap of %g CPUs: give 0.01 or more, or 0 for none", cpus)
	}
	dir, v2, err := h.controller("cpu")
	if err != nil {
		return err
	}
	quota := strconv.Itoa(int(cpus * cfsPeriod))
	switch {
	case v2 && cpus == 0:
		return writeCap(dir, "cpu.max", "max")
	case v2:
		return writeCap(dir, "cpu.max", fmt.Sprintf("%s %d", quota, cfsPeriod))
	case cpus == 0:
		quota = "-1"
	}
	return writeCap(dir, "cpu.cfs_quota_us", quota)
}

// capMemory lets the host use that many bytes, page cache included; 0 is no
// cap. Beyond it the kernel ends a process of the host.
func (h *Host) capMemory(bytes int64) error {
	if bytes != 0 && bytes < 32<<20 {
		return fmt.Errorf("a cap of %d bytes of memory: systemd alone needs 32 MB; give more, or 0 for none", bytes)
	}
	dir, v2, err := h.controller("memory")
	if err != nil {
		return err
	}
	limit, none := strconv.FormatInt(bytes, 10), "-1"
	name, swap, swapLimit := "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", limit
	if v2 {
		none, name, swap, swapLimit = "max", "memory.max", "memory.swap.max", "0"
	}
	if bytes == 0 {
		limit, swapLimit = none, none
	}
	// The first version's two limits must stay in order while they change, and
	// neither is there on a kernel that does not count swap.
	first := writeCap(dir, name, limit)
	err = writeCap(dir, swap, swapLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return first
	}
	if first != nil {
		first = writeCap(dir, name, limit)
	}
	return errors.Join(first, err)
}

func writeCap(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cap the host: %w", err)
	}
	_, err = f.WriteString(value)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cap the host by %s = %s: %w", name, value, err)
	}
	return nil
}

// tree lists the host's cgroups, inner ones first.
func (h *Host) tree() ([]string, error) {
	all, err := hierarchies()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range all {
		err := filepath.WalkDir(h.cgroup(t), func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // its last process went meanwhile
			}
			if err == nil && e.IsDir() {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list the cgroups of %s: %w", h.Name, err)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// processes lists what runs in the host, as seen from outside.
func (h *Host) processes() ([]int, error) {
	dirs, err := h.tree()
	if err != nil {
		return nil, err
	}
	seen := map[int]bool{}
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue // gone meanwhile
		}
		for _, f := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(f); err == nil && pid > 1 {
				seen[pid] = true
			}
		}
	}
	var out []int
	for pid := range seen {
		out = append(out, pid)
	}
	return out, nil
}

// killAll ends every process of the host, as a power cut does.
func (h *Host) killAll() error {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		pids, err := h.processes()
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("end the host %s: %d processes are still there (%v)", h.Name, len(pids), pids)
		}
		for _, pid := range pids {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
				return fmt.Errorf("end process %d of the host %s: %w", pid, h.Name, err)
			}
		}
	}
}

// removeCgroups needs the processes to be gone. The kernel lets go of a cgroup
// a moment after its last process.
func (h *Host) removeCgroups() error {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		dirs, err := h.tree()
		if err != nil || len(dirs) == 0 {
			return err
		}
		for _, dir := range dirs {
			if rerr := unix.Rmdir(dir); rerr != nil && rerr != unix.ENOENT {
				err = fmt.Errorf("remove the cgroup %s: %w", dir, rerr)
			}
		}
		if err != nil && time.Now().After(deadline) {
			return err
		}
	}
}

// removeGroup removes the folders of all labs' cgroups if this was the last.
func removeGroup() error {
	trees, err := hierarchies()
	for _, t := range trees {
		rerr := unix.Rmdir(filepath.Join(t.mount, group))
		if rerr != nil && rerr != unix.ENOENT && rerr != unix.ENOTEMPTY && rerr != unix.EBUSY {
			err = errors.Join(err, fmt.Errorf("remove the cgroup %s: %w", group, rerr))
		}
	}
	return err
}
