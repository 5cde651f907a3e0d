package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/stack"
)

// part is what one machine does for a balancer. CPU seconds are per request.
type part struct {
	k        *machine
	backends []int   // of the balancer, on this machine
	share    float64 // of the requests that it gets now, 0–1
	app      float64 // CPU of a request that it gets
	rest     float64 // its CPU for every right answer beside that
}

// use is a machine's utilization per right answer per second if it gets the
// share of the requests.
func (p part) use(share float64) float64 { return (share*p.app + p.rest) / p.k.cpus }

// parts finds what each machine does for a balancer; why says what is not known.
func (m *model) parts(b Balancer) (out []part, why string) {
	all := 0
	for _, s := range b.Backends {
		if !s.Idle {
			all += s.Weight
		}
	}
	if all == 0 {
		return nil, fmt.Sprintf("no server of upstream %s gets requests", b.Name())
	}
	counted := map[string]bool{}
	for i, s := range b.Backends {
		if s.Idle {
			continue
		}
		k := m.machineOf(s.Service)
		switch {
		case s.Host == "":
			return nil, fmt.Sprintf("server %s of upstream %s is on no host of kasoku.yaml", s.Address, b.Name())
		case s.Service == "":
			return nil, fmt.Sprintf("no service of kasoku.yaml listens at %s of upstream %s (listen)", s.Address, b.Name())
		case k == nil || m.perReq[s.Service] <= 0:
			return nil, fmt.Sprintf("the CPU of %s (upstream %s) was not read", s.Service, b.Name())
		}
		n := slices.IndexFunc(out, func(p part) bool { return p.k == k })
		if n < 0 {
			n = len(out)
			out = append(out, part{k: k, rest: k.allCPU})
		}
		p := &out[n]
		p.backends = append(p.backends, i)
		p.share += float64(s.Weight) / float64(all)
		if !counted[s.Service] {
			counted[s.Service] = true
			p.app += m.perReq[s.Service]
			p.rest -= m.perReq[s.Service]
		}
	}
	for i := range out {
		out[i].rest = max(out[i].rest, 0)
		out[i].app /= out[i].share
	}
	return out, ""
}

// worst is the utilization of the busiest of the machines, per right answer per
// second: its inverse is the most throughput that they allow.
func worst(parts []part, shares []float64) float64 {
	most := 0.0
	for i, p := range parts {
		most = math.Max(most, p.use(shares[i]))
	}
	return most
}

// level are the shares with which the busiest machine is used least. Each
// machine k has utilization u = (s·app + rest)/C per right answer, so that all
// are used alike with
//
//	u = (1 + Σ rest/app) / Σ C/app,  s = (u·C − rest)/app
//
// A machine that is used more than that without any request gets none.
func level(parts []part) []float64 {
	shares := make([]float64, len(parts))
	out := map[int]bool{} // those that get none
	for {
		rest, capacity := 1.0, 0.0
		for i, p := range parts {
			if !out[i] {
				rest, capacity = rest+p.rest/p.app, capacity+p.k.cpus/p.app
			}
		}
		u, least := rest/capacity, -1
		for i, p := range parts {
			shares[i] = 0
			if out[i] {
				continue
			}
			shares[i] = (u*p.k.cpus - p.rest) / p.app
			if shares[i] < 0 && (least < 0 || shares[i] < shares[least]) {
				least = i
			}
		}
		if least < 0 {
			return shares
		}
		out[least] = true
	}
}

const (
	// uneven: a twentieth more throughput by other weights is what an
	// experiment can show in a few pairs.
	uneven = 1.05
	// balanced: below half use of the busiest host, weights move little but
	// noise.
	balancedFrom = 0.5
)

// eachBalancer calls judge for every balancer whose machines are known.
func (m *model) eachBalancer(judge func(svc *stack.Service, b Balancer, parts []part) []Finding) ([]Finding, string) {
	unknown := ""
	out, why := m.eachNginx(func(svc *stack.Service, conf *nginx.Config) []Finding {
		var found []Finding
		for _, b := range Balancers(m.in.Stack, m.in.Snapshot, svc, conf) {
			if how := b.Bound(); how != "" {
				unknown = fmt.Sprintf("upstream %s ties clients to servers (%s): other weights would move them", b.Name(), how)
				continue
			}
			parts, no := m.parts(b)
			if no != "" {
				unknown = no
				continue
			}
			if len(parts) > 1 {
				found = append(found, judge(svc, b, parts)...)
			}
		}
		return found
	})
	return out, cmp.Or(why, unknown)
}

// judgeBalance: hosts behind a balancer are used unevenly, and the busiest
// limits all (W12, I22).
func judgeBalance(m *model) ([]Finding, string) {
	return m.eachBalancer(func(svc *stack.Service, b Balancer, parts []part) []Finding {
		now := sharesOf(parts)
		to := level(parts)
		gain := worst(parts, now) / worst(parts, to)
		if gain < uneven || m.busy < balancedFrom {
			return nil
		}
		var texts []string
		for i, p := range parts {
			texts = append(texts, fmt.Sprintf("%s gets %s of the requests and is %s busy, by equal use it would get %s", p.k.name, percent(p.share), percent(p.k.busy), percent(to[i])))
		}
		f := about(svc.Name, fmt.Sprintf("Upstream %s of %s uses its hosts unevenly", b.Name(), svc.Name), strings.Join(texts, "; ")+".", svc.Config, "CPU by service")
		return []Finding{balancerOf(f, b, parts, now).with("to", perBackend(b, parts, to)).
			atMost(gain, fmt.Sprintf("the busiest host has %s per request and CPU by these weights, %s by equal use: ×%.2f", seconds(worst(parts, now)), seconds(worst(parts, to)), gain))}
	})
}

// judgeFewer: nobody is saturated, so requests that travel to further hosts pay
// for it with latency and gain nothing (W12, W13).
func judgeFewer(m *model) ([]Finding, string) {
	return m.eachBalancer(func(svc *stack.Service, b Balancer, parts []part) []Finding {
		if m.busy >= saturatedCPU {
			return nil
		}
		// The web server's own host first, which needs no network; then those
		// with most CPU left by other work.
		order := slices.Clone(parts)
		slices.SortStableFunc(order, func(x, y part) int {
			if nx, ny := x.k.name == svc.HostName(), y.k.name == svc.HostName(); nx != ny {
				if nx {
					return -1
				}
				return 1
			}
			return cmp.Compare(x.use(0), y.use(0))
		})
		least := len(order)
		for n := len(order) - 1; n >= 1; n-- {
			if worst(order[:n], level(order[:n]))*m.x >= saturatedCPU {
				break
			}
			least = n
		}
		if least == len(order) {
			return nil
		}
		var hosts, keep []string
		for _, p := range order {
			hosts = append(hosts, fmt.Sprintf("%s %s", p.k.name, percent(p.k.busy)))
			var of []string
			for _, i := range p.backends {
				of = append(of, strconv.Itoa(i))
			}
			keep = append(keep, strings.Join(of, "+"))
		}
		f := about(svc.Name, fmt.Sprintf("Upstream %s of %s is spread over more hosts than its load needs", b.Name(), svc.Name),
			fmt.Sprintf("No host is saturated (%s); %d of the %d could do the work at %s at most. A request that goes to another host takes the network's time and finds caches that fewer requests have warmed.",
				strings.Join(hosts, ", "), least, len(order), percent(worst(order[:least], level(order[:least]))*m.x)), svc.Config, "CPU by service")
		return []Finding{balancerOf(f, b, parts, sharesOf(parts)).with("keep", strings.Join(keep, " ")).with("least", strconv.Itoa(least)).bounded(m.boundWait())}
	})
}

func sharesOf(parts []part) []float64 {
	out := make([]float64, len(parts))
	for i, p := range parts {
		out[i] = p.share
	}
	return out
}

// balancerOf tells the remedy which balancer a finding is about.
func balancerOf(f Finding, b Balancer, parts []part, now []float64) Finding {
	return f.with("upstream", b.Name()).with("weights", b.Weights()).with("now", perBackend(b, parts, now))
}

// perBackend prints the share of requests of each server of a balancer, in the
// order of the block; servers of one host keep their weights to each other.
func perBackend(b Balancer, parts []part, shares []float64) string {
	out := make([]string, len(b.Backends))
	for i := range out {
		out[i] = "0"
	}
	for n, p := range parts {
		sum := 0
		for _, i := range p.backends {
			sum += b.Backends[i].Weight
		}
		for _, i := range p.backends {
			out[i] = strconv.FormatFloat(shares[n]*float64(b.Backends[i].Weight)/float64(sum), 'f', 4, 64)
		}
	}
	return strings.Join(out, " ")
}
