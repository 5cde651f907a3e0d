package stack

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// procStat holds the fields of /proc/PID/stat that Kasoku needs (proc(5)).
type procStat struct {
	pid, ppid int
	comm      string // at most 15 bytes
	state     byte   // R, S, D, Z …
	threads   int    // one at least, which the first is until it was waited for
	started   uint64 // clock ticks since boot; with pid it names one process
	used      uint64 // CPU of its threads so far, clock ticks
}

// dead reports a process that has ended but was not yet waited for. While the
// state is that of the first thread, ended too, others may go on, or still be
// ending and hold the files and ports of all.
func (p procStat) dead() bool { return (p.state == 'Z' || p.state == 'X') && p.threads < 2 }

// parseProcStat reads /proc/PID/stat. The command name may itself hold spaces
// and brackets, so the last ")" ends it.
func parseProcStat(data []byte) (procStat, error) {
	s := string(data)
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 1 || end < open {
		return procStat{}, fmt.Errorf("parse /proc/PID/stat: no command name in %q", s)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(s[:open]))
	f := strings.Fields(s[end+1:])
	if err != nil || len(f) < 20 {
		return procStat{}, fmt.Errorf("parse /proc/PID/stat: cannot read %q", s)
	}
	ppid, err1 := strconv.Atoi(f[1])
	threads, err2 := strconv.Atoi(f[17])              // field 20
	started, err3 := strconv.ParseUint(f[19], 10, 64) // field 22
	user, err4 := strconv.ParseUint(f[11], 10, 64)    // field 14
	system, err5 := strconv.ParseUint(f[12], 10, 64)  // field 15
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return procStat{}, fmt.Errorf("parse /proc/PID/stat: cannot read %q", s)
	}
	return procStat{pid: pid, ppid: ppid, comm: s[open+1 : end], state: f[0][0], threads: threads, started: started, used: user + system}, nil
}

// parseCmdline splits /proc/PID/cmdline. A program that wrote its own title
// over it (nginx, php-fpm) yields one argument.
func parseCmdline(data []byte) []string {
	s := strings.TrimRight(string(data), "\x00 ")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// socket is one line of /proc/net/tcp, tcp6 or unix.
type socket struct {
	inode     uint64
	local     netip.AddrPort // of TCP
	remote    netip.AddrPort // of TCP, zero port when listening
	path      string         // of a unix socket; "@name" when abstract
	listening bool
	connected bool
}

// endpoint is the socket's local side as kasoku.yaml writes it.
func (s socket) endpoint() string {
	if s.path != "" {
		return "unix:" + s.path
	}
	return s.local.String()
}

// serves reports whether the socket takes connections to an endpoint that is known
// to be of its own host: one for every local address takes those to each.
func (s socket) serves(endpoint string) bool {
	if !s.listening {
		return false
	}
	host, port, err := net.SplitHostPort(endpoint)
	if s.path == "" && s.local.Addr().IsUnspecified() && err == nil && port == strconv.Itoa(int(s.local.Port())) {
		// A wildcard of IPv4 takes nothing that comes by IPv6.
		to, err := netip.ParseAddr(host)
		return err != nil || s.local.Addr().Is6() || to.Unmap().Is4()
	}
	return sameEndpoint(s.endpoint(), endpoint)
}

// TCP states of include/net/tcp_states.h.
const (
	tcpEstablished = 0x01
	tcpListen      = 0x0A
)

// parseTCP reads /proc/net/tcp or /proc/net/tcp6. Only sockets that listen or
// are established are returned. Lines it cannot read are left out: the kernel
// may cut the last one.
func parseTCP(r io.Reader) []socket {
	var out []socket
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		state, ok := tcpState(sc.Bytes())
		if !ok || state != tcpEstablished && state != tcpListen {
			continue // most rows of a busy server wait for their time to be over
		}
		f := strings.Fields(sc.Text())
		if len(f) < 10 {
			continue
		}
		local, ok1 := parseHexAddr(f[1])
		remote, ok2 := parseHexAddr(f[2])
		inode, err := strconv.ParseUint(f[9], 10, 64)
		if !ok1 || !ok2 || err != nil {
			continue
		}
		out = append(out, socket{inode: inode, local: local, remote: remote, listening: state == tcpListen, connected: state == tcpEstablished})
	}
	return out
}

// tcpState is the fourth word of a row of /proc/net/tcp; not that of its head.
func tcpState(row []byte) (state uint64, ok bool) {
	for range 3 {
		row = bytes.TrimLeft(row, " ")
		_, row, _ = bytes.Cut(row, []byte{' '})
	}
	word, _, _ := bytes.Cut(bytes.TrimLeft(row, " "), []byte{' '})
	state, err := strconv.ParseUint(string(word), 16, 8)
	return state, err == nil
}

// parseHexAddr reads "0100007F:1F90": each 32-bit word is printed in the
// machine's byte order, little-endian on every machine Kasoku runs on.
func parseHexAddr(s string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	p, err2 := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || err2 != nil || (len(b) != 4 && len(b) != 16) {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
	}
	a, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(a.Unmap(), uint16(p)), ok
}

// haproxySocket ends the names of HAProxy's Unix sockets there: it binds them
// under a name with its process and renames the file, of which the kernel tells
// nothing.
var haproxySocket = regexp.MustCompile(`\.\d+\.tmp$`)

// parseUnix reads /proc/net/unix: sockets with a path, and those that are connected
// to one, which have none.
func parseUnix(r io.Reader) []socket {
	const acceptsConnections = 1 << 16 // __SO_ACCEPTCON, include/linux/net.h
	var out []socket
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		// Num RefCount Protocol Flags Type St Inode Path; the path may hold spaces.
		f := strings.Fields(sc.Text())
		if len(f) < 7 || f[0] == "Num" || len(f) == 7 && f[5] != "03" {
			continue
		}
		flags, err := strconv.ParseUint(f[3], 16, 64)
		inode, err2 := strconv.ParseUint(f[6], 10, 64)
		if err != nil || err2 != nil {
			continue
		}
		if len(f) == 7 {
			out = append(out, socket{inode: inode, connected: true})
			continue
		}
		line := sc.Text()
		path := line[strings.Index(line, " "+f[6]+" ")+len(f[6])+2:]
		path = haproxySocket.ReplaceAllString(strings.TrimSpace(path), "")
		out = append(out, socket{inode: inode, path: path, listening: flags&acceptsConnections != 0, connected: f[5] == "03"})
	}
	return out
}

// parseCgroupUnit finds the systemd service in /proc/PID/cgroup; "" if the
// process belongs to none (a login session, a container).
func parseCgroupUnit(data []byte) string {
	for line := range strings.Lines(string(data)) {
		_, path, ok := strings.Cut(strings.TrimSpace(line), ":/")
		if !ok || !strings.Contains(line, "::/") && !strings.Contains(line, "name=systemd") {
			continue
		}
		if !strings.HasPrefix(path, "system.slice/") {
			continue
		}
		parts := strings.Split(path, "/")
		for i := len(parts) - 1; i >= 0; i-- {
			if strings.HasSuffix(parts[i], ".service") {
				return parts[i]
			}
		}
	}
	return ""
}

// parseStatusUID reads the effective user of /proc/PID/status; -1 if absent.
func parseStatusUID(data []byte) int {
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Uid:"); ok {
			if f := strings.Fields(rest); len(f) >= 2 {
				if n, err := strconv.Atoi(f[1]); err == nil {
					return n
				}
			}
		}
	}
	return -1
}

// parseFileLimit reads "Max open files" of /proc/PID/limits as "soft:hard",
// the form of prlimit(1); "" if absent.
func parseFileLimit(data []byte) string {
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Max open files"); ok {
			if f := strings.Fields(rest); len(f) >= 2 {
				return f[0] + ":" + f[1]
			}
		}
	}
	return ""
}
