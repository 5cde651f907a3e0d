package evidence

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
)

// below is a machine whose files lie in a folder.
type below struct {
	host.Host
	dir string
}

func (b below) ReadFile(ctx context.Context, path string) ([]byte, error) {
	return b.Host.ReadFile(ctx, filepath.Join(b.dir, path))
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run takes one window over two states of a machine.
func run(t *testing.T, first, second map[string]string, roots map[string][]int) *Evidence {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, first)
	ctx := context.Background()
	h := below{host.NewLocal(), dir}
	found, health := findCgroups(ctx, setting{hosts: map[string]host.Host{"local": h}, roots: map[string]map[string][]int{"local": roots}})
	ev := &Evidence{Services: map[string]ServiceUse{}, Health: health}
	for _, s := range found {
		s.start(ctx)
		writeFiles(t, dir, second)
		s.end(ctx)
		s.tell(ctx, ev)
		s.close()
	}
	return ev
}

const mountV2 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

func TestCgroupsVersion2(t *testing.T) {
	first := map[string]string{
		"/proc/self/mountinfo": mountV2, "/proc/1/cgroup": "0::/init.scope\n",
		"/proc/7/cgroup": "0::/system.slice/php.service\n", "/proc/8/cgroup": "0::/system.slice/web.service\n",
		"/sys/fs/cgroup/cpu.stat":                                "usage_usec 1\n",
		"/sys/fs/cgroup/system.slice/cpu.max":                    "max 100000\n",
		"/sys/fs/cgroup/system.slice/memory.max":                 "2147483648\n",
		"/sys/fs/cgroup/system.slice/memory.current":             "5000\n",
		"/sys/fs/cgroup/system.slice/memory.events":              "low 0\noom 1\noom_kill 1\noom_group_kill 0\n",
		"/sys/fs/cgroup/system.slice/php.service/cpu.max":        "150000 100000\n",
		"/sys/fs/cgroup/system.slice/php.service/cpu.stat":       "usage_usec 9\nnr_periods 50\nnr_throttled 4\nthrottled_usec 1000\n",
		"/sys/fs/cgroup/system.slice/php.service/memory.max":     "max\n",
		"/sys/fs/cgroup/system.slice/php.service/pids.max":       "100\n",
		"/sys/fs/cgroup/system.slice/php.service/pids.current":   "12\n",
		"/sys/fs/cgroup/system.slice/web.service/cpu.max":        "max 100000\n",
		"/sys/fs/cgroup/system.slice/web.service/memory.max":     "1048576\n",
		"/sys/fs/cgroup/system.slice/web.service/memory.current": "1000000\n",
		"/sys/fs/cgroup/system.slice/web.service/memory.events":  "oom_kill 0\n",
	}
	ev := run(t, first, map[string]string{
		"/sys/fs/cgroup/system.slice/php.service/cpu.stat": "usage_usec 9\nnr_periods 99\nnr_throttled 24\nthrottled_usec 501000\n",
		"/sys/fs/cgroup/system.slice/memory.events":        "oom_kill 3\n",
	}, map[string][]int{"php": {7}, "web": {8}, "gone": {9}, "none": nil})
	if ev.System.Cgroup != nil {
		t.Errorf("machine: %+v, but it has no limits", ev.System.Cgroup)
	}
	want := CgroupUse{CPUs: 1.5, Throttled: 500 * time.Millisecond, ThrottledPeriods: 20, MemoryLimit: 2 << 30, MemoryUsed: 5000, OOMKills: 2, PidsLimit: 100, Pids: 12}
	if got := ev.Services["php"].Cgroup; got == nil || *got != want {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if got := ev.Services["web"].Cgroup; got == nil || *got != (CgroupUse{MemoryLimit: 1 << 20, MemoryUsed: 1000000}) {
		t.Errorf("the tighter limit of the group itself: %+v", got)
	}
	h := healthOf(ev, "control groups of local")
	if h.OK || !strings.Contains(h.Text, "php was held back 20 times by its limit of 1.50 CPUs") || !strings.Contains(h.Text, "killed 2 processes of php") {
		t.Errorf("%+v", h)
	}
}

// A container without a namespace for its control groups: the folder that is
// mounted is its own group.
func TestCgroupsVersion1(t *testing.T) {
	first := map[string]string{
		"/proc/self/mountinfo": "50 31 0:28 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n" +
			"51 31 0:29 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
		"/proc/1/cgroup": "4:memory:/docker/ab\n3:cpu,cpuacct:/docker/ab\n1:name=systemd:/docker/ab\n",
		"/proc/7/cgroup": "4:memory:/docker/ab\n3:cpu,cpuacct:/docker/ab/php\n",
		"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":      "200000\n",
		"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":     "100000\n",
		"/sys/fs/cgroup/cpu,cpuacct/cpu.stat":              "nr_periods 5\nnr_throttled 1\nthrottled_time 3000000\n",
		"/sys/fs/cgroup/memory/memory.limit_in_bytes":      "9223372036854771712\n",
		"/sys/fs/cgroup/cpu,cpuacct/php/cpu.cfs_quota_us":  "-1\n",
		"/sys/fs/cgroup/cpu,cpuacct/php/cpu.cfs_period_us": "100000\n",
		"/sys/fs/cgroup/memory/memory.usage_in_bytes":      "5\n",
		"/sys/fs/cgroup/memory/memory.oom_control":         "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
	}
	ev := run(t, first, map[string]string{"/sys/fs/cgroup/cpu,cpuacct/cpu.stat": "nr_periods 9\nnr_throttled 2\nthrottled_time 5000000\n"}, map[string][]int{"php": {7}})
	want := CgroupUse{CPUs: 2, Throttled: 2 * time.Millisecond, ThrottledPeriods: 1}
	if got := ev.System.Cgroup; got == nil || *got != want {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if got := ev.Services["php"].Cgroup; got != nil {
		t.Errorf("php has %+v, but only the machine's limits hold", got)
	}
	if h := healthOf(ev, "control groups of local"); !h.OK || !strings.Contains(h.Text, "the machine was held back 1 times") {
		t.Errorf("%+v", h)
	}
}

func TestNoCgroups(t *testing.T) {
	ev := run(t, map[string]string{"/proc/self/mountinfo": "22 1 8:1 / / rw - ext4 /dev/vda rw\n"}, nil, nil)
	if h := healthOf(ev, "control groups of local"); !h.OK || !strings.HasPrefix(h.Text, "not judged") {
		t.Errorf("%+v", h)
	}
}

func TestCgroupParsers(t *testing.T) {
	mounts := parseCgroupMounts(fixture(t, "proc_mountinfo_v1"))
	if len(mounts) != 10 || !mounts[0].controls("cpu") || mounts[0].controls("memory") || mounts[9].Controllers != nil || !mounts[9].controls("memory") {
		t.Errorf("%+v", mounts)
	}
	m := cgroupMount{Point: "/c", Root: "/"}
	if got := m.levels("/a/b"); !slices.Equal(got, []string{"/c/a/b", "/c/a", "/c"}) {
		t.Errorf("%v", got)
	}
	if got := m.levels("/../up"); !slices.Equal(got, []string{"/c/up", "/c"}) {
		t.Errorf("%v", got)
	}
	for text, want := range map[string]float64{"max 100000\n": 0, "50000 100000\n": 0.5, "300000\n": 3, "": 0, "x y z": 0, "-5 10": 0} {
		if got := parseCPUMax([]byte(text)); got != want {
			t.Errorf("%q: %g, want %g", text, got, want)
		}
	}
}
