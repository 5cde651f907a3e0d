package evidence

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// programSource looks at what a service starts: programs that run for some milliseconds
// are in no process table that is read at the window's ends. It reads the lists of children
// that the kernel keeps for each thread (proc_pid_task(5), children).
type programSource struct {
	h       host.Host
	service string
	roots   []int
	known   map[int]bool // that were there when the window began: workers

	mu     sync.Mutex
	seen   map[string]map[procID]int // name → process → moments
	cancel context.CancelFunc
	done   chan struct{}
}

// procID names one process for good.
type procID struct {
	pid     int
	started uint64
}

const (
	programEvery = 20 * time.Millisecond
	// LooksPerSecond are the moments of ProgramUse.Seen in a second.
	LooksPerSecond = float64(time.Second / programEvery)
	// mostTasks are the threads whose children are read at each moment: 5 µs each.
	mostTasks = 64
	// mostPrograms are told of a service.
	mostPrograms = 5
)

// findPrograms returns a source for each application on this machine; on others each look
// would be a round trip.
func findPrograms(ctx context.Context, s setting) ([]source, []Health) {
	if !s.opts.Diagnostic {
		return nil, nil
	}
	var out []source
	for _, svc := range s.st.OfKind(stack.App, stack.PHPFPM) {
		h, pids := s.hosts[svc.HostName()], s.roots[svc.HostName()][svc.Name]
		if h == nil || remote(h) || len(pids) == 0 || svc.RunsIn != "" {
			continue
		}
		out = append(out, &programSource{h: h, service: svc.Name, roots: pids, seen: map[string]map[procID]int{}})
	}
	return out, nil
}

func (p *programSource) start(ctx context.Context) {
	table, err := readProcesses(ctx, p.h)
	if err != nil {
		return
	}
	p.known = map[int]bool{}
	for pid, service := range table.owners(map[string][]int{p.service: p.roots}) {
		if service == p.service {
			p.known[pid] = true
		}
	}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.done = make(chan struct{})
	go again(ctx, programEvery, p.done, p.look)
}

// look notes the children of this moment that are none of the workers, and theirs.
func (p *programSource) look(ctx context.Context) {
	left := mostTasks
	for pid := range p.known {
		parent, err := p.process(ctx, pid)
		if err != nil {
			continue
		}
		p.children(ctx, parent, &left)
	}
}

func (p *programSource) children(ctx context.Context, parent procPID, left *int) {
	tasks, err := p.h.List(ctx, fmt.Sprintf("/proc/%d/task", parent.PID))
	if err != nil {
		return
	}
	for _, t := range tasks {
		if *left--; *left < 0 {
			return
		}
		data, err := p.h.ReadFile(ctx, t.Path+"/children")
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(data)) {
			pid, err := strconv.Atoi(word)
			if err != nil || p.known[pid] {
				continue
			}
			child, err := p.process(ctx, pid)
			if err != nil {
				continue // it has ended
			}
			if child.Name != parent.Name { // else it has not become a program yet, or is a worker
				p.note(child)
				p.children(ctx, child, left)
			}
		}
	}
}

func (p *programSource) process(ctx context.Context, pid int) (procPID, error) {
	data, err := p.h.ReadFile(ctx, fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procPID{}, err
	}
	return parsePIDStat(data)
}

func (p *programSource) note(child procPID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[child.Name] == nil {
		p.seen[child.Name] = map[procID]int{}
	}
	p.seen[child.Name][procID{child.PID, child.Started}]++
}

func (p *programSource) end(context.Context) { p.close() }

func (p *programSource) close() {
	if p.cancel != nil {
		p.cancel()
		<-p.done
		p.cancel = nil
	}
}

func (p *programSource) tell(_ context.Context, ev *Evidence) {
	use, known := ev.Services[p.service]
	if !known {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, processes := range p.seen {
		one := ProgramUse{Name: name, Processes: len(processes)}
		for _, n := range processes {
			one.Seen += n
		}
		use.Programs = append(use.Programs, one)
	}
	slices.SortFunc(use.Programs, func(a, b ProgramUse) int { return cmp.Or(cmp.Compare(b.Seen, a.Seen), cmp.Compare(a.Name, b.Name)) })
	use.Programs = use.Programs[:min(len(use.Programs), mostPrograms)]
	ev.Services[p.service] = use
}
