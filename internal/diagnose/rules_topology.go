package diagnose

import "fmt"

// What one run on one host cannot tell is said, so that nobody takes silence
// for an answer.

func judgeHosts(m *model) ([]Finding, string) {
	knee := m.knee()
	if knee == nil {
		return nil, "the run had no demand that could be scaled up"
	}
	if len(m.machines) > 1 {
		return nil, fmt.Sprintf("the stack has %d hosts, of which %s is used most and allows %.0f/s at most; kasoku capacity counts hosts for a load", len(m.machines), m.narrowest().name, knee.Throughput)
	}
	return nil, fmt.Sprintf("the stack has one host, which can give %.0f/s at most; balance and weights of several are not looked at; kasoku capacity counts hosts for a load", knee.Throughput)
}

func judgeBoot(*model) ([]Finding, string) {
	return nil, "whether every service comes back by itself, and warm, shows only in a reboot, which a run does not make"
}

func judgeRuntime(m *model) ([]Finding, string) {
	name, _ := m.binds()
	return nil, fmt.Sprintf("%s binds; another implementation, application server or machine can only be tried: name it in kasoku.yaml (services[].variants), or kasoku try judges it", name)
}
