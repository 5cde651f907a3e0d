package diagnose

import (
	"fmt"
	"time"

	"kasoku/internal/evidence"
)

const (
	// BusyPoll is how long a reader may spin on a network device before it
	// sleeps, µs: what the kernel's document recommends for several sockets
	// (admin-guide/sysctl/net.rst, busy_poll, busy_read).
	BusyPoll = 50
	// idleForPolling: spinning takes CPU that nobody else may want.
	idleForPolling = 0.5
	// roundTrips a request waits for, of two packets each, before their
	// interrupts are worth a word; one statement's are lost in noise.
	roundTrips = 4
)

// judgeBusyPoll: nothing is full, CPU is idle, and requests wait for many
// answers of other hosts, each of which begins with an interrupt and a wake-up.
func judgeBusyPoll(m *model) ([]Finding, string) {
	if len(m.machines) < 2 {
		return nil, "" // nothing comes of it on loopback
	}
	if name, _ := m.binds(); name != "nothing" {
		return nil, ""
	}
	var out []Finding
	for _, k := range m.machines {
		poll, ok := m.settingNumber(k.name, "net.core.busy_poll")
		read, ok2 := m.settingNumber(k.name, "net.core.busy_read")
		asks := m.asksOtherHosts(k.name)
		device := busiestDevice(k.sys)
		packets := device.ReceivePackets / m.x
		if !ok || !ok2 || poll > 0 || read > 0 || asks == "" || k.busy >= idleForPolling || packets < 2*roundTrips {
			continue
		}
		f := about("", "Answers of other hosts wait for an interrupt each"+m.on(k),
			fmt.Sprintf("Nothing is full and CPU is %s busy; %s receives %.0f packets per request, and %s waits for what another host answers. With net.core.busy_read a reader looks at the device for up to %d µs before it sleeps: CPU, which is idle, for latency.",
				percent(k.busy), device.Name, packets, asks, BusyPoll), "/proc/net/dev", "net.core.busy_poll").
			asks(Setting{Name: "net.core.busy_read", Now: "0", To: fmt.Sprint(BusyPoll), Up: 1})
		f.Subject = onHost(k.sys)
		// A wake-up that is spared is no longer than the spinning that spares it.
		out = append(out, f.bounded(m.boundDelay(packets*(BusyPoll*time.Microsecond).Seconds())))
	}
	return out, m.kernelUnread()
}

// asksOtherHosts is a service of a host that calls one of another; "" if none does.
func (m *model) asksOtherHosts(host string) string {
	for i := range m.in.Stack.Services {
		svc := &m.in.Stack.Services[i]
		if svc.HostName() != host {
			continue
		}
		for _, name := range svc.TalksTo {
			if to := m.in.Stack.Service(name); to != nil && to.HostName() != host {
				return svc.Name
			}
		}
	}
	return ""
}

// busiestDevice is the interface that receives the most packets; loopback has no
// queue that one could look at.
func busiestDevice(s *evidence.System) evidence.NetworkUse {
	var out evidence.NetworkUse
	for _, n := range s.Networks {
		if n.Name != "lo" && n.ReceivePackets > out.ReceivePackets {
			out = n
		}
	}
	return out
}
