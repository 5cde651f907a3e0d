package lab

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseTargets(t *testing.T) {
	tests := []struct {
		why, targets string
		mirror       string
		lines        []string
		err          string
	}{
		{"a release, its updates, and archives of others",
			"bookworm|main|http://mirror.example/debian/\nbookworm|contrib|http://mirror.example/debian/\nbookworm-updates|main|http://mirror.example/debian/\n" +
				"bookworm-security|main|http://mirror.example/security/\nbookworm-pgdg|main|http://other.example/\ncloud-sdk-bookworm|main|http://other.example/\nnodistro|main|https://other.example/\n",
			"http://mirror.example/debian",
			[]string{"deb http://mirror.example/debian bookworm contrib main", "deb http://mirror.example/debian bookworm-updates main", "deb http://mirror.example/security bookworm-security main"}, ""},
		{"two architectures give one line", "bookworm|main|http://m.example/d\nbookworm|main|http://m.example/d\n", "http://m.example/d", []string{"deb http://m.example/d bookworm main"}, ""},
		{"a CD is no archive", "bookworm|main|cdrom:[Debian]/\n", "", nil, "no archive for bookworm main"},
		{"nothing set up", "", "", nil, "--base"},
		{"another release", "trixie|main|http://m.example/d\n", "", nil, "no archive for bookworm main"},
	}
	for _, tt := range tests {
		s := &sources{Codename: "bookworm"}
		err := s.parseTargets(tt.targets)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want %q", tt.why, err, tt.err)
			}
		case err != nil || s.Mirror != tt.mirror || !reflect.DeepEqual(s.Lines, tt.lines):
			t.Errorf("%s: mirror %q, lines %q, error %v", tt.why, s.Mirror, s.Lines, err)
		}
	}
}

// Both are captures, the first of a machine with both versions of cgroups, the
// second of a Debian 12 with systemd.
const (
	mixedMounts = `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
35 34 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
36 34 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
37 34 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
38 34 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
43 34 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
44 34 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
45 34 0:29 / /mnt/again rw,relatime - cgroup cgroup rw,cpu
46 34 0:29 /inner /mnt/part rw,relatime - cgroup cgroup rw,cpu
`
	pureMounts = `30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`
)

func TestParseHierarchies(t *testing.T) {
	want := []hierarchy{
		{mount: "/sys/fs/cgroup/cpu", controllers: []string{"cpu"}}, {mount: "/sys/fs/cgroup/cpuacct", controllers: []string{"cpuacct"}},
		{mount: "/sys/fs/cgroup/memory", controllers: []string{"memory"}}, {mount: "/sys/fs/cgroup/systemd", controllers: []string{"name=systemd"}},
		{mount: "/sys/fs/cgroup/unified", v2: true},
	}
	if got := parseHierarchies([]byte(mixedMounts)); !reflect.DeepEqual(got, want) {
		t.Errorf("both versions: %+v", got)
	}
	if got := parseHierarchies([]byte(pureMounts)); !reflect.DeepEqual(got, []hierarchy{{mount: "/sys/fs/cgroup", v2: true}}) {
		t.Errorf("the second version: %+v", got)
	}
}

func TestQdisc(t *testing.T) {
	tests := []struct {
		why  string
		s    Settings
		want string
	}{
		{"nothing held back", Settings{CPUs: 1, Cut: true, LossPercent: 5}, ""},
		{"a slow link keeps a bucket for one frame", Settings{RateBitsPerSecond: 1_000_000}, "qdisc replace dev x root tbf rate 1000000bit burst 65536 latency 50ms"},
		{"a fast link's bucket holds 10 ms", Settings{RateBitsPerSecond: 1_000_000_000}, "qdisc replace dev x root tbf rate 1000000000bit burst 1250000 latency 50ms"},
		{"a delay", Settings{Delay: 1500 * time.Microsecond}, "qdisc replace dev x root netem limit 100000 delay 1500us"},
		{"a delay and a rate", Settings{Delay: time.Millisecond, RateBitsPerSecond: 8000}, "qdisc replace dev x root netem limit 100000 delay 1000us rate 8000bit"},
	}
	for _, tt := range tests {
		if got := strings.Join(qdisc("x", tt.s), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

func TestSizes(t *testing.T) {
	tests := []struct {
		parse func(string) (int64, error)
		in    string
		want  int64 // -1 for an error
	}{
		{ParseSize, "512M", 512 << 20}, {ParseSize, "1.5g", 3 << 29}, {ParseSize, "64KB", 64 << 10}, {ParseSize, "0", 0},
		{ParseSize, "", -1}, {ParseSize, "M", -1}, {ParseSize, "-1M", -1}, {ParseSize, "5T", -1}, {ParseSize, "1.2.3M", -1}, {ParseSize, "99999999999999G", -1},
		{ParseRate, "10mbit", 10_000_000}, {ParseRate, "800kbit", 800_000}, {ParseRate, "9600", 9600}, {ParseRate, "1Gbit", 1_000_000_000},
		{ParseRate, "10M", -1}, {ParseRate, "fast", -1}, {ParseRate, "-3mbit", -1},
	}
	for _, tt := range tests {
		got, err := tt.parse(tt.in)
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%q is %d (%v), want %d", tt.in, got, err, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{"lab": true, "web-2": true, "": false, "-x": false, "Web": false, "a/b": false, "..": false, "a b": false, strings.Repeat("a", 33): false} {
		if err := checkName(name); (err == nil) != ok {
			t.Errorf("lab's name %q: %v", name, err)
		}
	}
	for name, ok := range map[string]bool{"nginx-light": true, "g++": true, "libc6.1": true, "": false, "-o": false, "a b": false, "a;b": false, "a=1": false} {
		if err := checkPackages([]string{name}); (err == nil) != ok {
			t.Errorf("package's name %q: %v", name, err)
		}
	}
}

func TestInterfaceNamesFit(t *testing.T) {
	l := newLab(Options{Name: strings.Repeat("long", 8), Count: maxHosts})
	seen := map[string]bool{}
	for _, h := range l.Hosts {
		// IFNAMSIZ is 16 with the zero at the end; a longer name would be cut and hashed.
		if len(h.port()) > 15 || seen[h.port()] {
			t.Errorf("the port of %s is %q", h.Name, h.port())
		}
		seen[h.port()] = true
	}
	if last := l.Hosts[maxHosts-1].Address; last != "10.213.0.109" {
		t.Errorf("the last host's address is %s", last)
	}
}

func TestBaseKey(t *testing.T) {
	s := &sources{Codename: "bookworm", Arch: "amd64"}
	one := baseKey(s, []string{"b", "a", "b"})
	if two := baseKey(s, []string{"a", "b"}); one != two {
		t.Errorf("the order of packages makes two bases: %s and %s", one, two)
	}
	for _, other := range []string{baseKey(s, nil), baseKey(s, []string{"ab"}), baseKey(&sources{Codename: "trixie", Arch: "amd64"}, []string{"a", "b"})} {
		if other == one || strings.ContainsAny(other, "/ ") {
			t.Errorf("another base has the key %s", other)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	tests := []struct {
		o    Options
		want string
	}{
		{Options{Name: "A"}, "cannot be a lab's name"},
		{Options{Name: "a", Count: 100}, "99 at most"},
		{Options{Name: "a", Count: 1, CPUs: -1}, "0.01 or more"},
		{Options{Name: "a", Count: 1, Dir: "/tmp/a:b"}, "overlays cannot be in a path"},
	}
	for _, tt := range tests {
		if err := tt.o.check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.o, err, tt.want)
		}
	}
	for _, s := range []Settings{{LossPercent: 101}, {LossPercent: -1}, {RateBitsPerSecond: 10}, {Delay: -1}, {Delay: time.Hour}} {
		if s.check() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
