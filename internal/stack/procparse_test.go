package stack

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestParseProcStat(t *testing.T) {
	p, err := parseProcStat([]byte("12216 (a) (b c) S 12164 12164 11923 0 -1 4194304 99 0 0 0 0 0 0 0 20 0 1 0 327541 3133440 388\n"))
	if err != nil || p.pid != 12216 || p.ppid != 12164 || p.comm != "a) (b c" || p.started != 327541 || p.dead() {
		t.Errorf("%+v, %v", p, err)
	}
	for stat, dead := range map[string]bool{
		"7 (a) S 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 3 0 9": false,
		"7 (a) Z 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 3 0 9": false, // two threads end still
		"7 (a) Z 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 9": true,
		"7 (a) X 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 0 0 9": true,
	} {
		if p, err := parseProcStat([]byte(stat)); err != nil || p.dead() != dead {
			t.Errorf("%s: dead %v, want %v (%v)", stat, p.dead(), dead, err)
		}
	}
	for _, bad := range []string{"", "1 (x", "x (y) S 1", "1 (x) S 1 2 3", ") 1 ("} {
		if _, err := parseProcStat([]byte(bad)); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

// Captured lines of a machine with IPv4, IPv6 and mapped addresses.
const (
	procNetTCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1001 1 0000000000000000 100 0 0 10 0
   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1002 1 0000000000000000 100 0 0 10 0
   2: 0100007F:9C40 0100007F:0CEA 01 00000000:00000000 02:00000A1B 00000000    33        0 1003 2 0000000000000000 20 4 30 10 -1
   3: 0100007F:9C42 0100007F:0CEA 06 00000000:00000000 03:0000173A 00000000     0        0 0 3 0000000000000000
   4: 0100007F:9C
`
	procNetTCP6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2001 1 0000000000000000 100 0 0 10 0
   1: 0000000000000000FFFF00000100007F:0CEA 0000000000000000FFFF00000100007F:9C40 01 00000000:00000000 00:00000000 00000000   105        0 2002 1 0000000000000000 20 4 30 10 -1
`
	procNetUnix = `Num       RefCount Protocol Flags    Type St Inode Path
00000000d58c899f: 00000003 00000000 00000000 0001 03 143196
000000007fab47d3: 00000002 00000000 00010000 0001 01 143711 /run/my sql.sock
0000000026425894: 00000003 00000000 00000000 0001 03 426997 /run/php.sock
00000000565e5fb4: 00000002 00000000 00010000 0001 01 33 @/tmp/abstract
`
)

func TestParseSockets(t *testing.T) {
	var got []string
	for _, s := range slices.Concat(parseTCP(strings.NewReader(procNetTCP)), parseTCP(strings.NewReader(procNetTCP6)), parseUnix(strings.NewReader(procNetUnix))) {
		text := s.endpoint()
		if s.listening {
			text += " listens"
		}
		if s.connected && s.path == "" {
			text += " to " + s.remote.String()
		}
		got = append(got, text)
	}
	want := []string{"127.0.0.1:8080 listens", "0.0.0.0:80 listens", "127.0.0.1:40000 to 127.0.0.1:3306",
		"[::1]:80 listens", "127.0.0.1:3306 to 127.0.0.1:40000", "invalid AddrPort to invalid AddrPort",
		"unix:/run/my sql.sock listens", "unix:/run/php.sock", "unix:@/tmp/abstract listens"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestParseCgroupUnit(t *testing.T) {
	for data, want := range map[string]string{
		"0::/system.slice/nginx.service\n":                                          "nginx.service",
		"0::/system.slice/system-postgresql.slice/postgresql@15-main.service\n":     "postgresql@15-main.service",
		"12:cpu:/x\n1:name=systemd:/system.slice/mariadb.service\n0::/\n":           "mariadb.service",
		"0::/user.slice/user-0.slice/session-1.scope\n":                             "",
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/shop.service\n": "",
		"0::/system.slice/docker-0123.scope\n":                                      "",
		"0::/system.slice/containerd.service/kubepods/pod1\n":                       "containerd.service",
		"": "",
	} {
		if got := parseCgroupUnit([]byte(data)); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}

func TestParseSmallFiles(t *testing.T) {
	if got := parseCmdline([]byte("nginx: master process nginx\x00\x00\x00")); !slices.Equal(got, []string{"nginx: master process nginx"}) {
		t.Errorf("title: %q", got)
	}
	if got := parseCmdline([]byte("a\x00\x00b\x00")); !slices.Equal(got, []string{"a", "", "b"}) {
		t.Errorf("empty argument: %q", got)
	}
	if got := parseCmdline(nil); got != nil {
		t.Errorf("kernel thread: %q", got)
	}
	if got := parseStatusUID([]byte("Name:\tx\nUid:\t0\t105\t0\t0\n")); got != 105 {
		t.Errorf("uid %d", got)
	}
	if got := parseFileLimit([]byte("Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files\n")); got != "1024:524288" {
		t.Errorf("limit %q", got)
	}
}

func FuzzProc(f *testing.F) {
	for _, s := range []string{"1 (x) S 1 2", procNetTCP, procNetTCP6, procNetUnix, "0::/system.slice/a.service", "Max open files 1 2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = parseProcStat(data)
		parseTCP(bytes.NewReader(data))
		parseUnix(bytes.NewReader(data))
		parseCgroupUnit(data)
		parseCmdline(data)
		parseStatusUID(data)
		parseFileLimit(data)
	})
}

func TestSameEndpoint(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"127.0.0.1:80", "127.0.0.1:80", true},
		{"0.0.0.0:80", "127.0.0.1:80", true},
		{"[::]:80", "127.0.0.1:80", true}, // a dual-stack socket
		{"localhost:80", "[::1]:80", true},
		{"127.0.0.1:80", "127.0.0.2:80", false},
		{"127.0.0.1:80", "127.0.0.1:81", false},
		{"0.0.0.0:80", "10.0.0.7:80", false}, // may be another machine
		{"unix:/a", "unix:/a", true},
		{"unix:/a", "unix:/b", false},
		{"unix:/a:80", "127.0.0.1:80", false},
	} {
		if sameEndpoint(c.a, c.b) != c.want || sameEndpoint(c.b, c.a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}

func TestSocketServes(t *testing.T) {
	for _, c := range []struct {
		local, endpoint string
		want            bool
	}{
		{"0.0.0.0:80", "10.0.0.7:80", true}, // its host's own address
		{"[::]:80", "10.0.0.7:80", true},
		{"[::]:80", "[2001:db8::7]:80", true},
		{"0.0.0.0:80", "[2001:db8::7]:80", false},
		{"0.0.0.0:80", "web1:80", true},
		{"0.0.0.0:80", "localhost:80", true},
		{"0.0.0.0:80", "10.0.0.7:81", false},
		{"127.0.0.1:80", "10.0.0.7:80", false},
		{"10.0.0.7:80", "10.0.0.7:80", true},
		{"10.0.0.7:80", "10.0.0.8:80", false},
		{"0.0.0.0:80", "unix:/run/a.sock", false},
	} {
		if got := (socket{local: netip.MustParseAddrPort(c.local), listening: true}).serves(c.endpoint); got != c.want {
			t.Errorf("%s serves %s: %v", c.local, c.endpoint, got)
		}
	}
	if (socket{local: netip.MustParseAddrPort("0.0.0.0:80"), connected: true}).serves("10.0.0.7:80") {
		t.Error("a connection is no listening socket")
	}
	if !(socket{path: "/run/a.sock", listening: true}).serves("unix:/run/a.sock") {
		t.Error("a unix socket serves its own path")
	}
}

func TestParseNginxTitle(t *testing.T) {
	got := parseNginxTitle("nginx: master process /usr/sbin/nginx -c /etc/n.conf -p /srv -g daemon off; user x;")
	if got["-c"] != "/etc/n.conf" || got["-p"] != "/srv" || got["-g"] != "daemon off; user x;" {
		t.Errorf("%q", got)
	}
	if got := parseNginxTitle("nginx"); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestEndpointsOfConfigurations(t *testing.T) {
	for arg, want := range map[string]string{"8080": "0.0.0.0:8080", "*:80": "0.0.0.0:80", "127.0.0.1": "127.0.0.1:80", "[::]:80": "[::]:80", "[::1]": "[::1]:80", "unix:/a": "unix:/a", "a:b": ""} {
		if got := nginxEndpoint(arg); got != want {
			t.Errorf("nginx listen %s: %q, want %q", arg, got, want)
		}
	}
	for listen, want := range map[string]string{"9000": "0.0.0.0:9000", "127.0.0.1:9000": "127.0.0.1:9000", "/run/p.sock": "unix:/run/p.sock", "p.sock": "unix:/srv/p.sock", "[::]:9000": "[::]:9000"} {
		if got := fpmEndpoint(listen, &Service{Prefix: "/srv"}); got != want {
			t.Errorf("php-fpm listen %s: %q, want %q", listen, got, want)
		}
	}
}
