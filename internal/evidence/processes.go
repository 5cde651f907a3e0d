package evidence

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"

	"kasoku/internal/host"
)

// processTable is a host's processes at one moment, by PID.
type processTable map[int]procPID

// readProcesses reads /proc/*/stat. Processes that end meanwhile are left out.
func readProcesses(ctx context.Context, h host.Host) (processTable, error) {
	entries, err := h.List(ctx, "/proc")
	if err != nil {
		return nil, fmt.Errorf("read the process table of %s: %w", h.Name(), err)
	}
	t := make(processTable, len(entries))
	for _, e := range entries {
		if _, err := strconv.Atoi(path.Base(e.Path)); err != nil {
			continue
		}
		data, err := h.ReadFile(ctx, "/proc/"+path.Base(e.Path)+"/stat")
		if err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("read the process table of %s: %w", h.Name(), ctx.Err())
			}
			continue
		}
		if p, err := parsePIDStat(data); err == nil {
			t[p.PID] = p
		}
	}
	return t, nil
}

// adopt gives processes that init is the parent of to the service whose unit they
// belong to: those whose own parent has ended, as with what goes into the background
// twice. units names the service of each unit.
func (t processTable) adopt(ctx context.Context, h host.Host, units map[string]string) {
	if len(units) == 0 {
		return
	}
	var pids []int
	var files []string
	for pid, p := range t {
		if p.Parent == 1 {
			pids = append(pids, pid)
			files = append(files, fmt.Sprintf("/proc/%d/cgroup", pid))
		}
	}
	if remote(h) {
		h = host.Gather(ctx, h, files...)
	}
	for i, pid := range pids {
		data, err := h.ReadFile(ctx, files[i])
		if err != nil {
			continue // it has ended
		}
		p := t[pid]
		p.Service = units[unitOf(data)]
		t[pid] = p
	}
}

// owners gives every descendant of a root, or of what was adopted, to the service of
// its nearest one.
func (t processTable) owners(roots map[string][]int) map[int]string {
	of := map[int]string{}
	for service, pids := range roots {
		for _, pid := range pids {
			if _, ok := t[pid]; ok {
				of[pid] = service
			}
		}
	}
	var owner func(pid, depth int) string
	owner = func(pid, depth int) string {
		if s, known := of[pid]; known {
			return s
		}
		p, ok := t[pid]
		if !ok || p.Parent == pid || depth > 64 {
			return ""
		}
		if p.Service != "" {
			of[pid] = p.Service
			return p.Service
		}
		s := owner(p.Parent, depth+1)
		of[pid] = s
		return s
	}
	for pid := range t {
		owner(pid, 0)
	}
	for pid, s := range of {
		if s == "" {
			delete(of, pid)
		}
	}
	return of
}

// serviceTicks is CPU time used by each service between two readings:
//
//	Σ over processes alive at the end: Ticks − Ticks at the begin (0 if new)
//	+ Σ over the same: Reaped − Reaped at the begin
//	− Σ over processes that ended: what they had used at the begin
//
// The second line brings in workers that ended in the window, with their whole
// life; the third takes off the part before the window.
//
// pick chooses which time of a process is counted: all of it, or its user part.
func serviceTicks(begin, end processTable, ownBegin, ownEnd map[int]string, pick func(procPID) (ticks, reaped int64)) map[string]int64 {
	alive, reaped, ended := map[string]int64{}, map[string]int64{}, map[string]int64{}
	for pid, service := range ownEnd {
		now := end[pid]
		was, same := begin[pid]
		if !same || was.Started != now.Started {
			was = procPID{}
		}
		ticks, children := pick(now)
		ticksWas, childrenWas := pick(was)
		alive[service] += max(ticks-ticksWas, 0)
		reaped[service] += max(children-childrenWas, 0)
	}
	for pid, service := range ownBegin {
		if now, ok := end[pid]; !ok || now.Started != begin[pid].Started {
			ticks, children := pick(begin[pid])
			ended[service] += ticks + children
		}
	}
	out := map[string]int64{}
	for service, ticks := range alive {
		// A parent that ignores SIGCHLD reaps nothing; then nothing is taken off.
		out[service] = ticks + max(reaped[service]-ended[service], 0)
	}
	return out
}

// programTicks is CPU time of programs that a service's processes started and waited for.
// Children that stay for long are workers and no such programs, so what a process with a
// child of its own name waited for is left out.
func programTicks(begin, end processTable, own map[int]string, service string) (ticks int64) {
	master := map[int]bool{}
	for _, t := range []processTable{begin, end} {
		for _, p := range t {
			if parent, ok := t[p.Parent]; ok && parent.Name == p.Name {
				master[p.Parent] = true
			}
		}
	}
	for pid, of := range own {
		was, same := begin[pid]
		if now := end[pid]; of == service && same && was.Started == now.Started && !master[pid] {
			ticks += max(now.Reaped-was.Reaped, 0)
		}
	}
	return ticks
}

func allTicks(p procPID) (ticks, reaped int64)  { return p.Ticks, p.Reaped }
func userTicks(p procPID) (ticks, reaped int64) { return p.User, p.ReapedUser }

// topProcesses bounds the lists of processes: those after the fifth rarely add
// anything to what the first tell.
const topProcesses = 5

// top lists the processes that used most CPU between two readings and were
// alive at the end, of those that keep lets through.
func top(begin, end processTable, keep func(pid int) bool) []ProcessUse {
	var out []ProcessUse
	for pid, now := range end {
		was := begin[pid]
		if was.Started != now.Started {
			was = procPID{}
		}
		if ticks := now.Ticks - was.Ticks; ticks > 0 && keep(pid) {
			out = append(out, ProcessUse{PID: pid, Name: now.Name, CPU: float64(ticks) / ticksPerSecond})
		}
	}
	slices.SortFunc(out, func(a, b ProcessUse) int { return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(a.PID, b.PID)) })
	return out[:min(len(out), topProcesses)]
}

// generatorOwner stands for Kasoku itself among the owners of processes; no
// service can have that name.
const generatorOwner = "\x00"

// others are the processes that belong neither to a service nor to Kasoku and
// what it started.
func others(begin, end processTable, roots map[string][]int, generator int) []ProcessUse {
	all := map[string][]int{}
	if generator > 0 {
		all[generatorOwner] = []int{generator}
	}
	owned := end.owners(withRoots(all, still(roots, begin, end)))
	return top(begin, end, func(pid int) bool { return owned[pid] == "" })
}

func withRoots(a, b map[string][]int) map[string][]int {
	for name, pids := range b {
		a[name] = pids
	}
	return a
}
