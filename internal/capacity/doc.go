// Package capacity says how many hosts carry a load, and how sure that is.
//
//  1. Levels are measurements: what so many hosts, workers or users carried. They
//     come from a table (ReadTable), from stored runs (FromRuns) or from a ladder
//     of loads that is driven now (Ladder).
//  2. Make leaves out levels that break the objective, fits the Universal
//     Scalability Law to the rest (stat.FitScaling) and asks it for the least
//     number that carries the load with so much left free.
//  3. What a right answer costs each host (diagnose.HostDemands) says the same by
//     the utilization law, U = X·D/C, host by host.
//  4. The largest level is left out once and predicted from the others, and every
//     doubt is said in a warning.
//
// In: Measured and a Question. Out: a Plan. It drives no load by itself and
// changes nothing.
package capacity
