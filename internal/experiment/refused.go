package experiment

// Tampered is the outcome of a proposal that changes what judges it: the
// scenario, the regulation, the benchmark, Kasoku's own state or the clock.
const Tampered Outcome = "refused"
