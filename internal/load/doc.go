// Package load puts a scenario's load on a target and checks every answer.
//
// In: scenario.yaml (package comment of scenario.go; docs/scenario.md).
// Out: a Result: score, latency per route, mismatches with their bodies, and
// whether the generator itself was the limit.
package load
