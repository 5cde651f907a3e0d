// Package diagnose turns evidence into ranked findings: what binds, why, and
// the most that removing it could bring.
//
// In: Evidence of a run, a Snapshot, the Stack. Out: []Finding, most promising
// first, and the demand table. Everything is pure.
package diagnose

// Finding is a claim about what binds.
type Finding struct {
	// Rule that made it, e.g. "db.full-scan".
	Rule string `json:"rule"`
	// Measures are IDs of docs/reference/catalogue/measures.md.
	Measures []string `json:"measures"`
	Service  string   `json:"service,omitempty"`
	// Host that it is about where it is no service's; "" with one host.
	Host  string `json:"host,omitempty"`
	Title string `json:"title"` // one line
	Text  string `json:"text"`  // names the numbers
	// Evidence cites the sources: "statement #1: 12.3 s of 20 s", …
	Evidence []string `json:"evidence"`
	// Bound is the most that removing it could multiply throughput by (≥ 1);
	// Formula says how it was computed, with the numbers.
	Bound   float64 `json:"bound"`
	Formula string  `json:"formula"`
	// Expected is what removing it is expected to multiply throughput by (≥ 1), as far as
	// what is known to remove it mostly goes; 0: not estimated.
	Expected float64 `json:"expected,omitempty"`
	// Spares is the part (0–1) of a request's CPU that would go if all of what the finding
	// is about went, on the machine whose CPU allows least; 0: it is not of CPU. Spent is
	// the part that the Service spends there in all, 0 unknown.
	Spares float64 `json:"spares,omitempty"`
	Spent  float64 `json:"spent,omitempty"`
	// Limit is the factor of throughput that what the Service has no part in allows,
	// however much of its work goes (limit.go); 0: nothing is known.
	Limit float64 `json:"limit,omitempty"`
	// Subject is what the remedy needs to know: route, table, file…
	Subject map[string]string `json:"subject,omitempty"`
	// Settings that it would have changed, so that no two findings of one run
	// ask for opposite things.
	Settings []Setting `json:"settings,omitempty"`
	// Source is the line of code that it is about, "app/user.php:120"; "" unknown.
	Source string `json:"source,omitempty"`
	// Unplanned says why none of the remedies for it can be planned here; "" if one can,
	// or if there is none.
	Unplanned string `json:"unplanned,omitempty"`
}

// Setting is one value that a finding would have changed.
type Setting struct {
	Service string `json:"service,omitempty"`
	Host    string `json:"host,omitempty"` // of a setting of the host itself; "" with one host
	Name    string `json:"name"`           // as the service's configuration calls it
	Now     string `json:"now,omitempty"`
	To      string `json:"to,omitempty"` // "" if the number must be found by trying
	// Up is 1 for more, -1 for less, 0 for another value.
	Up int `json:"up"`
	// Memory that it would take more, bytes; less if negative.
	Memory int64 `json:"memory,omitempty"`
}

// NotJudged is a rule that could not be applied, and why.
type NotJudged struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// Demand is one resource's service demand, D = U·T/X (Denning & Buzen 1978,
// Operational analysis): seconds of the resource per request.
type Demand struct {
	Resource    string  `json:"resource"`    // "cpu: php", "php-fpm workers", "disk"
	Utilization float64 `json:"utilization"` // 0–1 of its capacity
	// PerRequest is service demand in seconds per successful request.
	PerRequest float64 `json:"per_request"`
	// MaxThroughput is capacity / PerRequest, requests per second.
	MaxThroughput float64 `json:"max_throughput"`
}

// Knee is the number of users beyond which more of them only wait.
type Knee struct {
	Users      float64 `json:"users"`
	Throughput float64 `json:"throughput"` // right answers per second at most
	Formula    string  `json:"formula"`    // with the numbers
}

// Next is a resource that would bind once those before it do not.
type Next struct {
	Resource      string  `json:"resource"`
	MaxThroughput float64 `json:"max_throughput"`
	// Factor is MaxThroughput over the run's throughput, at least 1 but for
	// errors of accounting: what was done was possible.
	Factor float64 `json:"factor"`
	// PerRequest is the service demand, seconds; 0 in diagnoses of older versions.
	PerRequest float64 `json:"per_request,omitempty"`
	Text       string  `json:"text"`
}

// Diagnosis of one run.
type Diagnosis struct {
	Findings  []Finding   `json:"findings"` // highest bound first
	NotJudged []NotJudged `json:"not_judged"`
	Demands   []Demand    `json:"demands"` // highest utilization first
	// Binds names the resource that limits throughput, with the reason.
	Binds     string `json:"binds"`
	BindsText string `json:"binds_text"`
	// Reference is the scored run whose throughput, CPU and counters it is made
	// of, 0: the diagnosed run's own. Instruments cost CPU that nobody can save.
	Reference int64 `json:"reference,omitempty"`
	// Knee of the throughput curve; nil where it cannot be computed.
	Knee *Knee `json:"knee,omitempty"`
	// Next are the resources by the throughput that each allows, least first.
	Next []Next `json:"next,omitempty"`
}

// Doubt says, wherever a number of the diagnosis is shown, that the run which all of
// them come from is no evidence, and why.
func (d *Diagnosis) Doubt(why string) {
	d.BindsText = "unsure, as the run is no evidence (" + why + "): " + d.BindsText
	for i := range d.Findings {
		d.Findings[i].Formula = "of a run that is no evidence: " + d.Findings[i].Formula
	}
}
