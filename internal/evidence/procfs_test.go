package evidence

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/host"
)

// fixture reads a real capture (Linux 6.18, 2 CPUs, MariaDB 10.11).
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParseStat(t *testing.T) {
	s, err := parseStat(fixture(t, "proc_stat"))
	if err != nil {
		t.Fatal(err)
	}
	want := procStat{CPUs: 2, User: 780.63, Sys: 318.68, IRQ: 19.96, Idle: 5418.92, IOWait: 21.77, Steal: 0.51, SoftIRQ: 19.96, ContextSwitches: 17733346, Interrupts: 5360507, Forks: 44997, BootTime: 1795226083}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if _, err := parseStat([]byte("cpu x y\n")); err == nil {
		t.Error("a file without CPU times gave no error")
	}
}

func TestParseSystemFiles(t *testing.T) {
	total, available, err := parseMeminfo(fixture(t, "proc_meminfo"))
	if err != nil || total < 1<<30 || available <= 0 || available > total {
		t.Errorf("memory: %d %d %v", total, available, err)
	}
	if n, err := parseRunnable([]byte("0.10 0.46 0.33 3/99 21641\n")); n != 2 || err != nil {
		t.Errorf("runnable without the reader: %d %v, want 2", n, err)
	}
	if _, err := parseRunnable(fixture(t, "proc_loadavg")); err != nil {
		t.Error(err)
	}
	disks := parseDiskstats(fixture(t, "proc_diskstats"))
	if len(disks) != 1 || disks["vda"] != (disk{Reads: 1653810, Writes: 361491, ReadSectors: 57580778, WriteSectors: 18301544,
		ReadMS: 546448, WriteMS: 62029, BusyMS: 74348, WeightedMS: 617746}) {
		t.Errorf("disks: %+v, want only vda", disks)
	}
	if n, err := parseTimeWait(fixture(t, "proc_sockstat")); n != 8 || err != nil {
		t.Errorf("TIME_WAIT: %d %v, want 8", n, err)
	}
	if _, ok := parseNetstat(fixture(t, "proc_netstat"), "TcpExt:")["ListenOverflows"]; !ok {
		t.Error("ListenOverflows was not found")
	}
	if n, err := parsePressure(fixture(t, "proc_pressure_cpu")); n <= 0 || err != nil {
		t.Errorf("pressure: %d %v", n, err)
	}
}

func TestPartitionsAreNoDisks(t *testing.T) {
	for name, isDisk := range map[string]bool{"sda": true, "sda1": false, "nvme0n1": true, "nvme0n1p2": false, "vdb": true,
		"xvda1": false, "mmcblk0": true, "mmcblk0p1": false, "dm-0": true, "md127": true, "loop3": false, "zram0": false, "sr0": false} {
		got := parseDiskstats([]byte("   8       0 " + name + " 1 2 3 4 5 6 7 8 9 10 11\n"))
		if (len(got) == 1) != isDisk {
			t.Errorf("%s: taken as a disk: %t", name, len(got) == 1)
		}
	}
}

func TestParsePID(t *testing.T) {
	p, err := parsePIDStat(fixture(t, "pid_stat"))
	if err != nil || p != (procPID{PID: 22851, Parent: 1, Name: "mariadbd", State: 'S', Ticks: 32, User: 16, Threads: 10, Started: 199298}) {
		t.Errorf("stat: %+v %v", p, err)
	}
	p, err = parsePIDStat([]byte("7 (a) b (c) R 3 7 7 0 -1 0 0 0 0 0 5 6 7 8 20 0 1 0 99 0 0"))
	if err != nil || p.Name != "a) b (c" || p.Ticks != 11 || p.Reaped != 15 || p.Started != 99 {
		t.Errorf("a name with brackets: %+v %v", p, err)
	}
	if n, err := parsePss(fixture(t, "pid_smaps_rollup")); n < 1<<20 || err != nil {
		t.Errorf("Pss: %d %v", n, err)
	}
	if n, err := parseRSS(fixture(t, "pid_status")); n < 1<<20 || err != nil {
		t.Errorf("RSS: %d %v", n, err)
	}
	if n, err := parseFileLimit(fixture(t, "pid_limits")); n < 1024 || err != nil {
		t.Errorf("limit: %d %v", n, err)
	}
	u, err := parseStatusUser(fixture(t, "pid_status"))
	if err != nil || u.UID != 102 || u.GID != 105 || len(u.Groups) != 1 || u.Groups[0] != 105 {
		t.Errorf("user: %+v %v", u, err)
	}
	if n := parseNameList([]byte("root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:33::/var/www:/bin/sh\n"), 33); n != "www-data" {
		t.Errorf("name of 33: %q", n)
	}
}

func TestServiceTicks(t *testing.T) {
	proc := func(pid, parent int, ticks, reaped int64) procPID {
		return procPID{PID: pid, Parent: parent, Ticks: ticks, Reaped: reaped, Started: uint64(pid)}
	}
	roots := map[string][]int{"php": {10}}
	cases := []struct {
		name       string
		begin, end processTable
		want       int64
	}{
		{"a worker works", processTable{10: proc(10, 1, 5, 0), 11: proc(11, 10, 100, 0)},
			processTable{10: proc(10, 1, 6, 0), 11: proc(11, 10, 150, 0)}, 51},
		{"a worker ends: only its part in the window counts", processTable{10: proc(10, 1, 5, 0), 11: proc(11, 10, 100, 0)},
			processTable{10: proc(10, 1, 5, 130)}, 30},
		{"a worker begins and ends in the window", processTable{10: proc(10, 1, 5, 0)}, processTable{10: proc(10, 1, 5, 40)}, 40},
		{"a worker that is new counts in full", processTable{10: proc(10, 1, 5, 0)},
			processTable{10: proc(10, 1, 5, 0), 12: proc(12, 10, 7, 0)}, 7},
		{"a parent that reaps nothing loses what ended, not what lives", processTable{10: proc(10, 1, 5, 0), 11: proc(11, 10, 100, 0)},
			processTable{10: proc(10, 1, 15, 0)}, 10},
		{"another's process does not count", processTable{10: proc(10, 1, 5, 0), 20: proc(20, 1, 0, 0)},
			processTable{10: proc(10, 1, 5, 0), 20: proc(20, 1, 90, 0)}, 0},
	}
	for _, c := range cases {
		got := serviceTicks(c.begin, c.end, c.begin.owners(roots), c.end.owners(roots), allTicks)["php"]
		if got != c.want {
			t.Errorf("%s: %d ticks, want %d", c.name, got, c.want)
		}
	}
}

// cgroups is a host whose processes are in these control groups.
type cgroups struct {
	host.Host
	of map[string]string
}

func (c cgroups) ReadFile(_ context.Context, name string) ([]byte, error) {
	if group, ok := c.of[name]; ok {
		return []byte("0::" + group + "\n"), nil
	}
	return nil, fs.ErrNotExist
}

// What a unit left to init belongs to its service, with its children; init's other
// children belong to nobody.
func TestAdopt(t *testing.T) {
	table := processTable{1: {PID: 1}, 10: {PID: 10, Parent: 1}, 20: {PID: 20, Parent: 1}, 21: {PID: 21, Parent: 20},
		30: {PID: 30, Parent: 1}, 40: {PID: 40, Parent: 1}, 41: {PID: 41, Parent: 40}}
	h := cgroups{host.NewLocal(), map[string]string{"/proc/10/cgroup": "/system.slice/app.service", "/proc/20/cgroup": "/system.slice/app.service/work",
		"/proc/30/cgroup": "/system.slice/cron.service", "/proc/41/cgroup": "/system.slice/app.service"}}
	table.adopt(t.Context(), h, map[string]string{"app.service": "app"})
	got := table.owners(map[string][]int{"app": {10}})
	if want := map[int]string{10: "app", 20: "app", 21: "app"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A number that came round again is another process.
func TestStartedProcesses(t *testing.T) {
	proc := func(pid, parent int, started uint64) procPID {
		return procPID{PID: pid, Parent: parent, Started: started}
	}
	begin := &reading{at: time.Unix(0, 0), table: processTable{10: proc(10, 1, 1), 11: proc(11, 10, 2), 12: proc(12, 10, 3), 20: proc(20, 1, 4)}}
	end := &reading{at: time.Unix(2, 0), table: processTable{10: proc(10, 1, 1), 11: proc(11, 10, 2), 12: proc(12, 10, 90), 13: proc(13, 10, 95), 21: proc(21, 1, 96)}}
	sys := used(begin, end)
	if php := split(&sys, begin, end, map[string][]int{"php": {10}}, 0)["php"]; php.Processes != 4 || php.Started != 2 {
		t.Errorf("%d processes, %d of them new; want 4 and 2", php.Processes, php.Started)
	}
}

func TestForeignIsNeverNegative(t *testing.T) {
	begin := &reading{at: time.Unix(0, 0), stat: procStat{CPUs: 2}, table: processTable{1: {PID: 1}, 2: {PID: 2}}}
	end := &reading{at: time.Unix(5, 0), stat: procStat{CPUs: 2, User: 1, Sys: 1, IRQ: 0.5, Idle: 7.5},
		table: processTable{1: {PID: 1, Ticks: 150}, 2: {PID: 2, Ticks: 60}}}
	sys := used(begin, end)
	split(&sys, begin, end, map[string][]int{"web": {1}}, 2)
	if sys.ForeignCPU != 0 || sys.ServicesCPU != 1.5 || sys.GeneratorCPU != 0.6 || sys.Sys != 1.5 {
		t.Errorf("%+v", sys)
	}
	end.stat.User = 4
	sys = used(begin, end)
	split(&sys, begin, end, map[string][]int{"web": {1}}, 2)
	if d := sys.ForeignCPU - 2.9; d > 1e-9 || d < -1e-9 {
		t.Errorf("foreign CPU is %g, want 2.9", sys.ForeignCPU)
	}
	// Somebody else's benchmark is the generator too; its use before the
	// window is not.
	begin.benchmark, end.benchmark = 500*time.Millisecond, 2500*time.Millisecond
	sys = used(begin, end)
	split(&sys, begin, end, map[string][]int{"web": {1}}, 2)
	if d, g := sys.ForeignCPU-0.9, sys.GeneratorCPU-2.6; d > 1e-9 || d < -1e-9 || g > 1e-9 || g < -1e-9 {
		t.Errorf("with a benchmark: generator %g, want 2.6; foreign %g, want 0.9", sys.GeneratorCPU, sys.ForeignCPU)
	}
}

// ownTicks is the CPU time of this process so far, in ticks of 10 ms.
func ownTicks(t testing.TB) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePIDStat(data)
	if err != nil {
		t.Fatal(err)
	}
	return p.Ticks
}

// useCPU keeps this process busy until its CPU time is that many ticks.
func useCPU(t testing.TB, ticks int64) {
	t.Helper()
	for ownTicks(t) < ticks { // reading it is work, too
	}
}

// The generator of the tests is also the parent of the services.
func TestReadSystemOfThisMachine(t *testing.T) {
	ctx := context.Background()
	begin, err := readSystem(ctx, host.NewLocal())
	if err != nil {
		t.Fatal(err)
	}
	me := os.Getpid()
	useCPU(t, begin.table[me].Ticks+20)
	end, err := readSystem(ctx, host.NewLocal())
	if err != nil {
		t.Fatal(err)
	}
	sys := used(begin, end)
	split(&sys, begin, end, nil, me)
	window := end.at.Sub(begin.at).Seconds()
	all := sys.User + sys.Sys + sys.Idle + sys.IOWait + sys.Steal
	// Not every machine tells what others took from it.
	if want := float64(sys.CPUs) * window; all < 0.4*want || all > 1.2*want+0.1 {
		t.Errorf("CPU times sum to %.2f s, want about %.2f", all, want)
	}
	if sys.GeneratorCPU < 0.2 {
		t.Errorf("generator used %.2f s, want at least 0.2", sys.GeneratorCPU)
	}
}

func BenchmarkReadSystem(b *testing.B) {
	for b.Loop() {
		if _, err := readSystem(context.Background(), host.NewLocal()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	s := &sampler{h: host.NewLocal()}
	for b.Loop() {
		if _, _, err := s.read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzProc(f *testing.F) {
	for _, name := range []string{"proc_stat", "proc_meminfo", "proc_diskstats", "proc_netstat", "pid_stat", "pid_status", "pid_limits", "pid_smaps_rollup"} {
		data := fixture(f, name)
		f.Add(data[:min(len(data), 800)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		parseStat(data)
		parseMeminfo(data)
		parseRunnable(data)
		parseDiskstats(data)
		parseTimeWait(data)
		parseNetstat(data, "TcpExt:")
		parsePressure(data)
		parsePIDStat(data)
		parsePss(data)
		parseRSS(data)
		parseFileLimit(data)
		parseStatusUser(data)
		parseNginxBuild(data)
		parsePHPInfo(data)
		parseFPMStatus(data, "/status")
	})
}
