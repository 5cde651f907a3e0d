package evidence

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// netCounters are the bytes that a server counts itself, whatever kind of socket
// they went through: what it received, and what it sent (MariaDB manual, "Server
// Status Variables"; memcached, doc/protocol.txt; Redis, INFO stats;
// varnish-counters(7)).
var netCounters = map[stack.Kind][2][]string{
	stack.MariaDB:   {{"Bytes_received"}, {"Bytes_sent"}},
	stack.MySQL:     {{"Bytes_received"}, {"Bytes_sent"}},
	stack.Memcached: {{"bytes_read"}, {"bytes_written"}},
	stack.Redis:     {{"total_net_input_bytes"}, {"total_net_output_bytes"}},
	stack.Varnish:   {{"MAIN.s_req_hdrbytes", "MAIN.s_req_bodybytes"}, {"MAIN.s_resp_hdrbytes", "MAIN.s_resp_bodybytes"}},
}

// serviceNet tells what each service moved over networks: by its own counters,
// or by the interfaces of a network namespace of its own. Another's share of its
// host's interfaces is not known.
type serviceNet struct {
	st           *stack.Stack
	own          []*ownNetwork
	shared       []string
	began, ended time.Time
}

// ownNetwork is a service in a network namespace of its own (a container).
type ownNetwork struct {
	h          host.Host
	service    string
	pid        int
	begin, end map[string]netDevice
}

// findServiceNet looks which services have a network namespace of their own.
func findServiceNet(ctx context.Context, s setting) ([]source, []Health) {
	x := &serviceNet{st: s.st}
	for i := range s.st.Services {
		svc := &s.st.Services[i]
		pids := s.roots[svc.HostName()][svc.Name]
		if len(pids) == 0 {
			continue
		}
		if _, counts := netCounters[svc.Kind]; counts {
			continue
		}
		h := s.hosts[svc.HostName()]
		its, err := h.Stat(ctx, fmt.Sprintf("/proc/%d/ns/net", pids[0]))
		ours, err2 := h.Stat(ctx, "/proc/self/ns/net")
		if err != nil || err2 != nil || its.Target == "" || its.Target == ours.Target {
			x.shared = append(x.shared, svc.Name)
			continue
		}
		x.own = append(x.own, &ownNetwork{h: h, service: svc.Name, pid: pids[0]})
	}
	return []source{x}, nil
}

func (n *ownNetwork) read(ctx context.Context) map[string]netDevice {
	data, err := n.h.ReadFile(ctx, fmt.Sprintf("/proc/%d/net/dev", n.pid))
	if err != nil {
		return nil // it ended; said with its processes
	}
	return parseNetDev(data)
}

func (x *serviceNet) start(ctx context.Context) {
	x.began = time.Now()
	for _, n := range x.own {
		n.begin = n.read(ctx)
	}
}

func (x *serviceNet) end(ctx context.Context) {
	x.ended = time.Now()
	for _, n := range x.own {
		n.end = n.read(ctx)
	}
}

func (x *serviceNet) close() {}

func (x *serviceNet) tell(_ context.Context, ev *Evidence) {
	seconds := x.ended.Sub(x.began).Seconds()
	if seconds <= 0 {
		return
	}
	var told []string
	tell := func(service string, received, sent float64) {
		use := ev.Services[service]
		use.NetReceived, use.NetSent = received, sent
		ev.Services[service] = use
		told = append(told, service)
	}
	for i := range x.st.Services {
		svc := &x.st.Services[i]
		names, counts := netCounters[svc.Kind]
		delta := ev.Counters[svc.Name].Delta
		if !counts || len(delta) == 0 {
			continue
		}
		received, in := sumCounters(delta, names[0])
		sent, out := sumCounters(delta, names[1])
		if in && out {
			tell(svc.Name, received/seconds, sent/seconds)
		}
	}
	for _, n := range x.own {
		var received, sent float64
		for _, d := range networkUses(n.begin, n.end, seconds) {
			if d.Name != "lo" {
				received, sent = received+d.ReceiveBytes, sent+d.SendBytes
			}
		}
		if n.begin != nil && n.end != nil {
			tell(n.service, received, sent)
		}
	}
	h := Health{Source: "networks by service", OK: true, Text: "of " + strings.Join(told, ", ")}
	if len(told) == 0 {
		h.Text = "of none"
	}
	if len(x.shared) > 0 {
		slices.Sort(x.shared)
		h.Text += "; not judged: " + strings.Join(x.shared, ", ") + ", which count no bytes and share their host's interfaces"
	}
	ev.Health = append(ev.Health, h)
}

// sumCounters adds up counters; false if one is not there.
func sumCounters(delta map[string]float64, names []string) (sum float64, all bool) {
	for _, name := range names {
		n, ok := delta[name]
		if !ok {
			if n, ok = delta[strings.ToUpper(name)]; !ok { // MySQL's information_schema
				return 0, false
			}
		}
		sum += n
	}
	return sum, true
}
