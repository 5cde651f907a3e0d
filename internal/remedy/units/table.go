// Package units plans what systemd runs and allows: agents that take CPU, limits
// of services' units.
package units

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

const unitsTest = "cases/remedies/units/units_test.go:TestUnits"

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "host.agents", Title: "Monitoring agents off that take a visible share of the CPU", Measures: []string{"W14", "I09"}, Rules: []string{"system.agents"},
		Reason: "What an agent computes, the service cannot. Only agents of a table (internal/diagnose/agents.go) are stopped, and only where the regulation lets observability be traded; nothing that guards, supervises or keeps logs or time is in it.",
		Source: "systemctl(1), \"disable\", \"stop\"; the units' names are those of Debian's packages and of the vendors'",
		Trades: []regulation.Trade{regulation.Observability}, Reach: 0.8, Plan: planAgent, Test: unitsTest,
		Command: "systemctl disable --now munin-node.service", Undo: "the unit is enabled and started again, through the links that there were",
	},
	{
		ID: "unit.tasks", Title: "More processes and threads for a unit", Measures: []string{"L12"}, Rules: []string{"system.tasks"},
		Reason: "At TasksMax fork and clone fail, and with them requests that need a process or thread of their own.",
		Source: "systemd.resource-control(5), TasksMax=",
		Reach:  0.5, Plan: planTasks, Test: unitsTest,
		Command: "`systemctl edit app` → `[Service]`, `TasksMax=2048`, then `systemctl restart app`", Undo: "the drop-in goes, with its folder if Kasoku made it, and the service is restarted",
		Unmeasured: "below the limit nothing differs, and above it the service fails",
	},
}
