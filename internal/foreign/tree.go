package foreign

import (
	"bytes"
	"context"
	"path"
	"strconv"
	"sync"
	"time"

	"kasoku/internal/host"
)

// ticksPerSecond is USER_HZ, the unit of CPU times in /proc: 100 on every
// architecture that Kasoku runs on (proc(5)).
const ticksPerSecond = 100

// process is what /proc/PID/stat tells about one process (proc_pid_stat(5)).
type process struct {
	pid, parent, group int
	// ticks is its own CPU time, reaped that of descendants that ended and were
	// waited for.
	ticks, reaped int64
	started       uint64 // with pid it names one process for good
}

// tree counts the CPU time of a command and of everything it started:
//
//	used = Σ over living members of (own + reaped) + lost
//
// A member is the command, a descendant of a member, whatever is in the
// command's process group, and who was a member once: a server that the
// benchmark starts stays one when its parent has ended. lost is what members
// had used that ended without a member waiting for them; and because the sum
// of a tree's CPU time cannot fall, lost also takes up whatever it falls by.
// What such a member used after the last look is not seen, nor is one that had
// left the group and lost its parent before the first look (lookEvery).
type tree struct {
	h  host.Host
	mu sync.Mutex

	root    int
	members map[int]process // as last seen
	lost    int64           // ticks
	used    int64           // ticks, at the last look
	final   time.Duration   // exact time of the ended command and what it waited for
	ended   bool
}

func newTree(h host.Host) *tree { return &tree{h: h, members: map[int]process{}} }

// begin names the command's process.
func (t *tree) begin(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.root = pid
}

// look brings the tree up to date. One look at a machine with 100 processes
// costs about 1 ms.
func (t *tree) look(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.root != 0 && !t.ended {
		t.update(t.table(ctx))
	}
}

// end takes the command's own account of its CPU time, once it was waited for.
func (t *tree) end(ctx context.Context, cpu time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.root == 0 || t.ended {
		return
	}
	before := t.used
	delete(t.members, t.root) // it is in cpu, with those it waited for
	t.used = 0
	t.update(t.table(ctx))
	t.final, t.ended = cpu, true
	if all := cpu + ticks(t.used); all < ticks(before) {
		t.final += ticks(before) - all
	}
}

// cpu is the CPU time used so far.
func (t *tree) cpu() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.final + ticks(t.used)
}

func ticks(n int64) time.Duration { return time.Duration(n) * time.Second / ticksPerSecond }

// table reads the process table; nil if it cannot be read.
func (t *tree) table(ctx context.Context) map[int]process {
	entries, err := t.h.List(ctx, "/proc")
	if err != nil {
		return nil
	}
	out := make(map[int]process, len(entries))
	for _, e := range entries {
		name := path.Base(e.Path)
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		data, err := t.h.ReadFile(ctx, "/proc/"+name+"/stat")
		if err != nil {
			continue // ended meanwhile
		}
		if p, ok := parseStat(data); ok {
			out[p.pid] = p
		}
	}
	return out
}

// update compares the members with the table of now.
func (t *tree) update(table map[int]process) {
	if len(table) == 0 {
		return
	}
	was := t.members
	t.members = map[int]process{}
	for pid, p := range table {
		if t.member(table, was, p, 0) {
			t.members[pid] = p
		}
	}
	for pid, p := range was {
		now, alive := t.members[pid]
		if alive && now.started == p.started {
			continue
		}
		if _, waited := was[p.parent]; !waited && pid != t.root && p.parent != t.root {
			t.lost += p.ticks + p.reaped
		}
	}
	sum := t.lost
	for _, p := range t.members {
		sum += p.ticks + p.reaped
	}
	if sum < t.used {
		t.lost += t.used - sum
		sum = t.used
	}
	t.used = sum
}

// maxDepth bounds the walk towards a member, in case the table, which is not
// read at one moment, has a circle.
const maxDepth = 64

func (t *tree) member(table, was map[int]process, p process, depth int) bool {
	if old, ok := was[p.pid]; ok && old.started == p.started {
		return true
	}
	if p.pid == t.root || p.group == t.root {
		return true
	}
	parent, ok := table[p.parent]
	return ok && depth < maxDepth && t.member(table, was, parent, depth+1)
}

// parseStat reads /proc/PID/stat. The name may hold spaces and brackets, so
// the last ")" ends it.
func parseStat(data []byte) (p process, ok bool) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return p, false
	}
	f := bytes.Fields(data[end+1:])
	if len(f) < 20 {
		return p, false
	}
	ok = true
	num := func(b []byte) int64 {
		n, err := strconv.ParseInt(string(b), 10, 64)
		ok = ok && err == nil
		return n
	}
	// Field n of the manual is f[n-3].
	p = process{pid: int(num(bytes.TrimSpace(data[:open]))), parent: int(num(f[1])), group: int(num(f[2])),
		ticks: num(f[11]) + num(f[12]), reaped: num(f[13]) + num(f[14]), started: uint64(num(f[19]))}
	return p, ok
}
