package workload

import (
	"kasoku/internal/remedy/planning"
)

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "load.workload", Title: "Workload of the benchmark", Measures: []string{"L01", "G08"}, Rules: []string{"load.workload"},
		Reason: "A load that leaves the service idle measures the load.",
		Source: "Lazowska et al. 1984, Quantitative System Performance, ch. 5",
		Reach:  0.3, Plan: planWorkload, Test: "TestRemedyWorkload",
		Command: "kasoku run -c 2, 4, 8 …; then workload: in scenario.yaml", Undo: "none: nothing on a host is changed, and the next session begins with the scenario's workload again",
		Effect: "×2.02 on cases/login with one user (`make bench-bounds`)",
	},
}
