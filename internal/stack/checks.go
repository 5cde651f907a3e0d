package stack

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Checks says how Kasoku proves that the regulation holds (docs/reference/checks.md).
type Checks struct {
	// Scenario is a scenario file whose setup is a write, the request that
	// acknowledges it last, and whose sessions are the readers, all of whose
	// steps are right only when they see the write. Empty: nothing is written to
	// check, and staleness and durability are not judged.
	Scenario string `yaml:"scenario,omitempty" json:"scenario,omitempty"`
	// Writes that staleness is checked with, 1 to 1000. Default 5.
	Writes int `yaml:"writes,omitempty" json:"writes,omitempty"`
	// VisibleWithin is how long after a write is acknowledged readers may be
	// given the old state, at most a day. Default: regulation.staleness where that
	// trade is allowed, else 0.
	VisibleWithin time.Duration `yaml:"visible_within,omitempty" json:"visible_within,omitempty"`
	// Kill names database services that may be killed with SIGKILL at any time,
	// as a crash would. Default none.
	Kill []string `yaml:"kill,omitempty,flow" json:"kill,omitempty"`
	// Reboot names hosts that may be rebooted at any time, without shutting down
	// what runs on them. Never this machine. Default none.
	Reboot []string `yaml:"reboot,omitempty,flow" json:"reboot,omitempty"`
	// BackWithin is how long a service may take to answer again after a kill or
	// reboot, 1s to 1h. Default 2m.
	BackWithin time.Duration `yaml:"back_within,omitempty" json:"back_within,omitempty"`
}

const (
	defaultBackWithin = 2 * time.Minute
	maxCheckWrites    = 1000
)

// Back is BackWithin with its default.
func (c Checks) Back() time.Duration {
	if c.BackWithin == 0 {
		return defaultBackWithin
	}
	return c.BackWithin
}

// VisibleWithin is how long after a write readers may be given the old state.
func (s *Stack) VisibleWithin() time.Duration {
	if s.Checks.VisibleWithin > 0 {
		return s.Checks.VisibleWithin
	}
	return s.Regulation.MaxAge()
}

func (s *Stack) validateChecks(d *document) {
	c := s.Checks
	if c.Writes < 0 || c.Writes > maxCheckWrites {
		d.report("checks.writes", "%d is outside 1–%d", c.Writes, maxCheckWrites)
	}
	if c.VisibleWithin < 0 || c.VisibleWithin > 24*time.Hour {
		d.report("checks.visible_within", "%s is outside 0–24h", c.VisibleWithin)
	}
	if c.BackWithin != 0 && (c.BackWithin < time.Second || c.BackWithin > time.Hour) {
		d.report("checks.back_within", "%s is outside 1s–1h", c.BackWithin)
	}
	for i, name := range c.Kill {
		path := fmt.Sprintf("checks.kill[%d]", i)
		switch svc := s.Service(name); {
		case svc == nil:
			d.report(path, "there is no service %q", name)
		case !svc.IsDatabase():
			d.report(path, "%q is no database; only databases are killed to see what they keep", name)
		}
	}
	for i, name := range c.Reboot {
		path := fmt.Sprintf("checks.reboot[%d]", i)
		switch {
		case name == LocalHost:
			d.report(path, "is this machine, which is never rebooted; name hosts of their own")
		case !slices.Contains(s.HostNames(), name):
			d.report(path, "no service runs on a host %q; hosts are %s", name, strings.Join(s.HostNames(), ", "))
		}
	}
}

func (s *Stack) renderChecks(b *bytes.Buffer) error {
	b.WriteString(`
# How Kasoku proves that the regulation holds: a scenario whose setup is a write
# and whose sessions are its readers, how soon they must see it, and what may be
# harmed for it: databases that may be killed, hosts that may be rebooted.
`)
	c := s.Checks
	if reflect.ValueOf(c).IsZero() {
		b.WriteString("# checks: {scenario: checks.yaml, visible_within: 2s, kill: [], reboot: []}\n")
		return nil
	}
	c.Scenario = s.relative(c.Scenario)
	return section(b, struct {
		Checks Checks `yaml:"checks"`
	}{c})
}
