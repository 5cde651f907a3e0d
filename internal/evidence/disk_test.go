package evidence

import (
	"testing"
	"time"
)

func TestDiskUses(t *testing.T) {
	begin := map[string]disk{"sda": {Reads: 100, Writes: 50, ReadSectors: 1000, WriteSectors: 10, ReadMS: 500, WriteMS: 70, BusyMS: 400, WeightedMS: 570},
		"idle": {Reads: 7}, "gone": {Reads: 1}}
	end := map[string]disk{"sda": {Reads: 300, Writes: 150, ReadSectors: 5000, WriteSectors: 2010, ReadMS: 1100, WriteMS: 570, BusyMS: 2900, WeightedMS: 10570},
		"idle": {Reads: 7}, "new": {Reads: 9}}
	got := diskUses(begin, end, 5)
	want := DiskUse{Name: "sda", Busy: 0.5, Reads: 40, Writes: 20, ReadBytes: 4000 * 512 / 5, WriteBytes: 2000 * 512 / 5,
		ReadLatency: 3 * time.Millisecond, WriteLatency: 5 * time.Millisecond, Queue: 2}
	if len(got) != 1 || got[0] != want {
		t.Errorf("\n got %+v\nwant %+v alone: idle, new and removed disks tell nothing", got, want)
	}
	if got := diskUses(begin, end, 0); len(got) != 0 {
		t.Errorf("a window of no length has %+v", got)
	}
	// A counter that ran over, and a disk that was busy longer than the window.
	got = diskUses(map[string]disk{"sda": {Reads: 9, ReadMS: 90}}, map[string]disk{"sda": {Reads: 3, ReadMS: 5, BusyMS: 9000}}, 1)
	if len(got) != 1 || got[0] != (DiskUse{Name: "sda", Busy: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestNetworkUses(t *testing.T) {
	now := parseNetDev(fixture(t, "proc_net_dev"))
	if len(now) != 4 || now["eth0"].ReceiveBytes < 1<<20 || now["lo"].SendPackets == 0 || now["lo"].SendBytes != now["lo"].ReceiveBytes {
		t.Fatalf("%+v", now)
	}
	was := now["eth0"]
	end := was
	end.ReceiveBytes, end.SendPackets, end.Dropped, end.Errors = was.ReceiveBytes+5000, was.SendPackets+10, was.Dropped+3, was.Errors+4
	got := networkUses(map[string]netDevice{"eth0": was, "ifb0": {}}, map[string]netDevice{"eth0": end, "ifb0": {}, "new": {SendPackets: 1}}, 5)
	if len(got) != 1 || got[0] != (NetworkUse{Name: "eth0", ReceiveBytes: 1000, SendPackets: 2, Dropped: 3, Errors: 4}) {
		t.Errorf("%+v", got)
	}
	// Some drivers print no space behind the colon.
	if n := parseNetDev([]byte("eth0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"))["eth0"]; n != (netDevice{1, 2, 9, 10, 3 + 11, 4 + 12}) {
		t.Errorf("%+v", n)
	}
}

func TestMemoryAndCPUs(t *testing.T) {
	m := parseMemory([]byte("MemTotal: 100 kB\nBuffers: 10 kB\nCached: 30 kB\nSwapCached: 9 kB\nShmem: 5 kB\nDirty: 2 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n"))
	if m != (memory{PageCache: 35 << 10, Dirty: 2 << 10, SwapUsed: 30 << 10}) {
		t.Errorf("%+v", m)
	}
	if m := parseMemory(fixture(t, "proc_meminfo")); m.PageCache <= 0 {
		t.Errorf("%+v", m)
	}
	if v := parseVMStat(fixture(t, "proc_vmstat")); v.MajorFaults == 0 {
		t.Errorf("%+v", v)
	}
	if v := parseVMStat([]byte("pswpin 3\npswpout 4\npgfault 9\npgmajfault 5\n")); v != (vmCounts{3, 4, 5}) {
		t.Errorf("%+v", v)
	}
	if open, limit := parseFileNr(fixture(t, "proc_file_nr")); open <= 0 || limit <= open {
		t.Errorf("files: %d of %d", open, limit)
	}
	begin := parseCPUs([]byte("cpu 1 1 1 1 1 1 1 1\ncpu0 100 0 100 800 0 0 0 0 0 0\ncpu1 0 0 0 1000 0 0 0 0 0 0\nintr 5 1\n"))
	end := parseCPUs([]byte("cpu 1 1 1 1 1 1 1 1\ncpu0 150 10 120 810 0 5 5 0 0 0\ncpu1 0 0 0 1050 50 0 0 0 0 0\ncpu10 1 1 1 1 1 1 1 1\nintr 5 1\n"))
	if got := perCPU(begin, end); len(got) != 2 || got[0] != 0.9 || got[1] != 0 {
		t.Errorf("utilization %v, want 0.9 and 0", got)
	}
	if n := len(parseCPUs(fixture(t, "proc_stat"))); n != 2 {
		t.Errorf("%d CPUs", n)
	}
}
