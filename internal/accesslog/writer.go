package accesslog

import (
	"bytes"
	"fmt"
	"time"
)

// writer is a program that writes the same labels in several forms (key=value,
// LTSV, JSON), with units that are its own.
type writer struct {
	name   string
	labels []string // all of them stand in a line of it
	times  map[string]time.Duration
}

// writers by their manuals. lograge's README: durations are milliseconds, as
// Rails' own log has them.
var writers = []writer{
	{name: "lograge", labels: []string{"controller", "action"}, times: map[string]time.Duration{
		"duration": time.Millisecond, "view": time.Millisecond, "db": time.Millisecond}},
}

// knownWriter gives times their units by the other labels of the lines, if most
// lines have those of one writer; their samples are not asked then.
func (f *Format) knownWriter(lines [][]byte, samples map[string]*sample) {
	r := NewRows(f, false)
	read := 0
	found := make([]int, len(writers))
	for _, line := range lines {
		e, why := r.Entry(bytes.Clone(line))
		if why != "" {
			continue
		}
		read++
		for i := range writers {
			if writers[i].wrote(e) {
				found[i]++
			}
		}
	}
	for i, w := range writers {
		if read == 0 || float64(found[i]) < detectShare*float64(read) {
			continue
		}
		for label, unit := range w.times {
			if samples[label] == nil || len(samples[label].values) == 0 {
				continue
			}
			if f.units == nil {
				f.units = units{}
			}
			f.units[label] = unit
			delete(samples, label)
			f.Notes = append(f.Notes, fmt.Sprintf("the lines are %s's: times in the field %q are %s", w.name, label, longUnit(unit)))
		}
		return
	}
}

func (w *writer) wrote(e *Entry) bool {
	for _, label := range w.labels {
		if e.Get(label) == nil {
			return false
		}
	}
	return true
}
