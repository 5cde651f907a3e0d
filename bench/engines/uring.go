package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Numbers and layouts of include/uapi/linux/io_uring.h. The system call
// numbers are the same on all architectures that Go's Linux ports share.
const (
	sysSetup = 425
	sysEnter = 426

	setupCoop   = 1 << 8  // IORING_SETUP_COOP_TASKRUN
	setupSingle = 1 << 12 // IORING_SETUP_SINGLE_ISSUER: only this thread submits
	setupDefer  = 1 << 13 // IORING_SETUP_DEFER_TASKRUN: work is done when we wait

	featSingleMmap = 1 << 0  // IORING_FEAT_SINGLE_MMAP
	featExtArg     = 1 << 8  // IORING_FEAT_EXT_ARG: a wait with a time limit
	featSkip       = 1 << 11 // IORING_FEAT_CQE_SKIP

	opSend, opRecv = 26, 27
	linked         = 1 << 2 // IOSQE_IO_LINK: the next one starts when this is done
	silent         = 1 << 6 // IOSQE_CQE_SKIP_SUCCESS: no completion unless it fails

	enterGetEvents = 1 << 0
	enterExtArg    = 1 << 3

	offsetEntries = 0x10000000 // IORING_OFF_SQES
)

type setupParams struct {
	sqEntries, cqEntries, flags, cpu, idle, features, wq uint32
	_                                                    [3]uint32
	sq                                                   struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

type submission struct {
	op, flags      uint8
	_              uint16
	fd             int32
	_, addr        uint64
	length, opFlag uint32
	user           uint64 // the connection's place, times two, plus one for a receive
	_              [3]uint64
}

type completion struct {
	user  uint64
	res   int32
	flags uint32
}

type waitArgument struct {
	mask           uint64
	maskSize, _pad uint32
	limit          uint64 // address of a timespec
}

// batchWait is how long a ring waits for its batch to be full.
const batchWait = 100 * time.Microsecond

// ring returns a variant that waits for batch completions at a time.
func ring(batch int) func(job) (int64, error) {
	return func(j job) (int64, error) {
		runtime.LockOSThread() // IORING_SETUP_SINGLE_ISSUER
		defer runtime.UnlockOSThread()
		r, err := newRing(2 * j.conns)
		if err != nil {
			return 0, err
		}
		defer r.close()
		fds, err := dialAll(j.address, j.conns)
		if err != nil {
			return 0, err
		}
		defer closeAll(fds)
		return r.converse(fds, j, min(batch, j.conns))
	}
}

// uring is a submission and a completion queue shared with the kernel.
type uring struct {
	fd            int
	memory, table []byte

	sqTail *uint32
	sqMask uint32
	sqes   []submission
	tail   uint32           // ours; sqTail follows in enter
	fresh  uint32           // entries since the last enter
	limit  syscall.Timespec // of a wait; here because a stack may move

	cqHead, cqTail *uint32
	cqMask         uint32
	cqes           []completion
}

func newRing(entries int) (*uring, error) {
	p := setupParams{flags: setupCoop | setupSingle | setupDefer}
	fd, _, e := syscall.Syscall(sysSetup, uintptr(entries), uintptr(unsafe.Pointer(&p)), 0)
	switch e {
	case 0:
	case syscall.EPERM, syscall.EACCES, syscall.ENOSYS:
		return nil, fmt.Errorf("%w: io_uring_setup: %w", errRefused, e)
	case syscall.EINVAL:
		return nil, fmt.Errorf("%w: io_uring_setup: this kernel is older than 6.1", errRefused)
	default:
		return nil, fmt.Errorf("io_uring_setup: %w", e)
	}
	r := &uring{fd: int(fd)}
	if need := uint32(featSingleMmap | featExtArg | featSkip); p.features&need != need {
		r.close()
		return nil, fmt.Errorf("%w: this kernel's io_uring lacks what is needed", errRefused)
	}
	if err := r.mapQueues(&p); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *uring) mapQueues(p *setupParams) error {
	const shared = syscall.MAP_SHARED | syscall.MAP_POPULATE
	size := max(p.sq.array+p.sqEntries*4, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(completion{})))
	var err error
	if r.memory, err = syscall.Mmap(r.fd, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, shared); err != nil {
		return fmt.Errorf("map io_uring's queues: %w", err)
	}
	if r.table, err = syscall.Mmap(r.fd, offsetEntries, int(p.sqEntries)*int(unsafe.Sizeof(submission{})), syscall.PROT_READ|syscall.PROT_WRITE, shared); err != nil {
		return fmt.Errorf("map io_uring's entries: %w", err)
	}
	word := func(at uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.memory[at])) }
	r.sqTail, r.sqMask = word(p.sq.tail), *word(p.sq.mask)
	r.cqHead, r.cqTail, r.cqMask = word(p.cq.head), word(p.cq.tail), *word(p.cq.mask)
	r.sqes = unsafe.Slice((*submission)(unsafe.Pointer(&r.table[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*completion)(unsafe.Pointer(&r.memory[p.cq.cqes])), p.cqEntries)
	for i, order := 0, unsafe.Slice(word(p.sq.array), p.sqEntries); i < len(order); i++ {
		order[i] = uint32(i) // entries are used in turn
	}
	r.tail = *r.sqTail
	return nil
}

// close releases the ring; the process ends soon after.
func (r *uring) close() {
	for _, m := range [][]byte{r.memory, r.table} {
		if m != nil {
			_ = syscall.Munmap(m)
		}
	}
	_ = syscall.Close(r.fd)
}

// push adds one operation on b, which must stay reachable until it is done.
func (r *uring) push(op, flags uint8, fd int, user uint64, b []byte) {
	s := &r.sqes[r.tail&r.sqMask]
	*s = submission{op: op, flags: flags, fd: int32(fd), addr: uint64(uintptr(unsafe.Pointer(&b[0]))), length: uint32(len(b)), user: user}
	if op == opSend {
		s.opFlag = syscall.MSG_NOSIGNAL
	}
	r.tail++
	r.fresh++
}

// enter submits what was pushed and waits for batch completions, or for limit.
func (r *uring) enter(batch int, limit time.Duration) error {
	atomic.StoreUint32(r.sqTail, r.tail)
	r.limit = syscall.NsecToTimespec(int64(limit))
	a := waitArgument{limit: uint64(uintptr(unsafe.Pointer(&r.limit)))}
	n, _, e := syscall.Syscall6(sysEnter, uintptr(r.fd), uintptr(r.fresh), uintptr(batch), enterGetEvents|enterExtArg,
		uintptr(unsafe.Pointer(&a)), unsafe.Sizeof(a))
	switch e {
	case 0:
		r.fresh -= uint32(n)
	case syscall.ETIME, syscall.EINTR: // there was nothing to submit, else n would say how many
	default:
		return fmt.Errorf("io_uring_enter: %w", e)
	}
	return nil
}

// converse keeps a request under way on every socket until the time is over.
func (r *uring) converse(fds []int, j job, batch int) (int64, error) {
	ask := request(j.address)
	bufs, got := make([][]byte, len(fds)), make([]int, len(fds))
	send := func(i int) {
		r.push(opSend, linked|silent, fds[i], uint64(i)<<1, ask)
		r.push(opRecv, 0, fds[i], uint64(i)<<1|1, bufs[i])
	}
	for i := range fds {
		bufs[i] = make([]byte, bufferSize)
		send(i)
	}
	limit := batchWait
	if batch == 1 {
		limit = epollWait * time.Millisecond // only to look at the clock
	}
	var total int64
	for time.Now().Before(j.until) {
		if err := r.enter(batch, limit); err != nil {
			return total, err
		}
		head, tail := *r.cqHead, atomic.LoadUint32(r.cqTail)
		for ; head != tail; head++ {
			c := r.cqes[head&r.cqMask]
			i := int(c.user >> 1)
			switch {
			case c.res < 0:
				return total, fmt.Errorf("send or receive: %w", syscall.Errno(-c.res))
			case c.user&1 == 0:
				return total, errors.New("send: the request went out only in part")
			case c.res == 0:
				return total, fmt.Errorf("receive: %w", io.ErrUnexpectedEOF)
			}
			got[i] += int(c.res)
			done, err := complete(bufs[i][:got[i]])
			switch {
			case err != nil:
				return total, err
			case done:
				total++
				got[i] = 0
				send(i)
			default:
				r.push(opRecv, 0, fds[i], c.user, bufs[i][got[i]:])
			}
		}
		atomic.StoreUint32(r.cqHead, head)
	}
	runtime.KeepAlive(ask)
	runtime.KeepAlive(bufs)
	return total, nil
}
