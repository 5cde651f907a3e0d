package evidence

import (
	"context"
	"fmt"
	"path"
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

// owners gives every descendant of a root to the service of its nearest root.
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
func serviceTicks(begin, end processTable, ownBegin, ownEnd map[int]string) map[string]int64 {
	alive, reaped, ended := map[string]int64{}, map[string]int64{}, map[string]int64{}
	for pid, service := range ownEnd {
		now := end[pid]
		was, same := begin[pid]
		if !same || was.Started != now.Started {
			was = procPID{}
		}
		alive[service] += max(now.Ticks-was.Ticks, 0)
		reaped[service] += max(now.Reaped-was.Reaped, 0)
	}
	for pid, service := range ownBegin {
		if now, ok := end[pid]; !ok || now.Started != begin[pid].Started {
			ended[service] += begin[pid].Ticks + begin[pid].Reaped
		}
	}
	out := map[string]int64{}
	for service, ticks := range alive {
		// A parent that ignores SIGCHLD reaps nothing; then nothing is taken off.
		out[service] = ticks + max(reaped[service]-ended[service], 0)
	}
	return out
}
