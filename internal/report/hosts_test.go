package report

import (
	"slices"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/store"
)

// With several hosts each line says whose it is; with one none does.
func TestSectionsOfTwoHosts(t *testing.T) {
	sys := func(host string) evidence.System {
		return evidence.System{Host: host, CPUs: 2, User: 5, Idle: 15, Disks: []evidence.DiskUse{{Name: "sda", Busy: 0.5}}}
	}
	db := sys("db1")
	two := &store.Run{Evidence: &evidence.Evidence{System: sys("web1"), Hosts: map[string]*evidence.System{"db1": &db}}}
	first := func(s Section) (out []string) {
		for _, r := range s.Rows {
			out = append(out, r[0])
		}
		return out
	}
	if got := first(disks(two)); !slices.Equal(got, []string{"web1: sda", "db1: sda"}) {
		t.Errorf("disks: %q", got)
	}
	if got := first(system(two)); !slices.Contains(got, "web1: CPU") || !slices.Contains(got, "db1: CPU") {
		t.Errorf("machines: %q", got)
	}
	one := &store.Run{Evidence: &evidence.Evidence{System: sys("local")}}
	if got := first(system(one)); !slices.Contains(got, "CPU") {
		t.Errorf("one machine: %q", got)
	}
}
