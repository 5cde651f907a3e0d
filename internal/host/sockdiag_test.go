package host

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestParseDiag(t *testing.T) {
	for why, data := range map[string][]byte{"nothing": nil, "cut off": make([]byte, 8), "another family": append([]byte{unix.AF_NETLINK}, make([]byte, 100)...),
		"no name": append([]byte{unix.AF_UNIX}, make([]byte, 15)...), "an attribute longer than the rest": append(append([]byte{unix.AF_UNIX}, make([]byte, 15)...), 99, 0, 0, 0, 'x')} {
		if l, ok := parseUnixDiag(data); ok {
			t.Errorf("%s was read as %+v", why, l)
		}
		if s, ok := parseInetDiag(data); ok {
			t.Errorf("%s was read as %+v", why, s)
		}
	}
	if got := unixName([]byte("\x00abstract")); got != "unix:@abstract" {
		t.Error(got)
	}
	if got := unixName([]byte("/run/x\x00\x00")); got != "unix:/run/x" {
		t.Error(got)
	}
}

// Both ends of a connection and who listens are told, of IPv4 and of IPv6, and only in the
// states that are asked for.
func TestTCPSockets(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Log(address, err) // no IPv6 here
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		at := func(a net.Addr) netip.AddrPort { return netip.MustParseAddrPort(a.String()) }
		door, client := at(l.Addr()), at(c.LocalAddr())
		for states, want := range map[uint32]map[TCPSocket]bool{
			1 << TCPListen: {{Local: door, State: TCPListen}: true},
			1 << TCPEstablished: {{Local: client, Remote: door, State: TCPEstablished}: true,
				{Local: door, Remote: client, State: TCPEstablished}: true},
		} {
			all, err := NewLocal().TCPSockets(states)
			if err != nil {
				t.Fatal(err)
			}
			got := map[TCPSocket]bool{}
			for _, s := range all {
				if s.Local != door && s.Remote != door {
					continue
				}
				if s.Local != door && s.Inode == 0 {
					t.Errorf("%+v has no inode", s)
				}
				if s.State == TCPListen {
					s.Remote = netip.AddrPort{} // all zeros, of the family
				}
				s.Inode, s.Queue, s.Limit = 0, 0, 0
				got[s] = true
			}
			for s := range want {
				if !got[s] {
					t.Errorf("states %b: %+v is missing in %+v", states, s, got)
				}
			}
			if len(got) != len(want) {
				t.Errorf("states %b: %+v, want %+v", states, got, want)
			}
		}
	}
}

// BenchmarkTCPSockets compares one look at this machine's table with its two files.
func BenchmarkTCPSockets(b *testing.B) {
	h := NewLocal()
	for name, look := range map[string]func() error{
		"all":       func() error { _, err := h.TCPSockets(AllTCPStates); return err },
		"inUse":     func() error { _, err := h.TCPSockets(1<<TCPListen | 1<<TCPEstablished); return err },
		"listening": func() error { _, err := h.TCPSockets(1 << TCPListen); return err },
		"files": func() error {
			_, err := h.ReadFile(b.Context(), "/proc/net/tcp")
			if err == nil {
				_, err = h.ReadFile(b.Context(), "/proc/net/tcp6")
			}
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			before := spent(b)
			for b.Loop() {
				if err := look(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((spent(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

func FuzzParseDiag(f *testing.F) {
	f.Add(append([]byte{unix.AF_INET, TCPListen}, make([]byte, inetDiagMessage)...))
	f.Add(append([]byte{unix.AF_UNIX}, make([]byte, unixDiagMessage+8)...))
	f.Fuzz(func(_ *testing.T, data []byte) {
		parseInetDiag(data)
		parseUnixDiag(data)
	})
}

// spent is the CPU time of this process.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
