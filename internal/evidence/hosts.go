package evidence

import (
	"maps"
	"slices"
)

// HostNames are the hosts that the evidence is about, the front host first,
// the others sorted. An old run's only host is "".
func (e *Evidence) HostNames() []string {
	return append([]string{e.System.Host}, slices.Sorted(maps.Keys(e.Hosts))...)
}

// On is a host's use of resources; nil if it was not read. A run of one host
// has no other, whatever that is called.
func (e *Evidence) On(host string) *System {
	if host == e.System.Host || len(e.Hosts) == 0 {
		return &e.System
	}
	return e.Hosts[host]
}

// CPUTime is the CPU time that the machine had in the window, seconds.
func (s *System) CPUTime() float64 {
	return s.User + s.Sys + s.Outside + s.Idle + s.IOWait + s.Steal
}

// ServicesCPU is the CPU time of all services on all hosts, seconds.
func (e *Evidence) ServicesCPU() float64 {
	sum := e.System.ServicesCPU
	for _, s := range e.Hosts {
		sum += s.ServicesCPU
	}
	return sum
}

// On is what a host has and may; a snapshot of one host has no other.
func (s *Snapshot) On(host string) Machine {
	if m, ok := s.Machines[host]; ok {
		return m
	}
	return Machine{Root: s.Root, Memory: s.Memory, CPUs: s.CPUs, SharedMemory: s.SharedMemory}
}
