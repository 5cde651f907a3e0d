package evidence

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

// readListening asks this machine's kernel for the listening sockets of
// Kasoku's network namespace: what `ss -Hltxn` asks for, in a fiftieth of the
// time, because no program has to be started.
func readListening() ([]listening, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, fmt.Errorf("read listening sockets: netlink: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return nil, fmt.Errorf("read listening sockets: netlink: %w", err)
	}
	var out []listening
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6, unix.AF_UNIX} {
		err := dump(fd, diagRequest(family), func(data []byte) {
			if l, ok := parseDiag(data); ok {
				out = append(out, l)
			}
		})
		// A kernel without IPv6 or without unix_diag says ENOENT or EINVAL.
		if err != nil && family == unix.AF_INET {
			return nil, fmt.Errorf("read listening sockets: netlink: %w", err)
		}
	}
	return out, nil
}

// diagRequest asks for the sockets of one family in state LISTEN.
func diagRequest(family byte) []byte {
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
	order.PutUint32(body[4:], 1<<tcpListen) // both structures have the states there
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
				if len(m.Data) >= 4 {
					if code := int32(binary.NativeEndian.Uint32(m.Data)); code != 0 {
						return syscall.Errno(-code)
					}
				}
				return errors.New("the kernel refused without a reason")
			default:
				each(m.Data)
			}
		}
	}
}

// parseDiag reads one socket: struct inet_diag_msg or unix_diag_msg with its
// attributes. For a listening socket the queues are how many connections wait
// to be accepted, and how many may. A socket without a name is left out.
func parseDiag(data []byte) (l listening, ok bool) {
	order := binary.NativeEndian
	switch {
	case len(data) >= inetDiagMessage && (data[0] == unix.AF_INET || data[0] == unix.AF_INET6):
		ip := netip.AddrFrom4([4]byte(data[8:12]))
		if data[0] == unix.AF_INET6 {
			ip = netip.AddrFrom16([16]byte(data[8:24]))
		}
		l.Listen = netip.AddrPortFrom(ip, binary.BigEndian.Uint16(data[4:])).String()
		l.Queue, l.Limit = int(order.Uint32(data[56:])), int(order.Uint32(data[60:]))
		return l, true
	case len(data) >= unixDiagMessage && data[0] == unix.AF_UNIX:
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
	return l, false
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
