// Package prove checks that what the regulation promises holds on the service
// as it is now: the regulation checks of docs/reference/checks.md.
//
// In: a stack with its hosts, and a scenario whose setup is a write and whose
// sessions are readers (load.Witness). Out: one Result for each check, with
// what failed and what could not be judged.
//
//  1. Stale: after a write every reader sees it within the limit;
//  2. Record and Equal: answers are those of the service as found;
//  3. Crash: acknowledged writes outlive a kill of the database server;
//  4. Reboot: all comes back by itself, with the writes and the score.
//
// Crash and Reboot harm the service for a while. They touch only what checks:
// in kasoku.yaml names. A check that could not have failed is not held: it is
// not judged, with the reason.
package prove
