package evidence

import (
	"os"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/host"
)

func TestParseKernel(t *testing.T) {
	for in, want := range map[string]string{
		"4096\n":                   "4096",
		"32768\t60999\n":           "32768 60999",
		"always [madvise] never\n": "madvise",
		"[none] mq-deadline\n":     "none",
		"\n":                       "",
	} {
		if got := parseKernel([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestParseSoftnet(t *testing.T) {
	// Two CPUs of Linux 6.18: processed, dropped, squeezed, …
	d, s := parseSoftnet([]byte("02b502e7 00000001 0000001e 00000000\n028ff6c2 0000000a 00000017 00000000\n"))
	if d != 11 || s != 0x1e+0x17 {
		t.Errorf("%d dropped, %d squeezed", d, s)
	}
	if d, s := parseSoftnet([]byte("x\n1 2\n")); d != 0 || s != 0 {
		t.Errorf("of nonsense: %d, %d", d, s)
	}
}

func TestKernelUse(t *testing.T) {
	begin := &reading{tcp: map[string]int64{"PruneCalled": 5}, kernel: kernelReading{softnet: [2]int64{1, 1}, stalls: 100}}
	end := &reading{tcp: map[string]int64{"PruneCalled": 9, "TCPReqQFullDoCookies": 3}, kernel: kernelReading{softnet: [2]int64{4, 1}, stalls: 150, tracked: [2]int64{7, 9}}}
	want := KernelUse{SoftnetDropped: 3, Pruned: 4, SynCookies: 3, CompactStalls: 5, Tracked: 7, TrackedMax: 9}
	if got := kernelUse(begin, end, 10); got != want {
		t.Errorf("%+v", got)
	}
}

func TestParseMaps(t *testing.T) {
	program, libraries := parseMaps([]byte(`55d0-55d1 r--p 00000000 fe:00 7 /usr/sbin/nginx
55d1-55d2 r-xp 00001000 fe:00 7 /usr/sbin/nginx
7f00-7f01 r-xp 00000000 fe:00 8 /usr/lib/x86_64-linux-gnu/libz.so.1.2.13
7f01-7f02 r-xp 00000000 fe:00 9 /usr/lib/x86_64-linux-gnu/libc.so.6 (deleted)
7f02-7f03 rw-s 00000000 00:01 3 /dev/zero (deleted)
7f03-7f04 rw-p 00000000 00:00 0 [heap]
`))
	if program != "/usr/sbin/nginx" || !slices.Equal(libraries, []string{"/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"}) {
		t.Errorf("%s %v", program, libraries)
	}
}

func TestParsePackages(t *testing.T) {
	owners := parseOwners([]byte("nginx: /usr/sbin/nginx\nzlib1g:amd64: /lib/libz.so.1\ndiversion by a from: /x\na, b: /shared\n"))
	if owners["/usr/sbin/nginx"] != "nginx" || owners["/lib/libz.so.1"] != "zlib1g" || owners["/shared"] != "a" || len(owners) != 3 {
		t.Errorf("owners %v", owners)
	}
	c := parseCandidates([]byte("nginx:\n  Installed: 1\n  Candidate: 2\n  Version table:\n *** 1 500\nlibz:i386:\n  Candidate: (none)\n"))
	if c["nginx"] != "2" || len(c) != 1 {
		t.Errorf("candidates %v", c)
	}
}

// far is this machine read as another one is: many files in one round trip.
type far struct{ *host.Local }

func (far) Name() string { return "far" }

// TestKernelOfAnotherHost: read at once or one by one, settings are the same.
func TestKernelOfAnotherHost(t *testing.T) {
	read := func(h host.Host) map[string]KernelSetting {
		tk := &taker{ctx: t.Context(), snap: &Snapshot{Files: map[string]map[string]File{"h": {}}}}
		if err := tk.kernel("h", h); err != nil {
			t.Fatal(err)
		}
		return tk.snap.Kernel["h"]
	}
	here, there := read(host.NewLocal()), read(far{host.NewLocal()})
	for k, v := range here {
		if there[k] != v {
			t.Errorf("%s: %+v here, %+v there", k, v, there[k])
		}
	}
	if len(there) != len(here) || len(here) < 15 {
		t.Errorf("%d settings here, %d there", len(here), len(there))
	}
	if here["net.core.somaxconn"].Value == "" || strings.Contains(here["net.ipv4.tcp_rmem"].Value, "\t") {
		t.Errorf("%+v", here)
	}
	if os.Geteuid() == 0 && here["net.ipv4.tcp_available_congestion_control"].Writable {
		t.Error("a list that only tells is taken as writable")
	}
}
