// Package load puts a scenario's load on a target and checks every answer.
//
// It is the first step of the loop: what it measures, evidence explains.
//
//  1. Parse reads scenario.yaml (docs/reference/scenario.md) and compiles it once:
//     texts become byte templates, variables become slots, expectations become
//     compiled checks. Whatever is wrong is said with its line.
//  2. Run checks that the target is this machine or allowed, does the setup
//     steps, starts the virtual users, and measures one window.
//  3. Each virtual user runs session after session on one keep-alive
//     connection: render, send, read, check, follow, fetch assets.
//  4. After the window requests under way are finished and the teardown steps
//     compare what the service says with what the users remember.
//
// In: scenario.yaml and a base URL.
// Out: a Result: score, latency per route, mismatches with their bodies, and
// whether the generator itself was the limit.
package load
