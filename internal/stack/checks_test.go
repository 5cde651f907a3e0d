package stack

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/regulation"
)

func TestChecksAreValidated(t *testing.T) {
	hosts := strings.Replace(goodYAML, "services:\n", "hosts: {db1: {ssh: db1}}\nservices:\n  - {name: far, kind: app, host: db1, root: /srv}\n", 1)
	for _, c := range []struct{ checks, want string }{
		{"{scenario: checks.yaml, writes: 7, visible_within: 5m, kill: [db], reboot: [db1], back_within: 1m}", ""},
		{"{}", ""},
		{"{kill: [nobody]}", `checks.kill[0]: there is no service "nobody"`},
		{"{kill: [web]}", "is no database"},
		{"{reboot: [local]}", "which is never rebooted"},
		{"{reboot: [db2]}", "hosts are db1, local"},
		{"{writes: 1001}", "outside 1–1000"},
		{"{visible_within: 25h}", "outside 0–24h"},
		{"{back_within: 5ms}", "outside 1s–1h"},
		{"{crash: [db]}", "crash"},
	} {
		s, err := parse("kasoku.yaml", []byte(hosts+"checks: "+c.checks+"\n"), "/shop")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.checks, err, c.want)
		}
		if c.want != "" || err != nil {
			continue
		}
		text, err := s.Render()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parse("kasoku.yaml", text, "/shop")
		if err != nil || strings.Join(again.Checks.Kill, " ") != strings.Join(s.Checks.Kill, " ") || again.Checks.Scenario != s.Checks.Scenario ||
			again.Checks.VisibleWithin != s.Checks.VisibleWithin || len(again.Checks.Reboot) != len(s.Checks.Reboot) {
			t.Errorf("rendered as %+v, %v", again.Checks, err)
		}
	}
}

func TestVisibleWithin(t *testing.T) {
	for _, c := range []struct {
		s    Stack
		want time.Duration
	}{
		{Stack{}, 0},
		{Stack{Checks: Checks{VisibleWithin: time.Minute}}, time.Minute},
		{Stack{Regulation: regulation.Regulation{Allow: []regulation.Trade{regulation.Staleness}, Staleness: 5 * time.Second}}, 5 * time.Second},
		{Stack{Regulation: regulation.Regulation{Allow: []regulation.Trade{regulation.Staleness}}}, regulation.DefaultStaleness},
	} {
		if got := c.s.VisibleWithin(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.s, got, c.want)
		}
	}
	if back := (Checks{}).Back(); back != 2*time.Minute {
		t.Errorf("back within %s", back)
	}
}

// Nothing is killed that kasoku.yaml does not name, whether it runs or not.
func TestKillNeedsPermission(t *testing.T) {
	s := &Stack{Services: []Service{{Name: "db", Kind: MariaDB}}}
	c, err := NewController(host.NewLocal(), s, &s.Services[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(t.Context()); err == nil || !strings.Contains(err.Error(), "checks.kill in kasoku.yaml does not name it") {
		t.Error(err)
	}
}
