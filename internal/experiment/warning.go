package experiment

import "encoding/json"

// Kinds of warnings.
const (
	WarnRepeated = "repeated" // a run was no evidence and was made again
	WarnUnsteady = "unsteady" // runs whose service was not warm
	WarnSteal    = "steal"    // other virtual machines took CPU in runs that count
	WarnRestored = "restored" // a file of the judge was changed, and written back or not
)

// Warning is what must be known of a verdict besides, as data. What does not
// belong to its kind is left out.
type Warning struct {
	Kind string `json:"kind,omitempty"` // "" in stores from before kinds were
	Text string `json:"text"`           // one sentence, with what to do
	// Run that it is about, with its side and what was wrong with it.
	Run  int64  `json:"run,omitempty"`
	Side Side   `json:"side,omitempty"`
	Why  string `json:"why,omitempty"`
	// Runs that it is true of, among Of.
	Runs int `json:"runs,omitempty"`
	Of   int `json:"of,omitempty"`
	// Share of the CPU, 0–1, at most.
	Share float64 `json:"share,omitempty"`
}

func (w Warning) String() string { return w.Text }

// UnmarshalJSON also takes a plain text, as stores had it before.
func (w *Warning) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*w = Warning{}
		return json.Unmarshal(data, &w.Text)
	}
	type plain Warning
	return json.Unmarshal(data, (*plain)(w))
}
