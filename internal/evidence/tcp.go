package evidence

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// tcpUse is what counters of /proc/net/snmp (RFC 4022) and netstat (kernel
// Documentation/networking/snmp_counter.rst) rose by.
func tcpUse(begin, end map[string]int64) TCPUse {
	rose := func(name string) int64 { return max(end[name]-begin[name], 0) }
	return TCPUse{ActiveOpens: rose("ActiveOpens"), PassiveOpens: rose("PassiveOpens"), Retransmits: rose("RetransSegs"),
		Segments: rose("OutSegs"), Resets: rose("OutRsts"), ListenDrops: rose("ListenDrops"), TimeWaitOverflow: rose("TCPTimeWaitOverflow")}
}

// tcpStates are the kernel's numbers (include/net/tcp_states.h) by ss's names.
var tcpStates = [...]string{1: "ESTAB", 2: "SYN-SENT", 3: "SYN-RECV", 4: "FIN-WAIT-1", 5: "FIN-WAIT-2", 6: "TIME-WAIT",
	7: "UNCONN", 8: "CLOSE-WAIT", 9: "LAST-ACK", 10: "LISTEN", 11: "CLOSING", 12: "SYN-RECV"}

// tcpListen is LISTEN.
const tcpListen = 10

// tcpSocket is one line of /proc/net/tcp or tcp6.
type tcpSocket struct {
	Local, Remote netip.AddrPort
	State         byte
}

// parseTCP calls each for every socket of /proc/net/tcp or tcp6 (kernel
// Documentation/networking/proc_net_tcp.rst). There can be tens of thousands,
// so nothing is allocated for one.
func parseTCP(data []byte, each func(tcpSocket)) {
	for line := range bytes.Lines(data) {
		_, rest, ok := bytes.Cut(line, []byte(": "))
		if !ok {
			continue // the header
		}
		local, rest, ok1 := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
		remote, rest, ok2 := bytes.Cut(rest, []byte(" "))
		if !ok1 || !ok2 || len(rest) < 2 {
			continue
		}
		var s tcpSocket
		var state [1]byte
		if _, err := hex.Decode(state[:], rest[:2]); err != nil {
			continue
		}
		s.State = state[0]
		if s.Local, ok1 = tcpAddress(local); !ok1 {
			continue
		}
		if s.Remote, ok2 = tcpAddress(remote); ok2 {
			each(s)
		}
	}
}

// tcpAddress decodes "0100007F:1F90": words of four bytes in the machine's
// order (little-endian wherever Kasoku runs), then the port.
func tcpAddress(b []byte) (netip.AddrPort, bool) {
	addr, port, ok := bytes.Cut(b, []byte(":"))
	if !ok || len(port) != 4 || len(addr) != 8 && len(addr) != 32 {
		return netip.AddrPort{}, false
	}
	var raw [16]byte
	var p [2]byte
	if _, err := hex.Decode(raw[:], addr); err != nil {
		return netip.AddrPort{}, false
	}
	if _, err := hex.Decode(p[:], port); err != nil {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(addr)/2; i += 4 {
		raw[i], raw[i+1], raw[i+2], raw[i+3] = raw[i+3], raw[i+2], raw[i+1], raw[i]
	}
	ip := netip.AddrFrom4([4]byte(raw[:4]))
	if len(addr) == 32 {
		ip = netip.AddrFrom16(raw).Unmap()
	}
	return netip.AddrPortFrom(ip, uint16(p[0])<<8|uint16(p[1])), true
}

// tcpTable sums up the sockets of a host.
type tcpTable struct {
	states map[string]int
	listen map[uint16]bool // ports
	out    map[tcpPath]int // connections by their two ends
}

// tcpPath is where connections go, and from which address: each has a port of its
// own on that address.
type tcpPath struct {
	from netip.Addr
	port uint16 // local, to be grouped away
	to   netip.AddrPort
}

func newTCPTable() *tcpTable {
	return &tcpTable{states: map[string]int{}, listen: map[uint16]bool{}, out: map[tcpPath]int{}}
}

func (t *tcpTable) add(s tcpSocket) {
	if int(s.State) >= len(tcpStates) || s.State == 0 {
		return
	}
	t.states[tcpStates[s.State]]++
	if s.State == tcpListen {
		t.listen[s.Local.Port()] = true
		return
	}
	t.out[tcpPath{s.Local.Addr(), s.Local.Port(), s.Remote}]++
}

// busiest is how many ports of the range low–high the destination uses that
// uses most. Of a connection within the machine both ends are in the table;
// the server's has a port that something listens on, and uses up none.
func (t *tcpTable) busiest(low, high uint16) (used int, to string) {
	by := map[tcpPath]int{}
	for p := range t.out {
		if p.port >= low && p.port <= high && !t.listen[p.port] {
			p.port = 0
			by[p]++
		}
	}
	for p, n := range by {
		if text := p.to.String(); n > used || n == used && text < to {
			used, to = n, text
		}
	}
	return used, to
}

// parsePortRange reads /proc/sys/net/ipv4/ip_local_port_range.
func parsePortRange(data []byte) (low, high uint16, err error) {
	f := strings.Fields(string(data))
	if len(f) == 2 {
		a, err1 := strconv.ParseUint(f[0], 10, 16)
		b, err2 := strconv.ParseUint(f[1], 10, 16)
		if err1 == nil && err2 == nil && a <= b {
			return uint16(a), uint16(b), nil
		}
	}
	return 0, 0, fmt.Errorf("parse ip_local_port_range: %q is not two ports", data)
}
