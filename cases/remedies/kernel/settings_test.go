package kernel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/remedy"
)

const redisYAML = `  - name: kv
    kind: redis
    binary: /usr/bin/redis-server
    config: %DIR%/redis.conf
    listen: ["unix:%DIR%/kv.sock"]
    control: {method: process, pid_file: %DIR%/redis.pid, start: [/usr/bin/redis-server, %DIR%/redis.conf]}
`

// again diagnoses and plans from the same signs with the kernel as it is now.
func again(t *testing.T, b *bed.Bed, in remedy.Input) remedy.Result {
	t.Helper()
	var err error
	if in.Snapshot, err = evidence.Take(t.Context(), b.Stack, b.Hosts, evidence.TakeOptions{}); err != nil {
		t.Fatal(err)
	}
	if in.Diagnosis, err = diagnose.Diagnose(diagnose.Input{Stack: in.Stack, Evidence: in.Evidence, Snapshot: in.Snapshot}); err != nil {
		t.Fatal(err)
	}
	return remedy.PlanAll(in)
}

// settings are all of the host's kernel settings, and the hash of its files.
func settings(t *testing.T, b *bed.Bed) string {
	t.Helper()
	snap, err := evidence.Take(t.Context(), b.Stack, b.Hosts, evidence.TakeOptions{Brief: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{snap.Hash()}
	for k, v := range snap.Kernel["local"] {
		lines = append(lines, k+" = "+v.Value)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// prove applies the remedy that the signs ask for on the real kernel, sees it
// in force and no longer planned, and takes it back.
func prove(t *testing.T, b *bed.Bed, in remedy.Input, id, key, want string) {
	t.Helper()
	t.Run(id, func(t *testing.T) {
		defer hosttest.HoldMachine(t)()
		before := settings(t, b)
		p := bed.Want(t, again(t, b, in), id)
		tx := b.Apply(t, p)
		if got := get(t, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
		file := change.SysctlFile
		if strings.HasPrefix(key, "/") {
			file = change.TmpfilesFile
		}
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
		for _, q := range again(t, b, in).Plans {
			if q.ID == p.ID {
				t.Errorf("%s is planned again", q.ID)
			}
		}
		b.Revert(t, tx)
		if after := settings(t, b); after != before {
			t.Errorf("not as before:\n%s\nwas:\n%s", after, before)
		}
	})
}

// TestKernelSettings: signs of a network. Packets are really lost; the other
// signs cannot be brought about on loopback, so they are put into the evidence.
func TestKernelSettings(t *testing.T) {
	bed.NeedPrivate(t)
	if !strings.Contains(get(t, "net.ipv4.tcp_available_congestion_control"), "bbr") {
		t.Skip("this kernel has no BBR")
	}
	set(t, "net.ipv4.tcp_congestion_control", "reno")
	set(t, "net.ipv4.tcp_tw_reuse", "0")
	set(t, "net.ipv4.tcp_rmem", "4096 131072 6291456") // Linux 6.18 begins with 32 MiB
	b := start(t, "", `return 200 "hello\n";`, "")
	b.Bench.Window = time.Second
	lose := `add table inet lossy; add chain inet lossy in { type filter hook input priority 0; }; add rule inet lossy in tcp flags & (syn | fin | rst) == 0 numgen random mod 100 < 5 drop`
	bed.Output(t, "nft", lose)
	in := b.Seen(t)
	b.Effect(t, bed.Want(t, again(t, b, in), "kernel.congestion")) // what it is for
	bed.Output(t, "nft", "delete table inet lossy")
	prove(t, b, in, "kernel.congestion", "net.ipv4.tcp_congestion_control", "bbr")
	in.Evidence.System.Kernel.Pruned = 500
	in.Evidence.System.TimeWait, in.Evidence.System.TCP.ActiveOpens = 20000, 30000
	in.Evidence.System.TCP.States["FIN-WAIT-2"] = 5000
	prove(t, b, in, "kernel.tcp-buffers", "net.ipv4.tcp_rmem", "4096 131072 16777216")
	prove(t, b, in, "kernel.time-wait", "net.ipv4.tcp_fin_timeout", "10")
	// What only the machine outside has is told before anything is written.
	in.Evidence.System.Kernel.SoftnetDropped = 100
	in.Evidence.System.Kernel.Tracked, in.Evidence.System.Kernel.TrackedMax = 90, 100
	res := again(t, b, in)
	said := strings.Join(res.Skipped, "\n")
	for _, id := range []string{"kernel.softnet", "kernel.conntrack"} {
		if !strings.Contains(said, id+": the kernel of local has no") && !strings.Contains(said, id+": net.") {
			t.Errorf("%s is not refused:\n%s", id, said)
		}
	}
}

// TestMachineSettings: settings of the whole machine, for moments only. Their
// signs (swapping, a full disk) would disturb all that runs here, so they are
// put into the evidence of a run of real nginx and Redis.
func TestMachineSettings(t *testing.T) {
	bed.NeedPrivate(t)
	b := start(t, "", `return 200 "hello\n";`, redisYAML)
	bed.Write(t, b.Dir, "redis.conf", "port 0\nunixsocket %DIR%/kv.sock\ndir %DIR%\npidfile %DIR%/redis.pid\ndaemonize yes\nsave 3600 1\ndisable-thp no\n")
	bed.StopByPIDFile(t, filepath.Join(b.Dir, "redis.pid"))
	bed.Output(t, "/usr/bin/redis-server", filepath.Join(b.Dir, "redis.conf"))
	bed.Await(t, filepath.Join(b.Dir, "kv.sock"))
	in := b.Seen(t)
	// What others do with memory and disks meanwhile is no sign of this kernel's.
	s := &in.Evidence.System
	s.SwapIn, s.SwapOut, s.Dirty, s.Disks, s.Kernel.CompactStalls = 0, 0, 0, nil, 0
	for _, p := range again(t, b, in).Plans {
		if strings.HasPrefix(p.Remedy, "kernel.") {
			t.Errorf("a healthy kernel is to be changed: %s, %s", p.ID, p.Why)
		}
	}
	s.SwapIn, s.SwapOut = 500, 500
	s.Dirty = 900 << 20
	s.Disks = append(s.Disks, evidence.DiskUse{Name: "vdz", Writes: 100, WriteLatency: 90 * time.Millisecond})
	s.MemoryAvailable = max(s.MemoryAvailable, s.MemoryTotal/5)
	set(t, "vm.swappiness", "60")
	prove(t, b, in, "kernel.swappiness", "vm.swappiness", "10")
	prove(t, b, in, "kernel.writeback", "vm.dirty_background_bytes", "67108864")
	in.Evidence.Counters["kv"].Value["used_memory"] = "999999999999"
	if get(t, "vm.overcommit_memory") != "1" {
		prove(t, b, in, "kernel.overcommit", "vm.overcommit_memory", "1")
	}
	set(t, evidence.HugePages, "always")
	prove(t, b, in, "kernel.huge-pages", evidence.HugePages, "madvise")
}

// TestKernelScheduler: a real block device of the test's own.
func TestKernelScheduler(t *testing.T) {
	b := start(t, "", `return 200 "hello\n";`, "")
	file := filepath.Join(b.Dir, "disk")
	if err := os.WriteFile(file, make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", file).Output()
	if err != nil {
		t.Skipf("this machine gives no loop device: %v", err)
	}
	dev := strings.TrimSpace(string(out))
	t.Cleanup(func() { bed.Output(t, "losetup", "--detach", dev) })
	bed.Output(t, "mkfs.ext4", "-q", dev)
	bed.Output(t, "mount", dev, "/mnt")
	t.Cleanup(func() { bed.Output(t, "umount", "/mnt") })
	key := evidence.DiskScheduler(filepath.Base(dev))
	set(t, evidence.DiskRotates(filepath.Base(dev)), "0")
	set(t, key, "mq-deadline")
	in := b.Seen(t)
	in.Evidence.System.Disks = []evidence.DiskUse{{Name: filepath.Base(dev), Busy: 0.9, Writes: 300}}
	prove(t, b, in, "kernel.io-scheduler", key, "none")
}
