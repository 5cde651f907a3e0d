package evidence

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// queueEvery: an accept queue that is too short is full most of the time, so a
// look a second finds it; each starts ss, 4 ms of CPU (BenchmarkQueues).
const queueEvery = time.Second

// socketSource reads the host's sockets: accept queues during the window,
// states and ports at its end. They are of Kasoku's own network namespace.
type socketSource struct {
	h         host.Host
	endpoints map[string][]string // of services, by name
	apart     []string            // services in other network namespaces

	mu     sync.Mutex
	queues queues
	looks  int
	ssErr  error

	table      *tcpTable
	low, high  uint16
	tableErr   error
	cancel     context.CancelFunc
	done       chan struct{}
	started    bool
	ended      bool
	everyQueue time.Duration
}

// findSockets returns the source for the host that System is about.
func findSockets(ctx context.Context, s setting) ([]source, []Health) {
	name := frontOf(s.roots)
	h := s.hosts[name]
	if h == nil {
		return nil, nil
	}
	src := &socketSource{h: h, endpoints: map[string][]string{}, queues: queues{}, everyQueue: queueEvery}
	own, _ := h.Stat(ctx, "/proc/self/ns/net")
	for i := range s.st.Services {
		svc := &s.st.Services[i]
		if svc.HostName() != name || svc.RunsIn != "" {
			continue
		}
		if pids := s.roots[name][svc.Name]; len(pids) > 0 {
			info, err := h.Stat(ctx, fmt.Sprintf("/proc/%d/ns/net", pids[0]))
			if err == nil && own.Target != "" && info.Target != own.Target {
				src.apart = append(src.apart, svc.Name)
				continue
			}
		}
		src.endpoints[svc.Name] = stack.Endpoints(ctx, h, svc)
	}
	return []source{src}, nil
}

// start begins to look at the accept queues.
func (s *socketSource) start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.done, s.started = make(chan struct{}), true
	go func() {
		defer close(s.done)
		tick := time.NewTicker(s.everyQueue)
		defer tick.Stop()
		for s.look(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
}

// look asks ss once; false: it cannot be asked.
func (s *socketSource) look(ctx context.Context) bool {
	res, err := s.h.Run(ctx, host.Command{Argv: []string{"ss", "-Hltxn"}, Timeout: 5 * time.Second})
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return false
	case err == nil && res.ExitCode != 0:
		err = fmt.Errorf("ss -Hltxn: %s", shorten(string(res.Stderr), 200))
	}
	if err != nil {
		s.ssErr = err
		return false
	}
	s.queues.see(parseSS(res.Stdout))
	s.looks++
	return true
}

func (s *socketSource) stop() {
	if s.started && !s.ended {
		s.ended = true
		s.cancel()
		<-s.done
	}
}

// end reads the table of sockets. With 28,000 sockets in TIME-WAIT that takes
// 40 ms (BenchmarkTCPTable), and the window is over.
func (s *socketSource) end(ctx context.Context) {
	s.stop()
	s.table = newTCPTable()
	var last error
	read := 0
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := s.h.ReadFile(ctx, name)
		if err != nil {
			last = err // no IPv6 in this kernel
			continue
		}
		read++
		parseTCP(data, s.table.add)
	}
	if read == 0 {
		s.tableErr = last
		return
	}
	data, err := s.h.ReadFile(ctx, "/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		s.low, s.high, err = parsePortRange(data)
	}
	s.tableErr = err
}

// service finds whose an address is.
func (s *socketSource) service(listen string) string {
	endpoint := strings.Replace(listen, "*:", "0.0.0.0:", 1)
	for _, name := range sortedKeys(s.endpoints) {
		for _, e := range s.endpoints[name] {
			if stack.SameEndpoint(endpoint, e) {
				return name
			}
		}
	}
	return ""
}

func (s *socketSource) tell(_ context.Context, ev *Evidence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tcp := &ev.System.TCP
	if s.table != nil {
		tcp.States = s.table.states
	}
	if s.high > 0 {
		tcp.PortRange = int(s.high) - int(s.low) + 1
		tcp.PortsUsed, tcp.PortsTo = s.table.busiest(s.low, s.high)
	}
	tcp.Queues = s.queues.list(s.service)
	h := Health{Source: "sockets of " + s.h.Name(), OK: true}
	total := 0
	for _, n := range tcp.States {
		total += n
	}
	h.Text = fmt.Sprintf("%d TCP sockets at the end, accept queues seen %d times", total, s.looks)
	if s.tableErr != nil {
		h.Text += "; not judged: states and ports: " + s.tableErr.Error()
	}
	if s.ssErr != nil {
		h.Text += "; not judged: accept queues: " + s.ssErr.Error() + "; is ss (package iproute2) installed?"
	}
	if len(s.apart) > 0 {
		h.Text += "; not judged: " + strings.Join(s.apart, ", ") + " in a network namespace of its own"
	}
	ev.Health = append(ev.Health, h)
}

func (s *socketSource) close() { s.stop() }

// frontOf is the host that System is about: this machine, else the first.
func frontOf(roots map[string]map[string][]int) string {
	if _, ok := roots[stack.LocalHost]; ok {
		return stack.LocalHost
	}
	for _, name := range sortedKeys(roots) {
		return name
	}
	return ""
}
