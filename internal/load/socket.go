package load

import (
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// The event loop's own system calls. Those that never wait go without Go's
// scheduler (RawSyscall): they are as short as the kernel's own work.

// address of a target as the kernel takes it.
type address struct {
	family int
	peer   syscall.Sockaddr
}

// newAddress reads "ip:port", or a unix socket's path.
func newAddress(network, text string) (address, error) {
	if network == "unix" {
		return address{syscall.AF_UNIX, &syscall.SockaddrUnix{Name: text}}, nil
	}
	ap, err := netip.ParseAddrPort(text)
	if err != nil {
		return address{}, fmt.Errorf("target address %s: %w", text, err)
	}
	if ip := ap.Addr(); ip.Is4() {
		return address{syscall.AF_INET, &syscall.SockaddrInet4{Port: int(ap.Port()), Addr: ip.As4()}}, nil
	}
	return address{syscall.AF_INET6, &syscall.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16()}}, nil
}

// dial begins a connection; pending says that it is not there yet.
func (a address) dial() (fd int, pending bool, err error) {
	fd, err = syscall.Socket(a.family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, false, os.NewSyscallError("socket", err)
	}
	if a.family != syscall.AF_UNIX {
		// As Go's net package: small requests must not wait for one another.
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	}
	err = syscall.Connect(fd, a.peer)
	if err == syscall.EINPROGRESS {
		return fd, true, nil
	}
	if err != nil {
		syscall.Close(fd)
		return -1, false, os.NewSyscallError("connect", err)
	}
	return fd, false, nil
}

// connected is the outcome of a pending connection.
func connected(fd int) error {
	code, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	if code != 0 {
		return os.NewSyscallError("connect", syscall.Errno(code))
	}
	return nil
}

// calls counts the system calls of one loop, so that a test can hold what a
// request costs against a bound: a clock would tell it less exactly.
type calls struct {
	sends, receives int64
	waits           int64 // for events, with and without waiting
	empty           int64 // waits that brought nothing
	rests           int64
}

// send without waiting; EAGAIN when the socket takes no more.
func (c *caller) send(fd int, b []byte) (int, syscall.Errno) {
	c.calls.sends++
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_NOSIGNAL|syscall.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// receive without waiting; EAGAIN when nothing is there.
func (c *caller) receive(fd int, b []byte) (int, syscall.Errno) {
	c.calls.receives++
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// edgeEvents: told once when something changes, so no registration has to be
// changed while a connection lives.
const edgeEvents = uint32(syscall.EPOLLIN | syscall.EPOLLOUT | syscall.EPOLLRDHUP | 1<<31) // EPOLLET

// sysPwait2 is epoll_pwait2 (Linux 5.11), whose time-out counts in
// nanoseconds. The number is the same on every architecture.
const sysPwait2 = 441

// poll reads events that are there already.
func (c *caller) poll(epfd int, events []syscall.EpollEvent) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	c.waited(int(n))
	return int(n), errno
}

// waited counts one look for events that brought n.
func (c *caller) waited(n int) {
	c.calls.waits++
	if n <= 0 {
		c.calls.empty++
	}
}

// maxHold bounds how long a thread waits while it holds one of Go's
// processors (see caller).
const maxHold = 10_000_000 // ns

// caller makes system calls that wait.
//
// While it is the only loop it keeps Go's processor meanwhile: Go's monitor thread otherwise
// takes it away after 20 µs and then looks every 20 µs for a while, which at
// thousands of short waits per second costs more than the load itself
// (measured: 5,000 requests/s at 18 µs each, 9 µs with hold). That is right
// only while other processors are left for the rest of the program, which
// withSpare sees to. Go interrupts the wait with a signal when it needs the
// thread.
type caller struct {
	hold  bool // one of Go's processors at least is left for everything else
	calls calls
}

// loops counts the event loops of this program that are at work.
var loops atomic.Int32

// look whether processors may be held while waiting.
func (c *caller) look() bool {
	c.hold = loops.Load() == 1 && runtime.GOMAXPROCS(0) > 1
	return c.hold
}

// withSpare makes Go have two processors where it has one, as on a machine or in
// a container with one, so that a lone loop may hold one of them. They are Go's
// idea only: what runs at once is still the kernel's choice. It returns what
// takes the change back.
func withSpare() (back func()) {
	if runtime.GOMAXPROCS(0) > 1 {
		return func() {}
	}
	runtime.GOMAXPROCS(2)
	spared.Store(true)
	return func() {
		runtime.SetDefaultGOMAXPROCS()
		spared.Store(false)
	}
}

// spared: one of Go's two processors is withSpare's.
var spared atomic.Bool

func (c *caller) call(trap, a1, a2, a3, a4 uintptr) (uintptr, syscall.Errno) {
	if c.hold {
		n, _, errno := syscall.RawSyscall6(trap, a1, a2, a3, a4, 0, 0)
		return n, errno
	}
	n, _, errno := syscall.Syscall6(trap, a1, a2, a3, a4, 0, 0)
	return n, errno
}

// await waits for events, at most ns nanoseconds; ns < 0: without end. It may
// return early with none.
func (c *caller) await(epfd int, events []syscall.EpollEvent, ns int64) (int, syscall.Errno) {
	if c.hold && (ns < 0 || ns > maxHold) {
		ns = maxHold
	}
	var limit *syscall.Timespec
	if ns >= 0 {
		t := syscall.NsecToTimespec(ns)
		limit = &t
	}
	n, errno := c.call(sysPwait2, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(limit)))
	if errno == syscall.ENOSYS {
		ms := -1
		if ns >= 0 {
			ms = int((ns + 999_999) / 1_000_000)
		}
		n, errno = c.call(syscall.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(ms))
	}
	c.waited(int(n))
	return int(n), errno
}

// rest sleeps; a signal may end it early.
func (c *caller) rest(ns int64) {
	c.calls.rests++
	t := syscall.NsecToTimespec(min(ns, maxHold))
	_, _ = c.call(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
}

// stamped receives like receive, with the kernel's own time of the last bytes'
// arrival (SO_TIMESTAMPNS, socket(7); tcp_recvmsg gives that of the last
// segment read). So an answer may be read later than it came without being
// counted as slower.
type stamped struct {
	header  syscall.Msghdr
	part    syscall.Iovec
	control [64]byte
}

// soTimestampNS is the same on every architecture that Go runs Linux on but
// MIPS and SPARC, where it is refused and the clock is read instead.
const soTimestampNS = 35

func stampTimes(fd int) error {
	return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, soTimestampNS, 1)
}

// receive returns how much came and when, in nanoseconds of the real-time
// clock; 0: not known.
func (s *stamped) receive(c *caller, fd int, b []byte) (n int, at int64, errno syscall.Errno) {
	c.calls.receives++
	s.part.Base = unsafe.SliceData(b)
	s.part.SetLen(len(b))
	s.header = syscall.Msghdr{Iov: &s.part, Iovlen: 1, Control: &s.control[0]}
	s.header.SetControllen(len(s.control))
	got, _, errno := syscall.RawSyscall6(syscall.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&s.header)), syscall.MSG_DONTWAIT, 0, 0, 0)
	if errno != 0 {
		return 0, 0, errno
	}
	m := (*syscall.Cmsghdr)(unsafe.Pointer(&s.control[0]))
	if int(s.header.Controllen) >= syscall.SizeofCmsghdr+int(unsafe.Sizeof(syscall.Timespec{})) && m.Level == syscall.SOL_SOCKET && m.Type == soTimestampNS {
		t := (*syscall.Timespec)(unsafe.Pointer(&s.control[syscall.SizeofCmsghdr]))
		at = t.Nano()
	}
	return int(got), at, 0
}

// setTimerSlack says how much later than asked this thread may be woken, in
// nanoseconds. It is a wish: what the kernel does not grant costs accuracy only.
func setTimerSlack(ns int64) {
	const prSetTimerSlack = 29
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, uintptr(ns), 0)
}
