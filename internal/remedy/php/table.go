package php

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "php.opcache", Title: "OPcache", Measures: []string{"W03"}, Rules: []string{"php.opcache-off"},
		Reason: "Without it every request parses and compiles all scripts that it uses.",
		Source: "PHP manual, \"OPcache\"",
		Reach:  0.5, Plan: planOPcache, Test: "TestRemedyOPcache",
	},
	{
		ID: "php.jit", Title: "JIT", Measures: []string{"I16"}, Rules: []string{"php.jit-off"},
		Reason: "Hot code runs as machine code; it pays only where the interpreter itself binds.",
		Source: "PHP manual, \"opcache.jit\"",
		Reach:  0.03, Plan: planJIT, Test: "TestRemedyJIT",
	},
	{
		ID: "php.workers", Title: "Number of PHP-FPM processes", Measures: []string{"C18", "I17"}, Rules: []string{"php.workers"},
		Reason: "Too few leave CPU idle, too many make it switch; the best number is found by trying.",
		Source: "PHP manual, \"FPM configuration\": pm, pm.max_children",
		Reach:  0.1, Plan: planWorkers, Test: "TestRemedyWorkers",
	},
	{
		ID: "php.session-memory", Title: "Session files in memory", Measures: []string{"L11"}, Rules: []string{"php.session-files"},
		Reason: "A session that never reaches a disk costs less; a reboot ends all sessions.",
		Source: "PHP manual, \"session.save_path\"; tmpfs(5)",
		Trades: []regulation.Trade{regulation.SessionDurability}, Reach: 0.1, Plan: planSessions, Test: "TestRemedySessions",
	},
}
