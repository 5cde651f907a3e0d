package evidence

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// How often accept queues are looked at. On this machine a look costs 0.3 ms
// of CPU; elsewhere it starts ss, which takes 5 ms (BenchmarkQueues). Either
// finds a queue that is full most of the time, as one that is too short is.
const (
	queueEvery       = 500 * time.Millisecond
	queueEveryRemote = time.Second
)

// socketSource reads the host's sockets: accept queues during the window,
// states and ports at its end. They are of Kasoku's own network namespace.
type socketSource struct {
	h         host.Host
	name      string              // of the host
	endpoints map[string][]string // of services, by name
	apart     []string            // services in other network namespaces

	mu     sync.Mutex
	queues queues
	looks  int
	// queueErr ended the looks.
	queueErr error

	table      *tcpTable
	low, high  uint16
	tableErr   error
	cancel     context.CancelFunc
	done       chan struct{}
	started    bool
	ended      bool
	everyQueue time.Duration
}

// findSockets returns a source for every host.
func findSockets(ctx context.Context, s setting) (out []source, _ []Health) {
	for _, name := range sortedKeys(s.roots) {
		if h := s.hosts[name]; h != nil {
			out = append(out, socketsOf(ctx, s, name, h))
		}
	}
	return out, nil
}

func socketsOf(ctx context.Context, s setting, name string, h host.Host) *socketSource {
	src := &socketSource{h: h, name: name, endpoints: map[string][]string{}, queues: queues{}, everyQueue: queueEvery}
	if _, is := h.(*host.Local); !is {
		src.everyQueue = queueEveryRemote
	}
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
	return src
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

// look reads the accept queues once; false: they cannot be read.
func (s *socketSource) look(ctx context.Context) bool {
	seen, err := s.listening(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			s.queueErr = err
		}
		return false
	}
	s.queues.see(seen)
	s.looks++
	return true
}

// listening asks the kernel of this machine itself, another's through ss.
func (s *socketSource) listening(ctx context.Context) ([]listening, error) {
	if local, is := s.h.(*host.Local); is {
		return listeningHere(local)
	}
	res, err := s.h.Run(ctx, host.Command{Argv: []string{"ss", "-Hltxn"}, Timeout: 5 * time.Second})
	if err != nil {
		return nil, fmt.Errorf("%w; is ss (package iproute2) installed?", err)
	}
	if res.ExitCode != 0 {
		return nil, fmt.Errorf("ss -Hltxn: %s", shorten(string(res.Stderr), 200))
	}
	return parseSS(res.Stdout), nil
}

// listeningHere is what `ss -Hltxn` tells, in a fiftieth of the time, because no
// program has to be started.
func listeningHere(h *host.Local) ([]listening, error) {
	tcp, err := h.TCPSockets(1 << host.TCPListen)
	if err != nil {
		return nil, err
	}
	var out []listening
	for _, s := range tcp {
		out = append(out, listening{s.Local.String(), s.Queue, s.Limit})
	}
	for _, s := range h.UnixListeners() {
		out = append(out, listening{s.Listen, s.Queue, s.Limit})
	}
	return out, nil
}

func (s *socketSource) stop() {
	if s.started && !s.ended {
		s.ended = true
		s.cancel()
		<-s.done
	}
}

// end reads the table of sockets, when the window is over: parsing 28,000 in
// TIME-WAIT takes 20 ms (BenchmarkTCPTable).
func (s *socketSource) end(ctx context.Context) {
	s.stop()
	s.table = newTCPTable()
	if s.tableErr = s.readTable(ctx); s.tableErr != nil {
		return
	}
	data, err := s.h.ReadFile(ctx, "/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		s.low, s.high, err = parsePortRange(data)
	}
	s.tableErr = err
}

// readTable asks the kernel of this machine itself, where it can be asked.
func (s *socketSource) readTable(ctx context.Context) error {
	if local, is := s.h.(*host.Local); is {
		if found, err := local.TCPSockets(host.AllTCPStates); err == nil {
			for _, x := range found {
				s.table.add(tcpSocket{unmapped(x.Local), unmapped(x.Remote), x.State})
			}
			return nil
		}
	}
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
		return last
	}
	return nil
}

// unmapped is an address of IPv4 also where a socket of IPv6 has it.
func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

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
	sys := ev.On(s.name)
	if sys == nil {
		return // the host was not read, which is said
	}
	tcp := &sys.TCP
	if s.table != nil {
		tcp.States = s.table.states
	}
	if s.high > 0 {
		tcp.PortRange = int(s.high) - int(s.low) + 1
		tcp.PortsUsed, tcp.PortsTo = s.table.busiest(s.low, s.high)
	}
	tcp.Queues = s.queues.list(s.service)
	h := Health{Source: "sockets of " + s.name, OK: true}
	total := 0
	for _, n := range tcp.States {
		total += n
	}
	h.Text = fmt.Sprintf("%d TCP sockets at the end, accept queues seen %d times", total, s.looks)
	if s.tableErr != nil {
		h.Text += "; not judged: states and ports: " + s.tableErr.Error()
	}
	if s.queueErr != nil {
		h.Text += "; not judged: accept queues: " + s.queueErr.Error()
	}
	if len(s.apart) > 0 {
		h.Text += "; not judged: " + strings.Join(s.apart, ", ") + " in a network namespace of its own"
	}
	ev.Health = append(ev.Health, h)
}

func (s *socketSource) close() { s.stop() }
