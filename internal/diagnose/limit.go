package diagnose

import (
	"math"

	"kasoku/internal/stack"
)

// serialShare of a program's CPU in its busiest thread is the sign of one that works in
// that thread alone; what is beside it collects garbage and compiles.
const serialShare = 0.8

// limit is the factor of throughput, ≥ 1, that is left when all work of a service is
// gone: what else requests need is as full as it is. 0: nothing is known that limits.
//
//   - An application that works in one thread (Node, Python with one process) has one CPU,
//     whatever the others no longer use: X' ≤ 1/D of that thread (Denning & Buzen 1978). Its
//     own work may get cheaper meanwhile (interference).
//   - Users who pause longer than they wait come no faster: X' ≤ N/(D' + Z) (Lazowska et
//     al. 1984, ch. 5). Pauses shorter than that are not told from what the generator takes.
//   - A network of known speed.
func (m *model) limit(service string) float64 {
	spent := m.spent(service)
	if spent <= 0 {
		return 0
	}
	least := math.Inf(1)
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		if use := m.in.Evidence.Services[svc.Name]; svc.Name != service && m.serial(svc.Name) && use.Busiest > 0 {
			least = math.Min(least, m.window/(use.Busiest*(1-interference*spent)))
		}
	}
	if z := m.think(); m.timed && !m.in.Evidence.Load.UsersAssumed && z > m.latency() {
		left := m.allCPU - m.perReq[service]
		least = math.Min(least, m.n/(math.Max(left, 0)+z)/m.x)
	}
	for _, k := range m.machines {
		for _, n := range k.sys.Networks {
			if use := math.Max(n.ReceiveBytes, n.SendBytes); n.SpeedBytes > 0 && use > 0 {
				least = math.Min(least, n.SpeedBytes/use)
			}
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return math.Max(least, 1)
}

// serial reports whether a service works in one thread of one process.
func (m *model) serial(name string) bool {
	use := m.in.Evidence.Services[name]
	return use.Processes <= 1 && use.CPU > 0 && use.Busiest >= serialShare*use.CPU
}
