package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// KernelSetting is one setting of the kernel as it is now.
type KernelSetting struct {
	// Value with one blank between its fields; of a choice the one in force.
	Value string `json:"value"`
	// Writable for Kasoku's user: false without root, for settings that only
	// the machine outside of a container has, and for those that just tell.
	Writable bool `json:"writable"`
}

// Settings below /sys go by their path.
const (
	HugePages     = "/sys/kernel/mm/transparent_hugepage/enabled"
	HugePagesWait = "/sys/kernel/mm/transparent_hugepage/defrag"
)

// KernelFiles make settings permanent; they are Kasoku's own (see package
// change, SysctlFile and TmpfilesFile).
var KernelFiles = []string{"/etc/sysctl.d/99-zz-kasoku.conf", "/etc/tmpfiles.d/00-kasoku.conf"}

// kernelKeys are read from every host. Those under net. belong to the network
// namespace that the host's commands run in, all others to the machine.
var kernelKeys = []string{
	"net.core.somaxconn", "net.core.netdev_max_backlog", "net.core.netdev_budget", "net.core.rmem_max", "net.core.wmem_max",
	"net.core.busy_poll", "net.core.busy_read", "net.core.default_qdisc",
	"net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_syncookies", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
	"net.ipv4.tcp_tw_reuse", "net.ipv4.tcp_timestamps", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_max_tw_buckets",
	"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_congestion_control", "net.ipv4.tcp_available_congestion_control", "net.ipv4.tcp_allowed_congestion_control",
	"net.ipv4.tcp_slow_start_after_idle", "net.netfilter.nf_conntrack_max",
	"vm.swappiness", "vm.overcommit_memory", "vm.overcommit_ratio", "vm.dirty_ratio", "vm.dirty_bytes",
	"vm.dirty_background_ratio", "vm.dirty_background_bytes", "fs.file-max", "fs.nr_open",
	HugePages, HugePagesWait,
}

// KernelPath is the file of a setting.
func KernelPath(key string) string {
	if strings.HasPrefix(key, "/") {
		return key
	}
	return "/proc/sys/" + strings.ReplaceAll(key, ".", "/")
}

// DiskScheduler and DiskRotates are the keys of a block device's queue.
func DiskScheduler(disk string) string { return "/sys/block/" + disk + "/queue/scheduler" }

// DiskRotates is "1" for a device with a moving head.
func DiskRotates(disk string) string { return "/sys/block/" + disk + "/queue/rotational" }

// parseKernel reads the text of a setting: fields with one blank between them,
// or of a list the word in brackets ("always [madvise] never").
func parseKernel(data []byte) string {
	text := strings.Join(strings.Fields(string(data)), " ")
	if _, rest, ok := strings.Cut(text, "["); ok {
		if word, _, ok := strings.Cut(rest, "]"); ok {
			return word
		}
	}
	return text
}

// memoryDisk is a block device without a disk behind it, or one that only
// counts when something is mounted from it.
var memoryDisk = regexp.MustCompile(`^(loop|ram|zram|sr|fd|dm-|md)`)

// disksOf lists the block devices that have a queue of their own.
func disksOf(ctx context.Context, h host.Host) []string {
	list, err := h.List(ctx, "/sys/block")
	if err != nil {
		return nil
	}
	mounts, _ := h.ReadFile(ctx, "/proc/mounts")
	var out []string
	for _, e := range list {
		name := path.Base(e.Path)
		if !memoryDisk.MatchString(name) || bytes.Contains(mounts, []byte("/dev/"+name+" ")) {
			out = append(out, name)
		}
	}
	return out
}

// kernel reads the settings of a host.
func (t *taker) kernel(name string, h host.Host) error {
	keys := append([]string(nil), kernelKeys...)
	for _, d := range disksOf(t.ctx, h) {
		keys = append(keys, DiskScheduler(d), DiskRotates(d))
	}
	paths := make([]string, len(keys))
	for i, k := range keys {
		paths[i] = KernelPath(k)
	}
	g := host.Gather(t.ctx, h, paths...)
	got := map[string]KernelSetting{}
	var there []string
	for i, k := range keys {
		data, err := g.ReadFile(t.ctx, paths[i])
		if err != nil {
			if t.ctx.Err() != nil {
				return t.ctx.Err()
			}
			continue // another kernel, or a namespace without it
		}
		got[k] = KernelSetting{Value: parseKernel(data)}
		there = append(there, paths[i])
	}
	if len(there) == 0 {
		return errors.New("no setting could be read")
	}
	// access(2), which knows of rights, namespaces and a read-only /proc.
	res, err := h.Run(t.ctx, host.Command{Argv: append(append([]string{"find"}, there...), "-maxdepth", "0", "-writable")})
	if err != nil {
		return fmt.Errorf("ask which settings are writable: %w", err)
	}
	can := map[string]bool{}
	for line := range strings.Lines(string(res.Stdout)) {
		can[strings.TrimSpace(line)] = true
	}
	for i, k := range keys {
		if s, ok := got[k]; ok {
			s.Writable = can[paths[i]]
			got[k] = s
		}
	}
	if t.snap.Kernel == nil {
		t.snap.Kernel = map[string]map[string]KernelSetting{}
	}
	t.snap.Kernel[name] = got
	r := &fileReader{ctx: t.ctx, h: h, files: t.snap.Files[name]}
	for _, p := range KernelFiles {
		if _, err := r.read(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s: %w", p, err)
		}
	}
	return nil
}

// kernelFacts are the settings that Hash covers: those of the network
// namespace and of block devices. What is the machine's own (vm., fs., huge
// pages) is shared with all that runs beside the stack and would make two
// equal configurations differ; the journal looks at it by itself.
func (s *Snapshot) kernelFacts(out map[string]string) {
	for h, settings := range s.Kernel {
		for k, v := range settings {
			if strings.HasPrefix(k, "net.ipv4.") || k == "net.core.somaxconn" || strings.HasPrefix(k, "/sys/block/") {
				out["kernel "+h+":"+k] = v.Value
			}
		}
	}
}

// parseSoftnet sums /proc/net/softnet_stat over all CPUs: packets dropped
// because the queue of netdev_max_backlog was full, and rounds that ended with
// work left (netdev_budget). One line for each CPU, hexadecimal; the second and
// the third field (softnet_seq_show in net/core/net-procfs.c).
func parseSoftnet(data []byte) (dropped, squeezed int64) {
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 3 {
			continue
		}
		d, err1 := strconv.ParseUint(f[1], 16, 32)
		s, err2 := strconv.ParseUint(f[2], 16, 32)
		if err1 == nil && err2 == nil {
			dropped, squeezed = dropped+int64(d), squeezed+int64(s)
		}
	}
	return dropped, squeezed
}

// KernelUse is what limits of the kernel did in the window, beside TCPUse.
type KernelUse struct {
	// SoftnetDropped packets found netdev_max_backlog full, SoftnetSqueezed
	// rounds ended at netdev_budget. Of the whole machine.
	SoftnetDropped  int64 `json:"softnet_dropped"`
	SoftnetSqueezed int64 `json:"softnet_squeezed"`
	// Tracked connections at the end and their limit; 0: not tracked.
	Tracked    int64 `json:"tracked"`
	TrackedMax int64 `json:"tracked_max"`
	// Pruned and Collapsed: receive queues that outgrew their socket's buffer.
	// SynDropped and SynCookies: the queue of half-open connections was full
	// (TcpExt: PruneCalled, TCPRcvCollapsed, TCPReqQFullDrop,
	// TCPReqQFullDoCookies; Documentation/networking/snmp_counter.rst).
	Pruned, Collapsed, SynDropped, SynCookies int64
	// CompactStalls per second: allocations that waited for a huge page to be
	// put together (/proc/vmstat compact_stall).
	CompactStalls float64 `json:"compact_stalls_per_second"`
}

// kernelReading is what KernelUse is made of.
type kernelReading struct {
	softnet [2]int64
	tracked [2]int64
	stalls  int64
}

func kernelUse(begin, end *reading, seconds float64) KernelUse {
	rose := func(now, was int64) int64 { return max(now-was, 0) }
	tcp := func(name string) int64 { return rose(end.tcp[name], begin.tcp[name]) }
	u := KernelUse{
		SoftnetDropped: rose(end.kernel.softnet[0], begin.kernel.softnet[0]), SoftnetSqueezed: rose(end.kernel.softnet[1], begin.kernel.softnet[1]),
		Tracked: end.kernel.tracked[0], TrackedMax: end.kernel.tracked[1],
		Pruned: tcp("PruneCalled"), Collapsed: tcp("TCPRcvCollapsed"), SynDropped: tcp("TCPReqQFullDrop"), SynCookies: tcp("TCPReqQFullDoCookies"),
	}
	if seconds > 0 {
		u.CompactStalls = float64(rose(end.kernel.stalls, begin.kernel.stalls)) / seconds
	}
	return u
}

// counterOf reads one line "name number" of /proc/vmstat; 0 if it is not there.
func counterOf(data []byte, name string) int64 {
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			return firstNumber(rest)
		}
	}
	return 0
}
