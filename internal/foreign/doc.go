// Package foreign drives the load with somebody else's benchmark: an ISUCON
// benchmarker, k6, wrk, ab, or any command that prints a score. It stands
// beside load and gives the same Result.
//
// In: load.command of kasoku.yaml (Command) and the host to run it on.
// Out: a load.Result, and the CPU time of the benchmark's whole process tree,
// so that the collectors do not take it for somebody else's.
//
//  1. Compile checks the command and compiles its patterns.
//  2. Runner.Run starts it in a process group of its own, watches its process
//     tree, and ends the group when the time is over or the run is cancelled.
//  3. The output is cleaned and its JSON documents are found (output.go).
//  4. A format reads it into a report (formats, one file each); what
//     kasoku.yaml says about score, errors and so on goes before it.
//  5. judge decides: the benchmark ran and found the service right (a Result),
//     found it wrong (a Result with score 0 and mismatches), or could not run
//     (an error).
package foreign
