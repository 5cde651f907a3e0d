package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// Of include/uapi/linux/{sock_diag,inet_diag,unix_diag}.h (sock_diag(7)).
const (
	sockDiagByFamily = 20
	inetDiagRequest  = 56 // bytes of struct inet_diag_req_v2
	inetDiagMessage  = 72 // of struct inet_diag_msg
	unixDiagRequest  = 24
	unixDiagMessage  = 16
	unixDiagName     = 0 // attributes
	unixDiagQueue    = 4
	unixShowName     = 1 << unixDiagName
	unixShowQueue    = 1 << unixDiagQueue
)

// States of TCP as the kernel counts them (include/net/tcp_states.h).
const (
	TCPEstablished = 1
	TCPListen      = 10
	// AllTCPStates asks for each of 1 to 12, which is what /proc/net/tcp tells.
	AllTCPStates = 1<<13 - 2
)

// TCPSocket is one that the kernel tells of.
type TCPSocket struct {
	Local, Remote netip.AddrPort
	State         byte
	Inode         uint64 // 0: no process has it any more
	// Of a socket that listens: how many connections wait to be accepted, and how many may.
	Queue, Limit int
}

// TCPSockets asks this machine's kernel for the TCP sockets of Kasoku's network namespace
// in the states of a mask, 1<<TCPListen. It is what /proc/net/tcp and tcp6 tell, but the
// kernel makes each of those from its whole table of connections, twice, however few
// there are: 7 ms where it has 262,144 places, as on a machine with 24 GB (BenchmarkTCPSockets).
func (*Local) TCPSockets(states uint32) ([]TCPSocket, error) {
	var out []TCPSocket
	err := diagnosed([]byte{unix.AF_INET, unix.AF_INET6}, states, func(data []byte) {
		if s, ok := parseInetDiag(data); ok {
			out = append(out, s)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read TCP sockets: netlink: %w", err)
	}
	return out, nil
}

// UnixListener is a listening Unix socket that has a name.
type UnixListener struct {
	Listen       string // "unix:/run/x.sock", "unix:@abstract"
	Queue, Limit int    // connections that wait to be accepted, and how many may
}

// UnixListeners asks this machine's kernel for those of Kasoku's network namespace; none
// where the kernel cannot tell them.
func (*Local) UnixListeners() []UnixListener {
	var out []UnixListener
	_ = diagnosed([]byte{unix.AF_UNIX}, 1<<TCPListen, func(data []byte) { // none without unix_diag, as is said
		if l, ok := parseUnixDiag(data); ok {
			out = append(out, l)
		}
	})
	return out
}

// diagnosed gives each socket of the families in one of the states to each. A family
// after the first may be none that the kernel has (IPv6).
func diagnosed(families []byte, states uint32, each func(data []byte)) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return err
	}
	for i, family := range families {
		err := dump(fd, diagRequest(family, states), each)
		// A kernel without IPv6 says ENOENT or EINVAL.
		if err != nil && (i == 0 || !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL)) {
			return err
		}
	}
	return nil
}

// diagRequest asks for the sockets of one family in one of the states.
func diagRequest(family byte, states uint32) []byte {
	size := inetDiagRequest
	if family == unix.AF_UNIX {
		size = unixDiagRequest
	}
	b := make([]byte, unix.NLMSG_HDRLEN+size)
	order := binary.NativeEndian
	order.PutUint32(b, uint32(len(b)))
	order.PutUint16(b[4:], sockDiagByFamily)
	order.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := b[unix.NLMSG_HDRLEN:]
	body[0] = family
	order.PutUint32(body[4:], states) // both structures have them there
	if family == unix.AF_UNIX {
		order.PutUint32(body[12:], unixShowName|unixShowQueue)
	} else {
		body[1] = unix.IPPROTO_TCP
	}
	return b
}

// dump sends a request and gives each answer to each until the kernel says
// that it is done.
func dump(fd int, request []byte, each func(data []byte)) error {
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buf := make([]byte, 64<<10) // the kernel sends at most 32 KiB at once
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return err
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return nil
			case unix.NLMSG_ERROR:
				return refusal(m.Data)
			default:
				each(m.Data)
			}
		}
	}
}

// refusal is the error in a message of the kind NLMSG_ERROR: struct nlmsgerr, a negative error number first.
func refusal(data []byte) error {
	if len(data) >= 4 {
		if code := int32(binary.NativeEndian.Uint32(data)); code != 0 {
			return syscall.Errno(-code)
		}
	}
	return errors.New("the kernel refused without a reason")
}

// parseInetDiag reads one socket of TCP: struct inet_diag_msg.
func parseInetDiag(data []byte) (s TCPSocket, ok bool) {
	if len(data) < inetDiagMessage || data[0] != unix.AF_INET && data[0] != unix.AF_INET6 {
		return s, false
	}
	address := func(port, ip int) netip.AddrPort {
		addr := netip.AddrFrom4([4]byte(data[ip : ip+4]))
		if data[0] == unix.AF_INET6 {
			addr = netip.AddrFrom16([16]byte(data[ip : ip+16]))
		}
		return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(data[port:]))
	}
	order := binary.NativeEndian
	s = TCPSocket{Local: address(4, 8), Remote: address(6, 24), State: data[1], Inode: uint64(order.Uint32(data[68:]))}
	if s.State == TCPListen {
		s.Queue, s.Limit = int(order.Uint32(data[56:])), int(order.Uint32(data[60:]))
	}
	return s, true
}

// parseUnixDiag reads one Unix socket: struct unix_diag_msg with its attributes. One
// without a name is left out.
func parseUnixDiag(data []byte) (l UnixListener, ok bool) {
	if len(data) < unixDiagMessage || data[0] != unix.AF_UNIX {
		return l, false
	}
	order := binary.NativeEndian
	for rest := data[unixDiagMessage:]; len(rest) >= 4; {
		size, kind := int(order.Uint16(rest)), order.Uint16(rest[2:])
		if size < 4 || size > len(rest) {
			return l, false
		}
		value := rest[4:size]
		switch {
		case kind == unixDiagName && len(value) > 0:
			l.Listen = unixName(value)
		case kind == unixDiagQueue && len(value) >= 8:
			l.Queue, l.Limit = int(order.Uint32(value)), int(order.Uint32(value[4:]))
		}
		rest = rest[min((size+3)&^3, len(rest)):]
	}
	return l, l.Listen != ""
}

// unixName is the endpoint of a socket's name: a path, or an abstract name,
// which begins with a zero byte and is written with @.
func unixName(name []byte) string {
	if name[0] == 0 {
		return "unix:@" + string(name[1:])
	}
	for i, c := range name {
		if c == 0 {
			name = name[:i]
			break
		}
	}
	return "unix:" + string(name)
}
