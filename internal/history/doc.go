// Package history finds when a service's score changed its level, over runs of
// weeks.
//
// In: the measurements of one scenario and workload in the order of time. Out:
// levels, and the changes between them, each dated, with effect and interval.
// It is pure: what happened between two measurements is asked elsewhere.
package history
