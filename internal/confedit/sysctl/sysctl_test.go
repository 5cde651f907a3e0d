package sysctl

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/confedit/memory"
	"kasoku/internal/confedit/textedit"
	_ "kasoku/internal/rapidseed"
)

func load(t testing.TB, r Reader, m memory.Files) *Config {
	t.Helper()
	c, err := Load(r, m.Read, m.Glob)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const own = "/etc/sysctl.d/90-kasoku.conf"

func TestOrder(t *testing.T) {
	m := memory.Files{
		"/usr/lib/sysctl.d/50-a.conf": "a.a = 1\nb.b=1\n",
		"/etc/sysctl.d/50-a.conf":     "b.b=2\n",
		"/run/sysctl.d/40-x.conf":     "c.c=1\nb.b=3\n",
		"/lib/sysctl.d/60-y.conf":     "c.c=2",
		"/etc/sysctl.d/70-z.txt":      "c.c=9",
		"/etc/sysctl.d/.80.conf":      "c.c=9",
		"/etc/sysctl.conf":            "c/c = 7\n",
	}
	for _, tt := range []struct {
		r         Reader
		key, want string
		from      string
	}{
		{Systemd, "a.a", "", ""}, // masked by the file of the same name in /etc
		{Systemd, "b.b", "2", "/etc/sysctl.d/50-a.conf"},
		{Systemd, "c/c", "2", "/lib/sysctl.d/60-y.conf"},
		{Procps, "c.c", "7", "/etc/sysctl.conf"},
	} {
		v, ok := load(t, tt.r, m).Get(tt.key)
		if v.Text != tt.want || v.Path != tt.from || ok != (tt.want != "") {
			t.Errorf("reader %d: %s is %+v (%v), want %q from %s", tt.r, tt.key, v, ok, tt.want, tt.from)
		}
	}
}

func TestGet(t *testing.T) {
	for _, tt := range []struct{ why, src, key, want string }{
		{"the last wins", "a.b=1\na.b = 2 \n", "a.b", "2"},
		{"comments", "# a.b=1\n ; a.b=2\na.b=3 # c\n", "a.b", "3 # c"},
		{"separators", "net/ipv4/conf/eth0.1/x = 1\n", "net.ipv4.conf.eth0/1.x", "1"},
		{"a failure is passed over", " - a.b = 1\n", "a.b", "1"},
		{"a pattern", "net.ipv4.conf.*.rp_filter = 2\n", "net.ipv4.conf.all.rp_filter", "2"},
		{"the name wins over a later pattern", "net.ipv4.conf.all.rp_filter=1\nnet.ipv4.conf.*.rp_filter = 2\n", "net.ipv4.conf.all.rp_filter", "1"},
		{"- keeps a pattern away", "a.*.c = 2\n-a.b.c\n", "a.b.c", ""},
		{"a pattern does not cross a part", "a.* = 2\n", "a.b.c", ""},
		{"a line without =", "a.b 1\n", "a.b", ""},
		{"several words", "net.ipv4.tcp_rmem = 4096 87380\t6291456\r\n", "net.ipv4.tcp_rmem", "4096 87380\t6291456"},
	} {
		v, ok := Parse("/x", []byte(tt.src)).Get(tt.key)
		if v.Text != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: got %q (%v), want %q", tt.why, v.Text, ok, tt.want)
		}
	}
}

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		why   string
		m     memory.Files
		name  string
		after string
	}{
		{"in place under /etc", memory.Files{"/etc/sysctl.d/99-x.conf": "# c\n a.b\t=  1 \r\n"}, "/etc/sysctl.d/99-x.conf", "# c\n a.b\t=  7 \r\n"},
		{"not in the package's file", memory.Files{"/usr/lib/sysctl.d/50-x.conf": "a.b=1\n"}, own, "a.b = 7\n"},
		{"added to what is there", memory.Files{own: "c.d = 1"}, own, "c.d = 1\na.b = 7"},
		{"beside a pattern", memory.Files{"/etc/sysctl.d/95-x.conf": "a.* = 1\n"}, own, "a.b = 7\n"},
		{"an empty value", memory.Files{own: "a.b =\n"}, own, "a.b = 7\n"},
	} {
		c := load(t, Systemd, tt.m)
		e, err := c.Set("a.b", "7", own)
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		got := c.Changed()
		if len(got) != 1 || string(got[tt.name]) != tt.after || e.Path != tt.name || textedit.Apply(tt.m[tt.name], e) != tt.after {
			t.Errorf("%s: changed %q by %+v, want %q", tt.why, got, e, tt.after)
		}
	}
	c := load(t, Procps, memory.Files{"/run/sysctl.d/95-x.conf": "a.b=1\n"})
	if _, err := c.Set("a.b", "7", own); err == nil || !strings.Contains(err.Error(), "/run/sysctl.d/95-x.conf:1 is applied later") || len(c.Changed()) != 0 || len(c.Files) != 1 {
		t.Errorf("a set without effect: %v, changed %q", err, c.Changed())
	}
	for _, bad := range [][3]string{{"a.b", "1\n2", own}, {"#a", "1", own}, {"a=b", "1", own}, {"-a", "1", own}, {"a.*", "1", own}, {"a.b", " 1", own}, {"a.b", "1", "/etc/other.conf"}, {textedit.BOM + "a.b", "1", own}} {
		if _, err := c.Set(bad[0], bad[1], bad[2]); err == nil || len(c.Changed()) != 0 {
			t.Errorf("set %q has no error: %q", bad, c.Changed())
		}
	}
}

// TestProcpsReadsTheSame compares what `sysctl --dry-run -p` would set with
// what the package reads, on random files.
func TestProcpsReadsTheSame(t *testing.T) {
	program := "/usr/sbin/sysctl"
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is not installed; run make deps", program)
	}
	lines := []string{"", "# kernel.hostname=c", " ; x", "vm.swappiness=10", " vm/swappiness = 20 ", "-vm.swappiness\t=\t30", "net.ipv4.tcp_rmem = 1 2\t3", "net/core/somaxconn=5", "net.core.somaxconn =6 # c", "vm.swappiness 1", "net.ipv4.ip_local_port_range =1 2"}
	gen := rapid.SliceOfN(rapid.SampledFrom(lines), 1, 10)
	name := filepath.Join(t.TempDir(), "x.conf")
	for i := range 60 {
		src := strings.Join(gen.Example(i), "\n")
		if err := os.WriteFile(name, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command(program, "--dry-run", "-p", name).Output() // a line it refuses makes it exit 1
		want := map[string]string{}
		for _, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			if k, v, ok := strings.Cut(l, " = "); ok {
				want[Normalize(k)] = v
			}
		}
		c := Parse(name, []byte(src))
		if len(c.Keys()) != len(want) {
			t.Errorf("%q: sysctl sets %q, this package %q", src, want, c.Keys())
		}
		for k, v := range want {
			if got, ok := c.Get(k); !ok || got.Text != v {
				t.Errorf("%q: sysctl sets %s to %q, this package %q (%v)", src, k, v, got.Text, ok)
			}
		}
	}
}

// TestKernelTakesEdits sets a parameter, applies the file with both readers in
// a network namespace of its own and asks the kernel.
func TestKernelTakesEdits(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a network namespace with settings of its own needs root")
	}
	c := Parse("/x", []byte("# c\nnet.ipv4.tcp_fin_timeout=50\r\n-net.ipv4.nosuch = 1\nnet.ipv4.ip_local_port_range = 2000 3000"))
	for _, kv := range [][2]string{{"net.ipv4.tcp_fin_timeout", "17"}, {"net/ipv4/ip_local_port_range", "10240 65000"}, {"net.core.somaxconn", "1234"}} {
		if _, err := c.Set(kv[0], kv[1], "/x"); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "x.conf")
	if err := os.WriteFile(name, c.Files[0].Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, reader := range []string{"/usr/sbin/sysctl -q -p ", "/usr/lib/systemd/systemd-sysctl "} {
		script := reader + name + "; cd /proc/sys/net && cat ipv4/tcp_fin_timeout ipv4/ip_local_port_range core/somaxconn"
		out, err := exec.Command("unshare", "--net", "sh", "-c", script).Output()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != "17 10240 65000 1234" {
			t.Errorf("%s: the kernel has %q (%v) after\n%s", reader, got, err, c.Files[0].Bytes())
		}
	}
}

// FuzzSysctl: every text prints as it is; an edit changes its span alone,
// reads back, leaves every other parameter as it was, and is not made twice.
func FuzzSysctl(f *testing.F) {
	f.Add("a.b = 1\r\n-c/d=2\n# x\n*.e=3", "a.b", "7")
	f.Add(textedit.BOM+"a.b=", "c", "d e")
	f.Fuzz(func(t *testing.T, src, key, value string) {
		c := Parse("/x", []byte(src))
		if string(c.Files[0].Bytes()) != src {
			t.Fatalf("%q printed as %q", src, c.Files[0].Bytes())
		}
		was := map[string]Value{}
		for _, k := range c.Keys() {
			was[k], _ = c.Get(k)
		}
		e, err := c.Set(key, value, "/x")
		now := string(c.Files[0].Bytes())
		if textedit.Apply(src, e) != now {
			t.Fatalf("%q became %q, the edit %+v (%v) says otherwise", src, now, e, err)
		}
		if err != nil {
			return
		}
		fresh := Parse("/x", []byte(now))
		if v, ok := fresh.Get(key); !ok || v.Text != value {
			t.Fatalf("%q became %q: %s reads %q (%v), want %q", src, now, key, v.Text, ok, value)
		}
		for k, v := range was {
			if got, _ := fresh.Get(k); k != Normalize(key) && got.Text != v.Text && !isGlob(k) {
				t.Fatalf("%q became %q: %s was %q, is %q", src, now, k, v.Text, got.Text)
			}
		}
		if again, err := c.Set(key, value, "/x"); err != nil || again != (textedit.Edit{}) {
			t.Fatalf("%q: a second set makes %+v, %v", now, again, err)
		}
	})
}
