package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/ui"
)

// chart is one quantity of one host over the window.
type chart struct {
	Name, Points       string
	Now, Low, High     string // mean, least and most, in words
	Top, Bottom, Until string // labels of the axes
	Binds              bool
}

// hostCharts are the charts of one host.
type hostCharts struct {
	Host   string
	Charts []chart
}

// overTime draws each host's samples; on tells a service's host, see fullCPU.
func overTime(ev *evidence.Evidence, d *diagnose.Diagnosis, on func(service string) string) []hostCharts {
	if ev == nil {
		return nil
	}
	full, binds := fullCPU(ev, d, on)
	var out []hostCharts
	for _, name := range ev.HostNames() {
		sys := ev.On(name)
		if sys == nil || len(sys.Samples) < 2 {
			continue
		}
		var at []time.Duration
		var busy, runnable, memory []float64
		for _, x := range sys.Samples {
			at = append(at, x.At)
			busy, runnable, memory = append(busy, x.Busy), append(runnable, float64(x.Runnable)), append(memory, float64(x.MemoryAvailable))
		}
		bytes := func(v float64) string { return ui.Bytes(int64(v)) }
		h := hostCharts{Host: name}
		h.Charts = append(h.Charts, line("CPU in use", at, busy, 1, ui.Share, binds && name == full),
			line("Tasks that want a CPU", at, runnable, 0, ui.Number, false))
		if sys.MemoryTotal > 0 {
			h.Charts = append(h.Charts, line("Memory available", at, memory, float64(sys.MemoryTotal), bytes, false))
		}
		out = append(out, h)
	}
	return out
}

// fullCPU is the host whose CPU binds, if one does: the one that the diagnosis
// names, else that of the service it names, else the one whose CPU is
// fullest, else the front. on tells a service's host, "" if it is not known.
func fullCPU(ev *evidence.Evidence, d *diagnose.Diagnosis, on func(service string) string) (host string, binds bool) {
	if ev == nil || d == nil || d.Binds != "cpu" && !strings.HasPrefix(d.Binds, "cpu:") && !strings.HasPrefix(d.Binds, "cpu of ") {
		return "", false
	}
	names := ev.HostNames()
	if _, host, ok := strings.Cut(d.Binds, " of "); ok && slices.Contains(names, host) {
		return host, true
	}
	_, service, _ := strings.Cut(d.Binds, ": ")
	if host := on(service); host != "" && slices.Contains(names, host) {
		return host, true
	}
	full, most := names[0], 0.0
	for _, x := range d.Demands {
		if host, ok := strings.CutPrefix(x.Resource, "cpu of "); ok && x.Utilization > most && slices.Contains(names, host) {
			full, most = host, x.Utilization
		}
	}
	return full, true
}

// line is a chart of values at times, on a scale from 0 to top; top 0: the
// largest value. The coordinates are those of a box of 100 × 100.
func line(name string, at []time.Duration, values []float64, top float64, say func(float64) string, binds bool) chart {
	c := chart{Name: name, Binds: binds, Bottom: say(0)}
	low, high, sum := values[0], values[0], 0.0
	for _, v := range values {
		low, high, sum = min(low, v), max(high, v), sum+v
	}
	if top <= 0 {
		top = max(high, 1)
	}
	var b strings.Builder
	end := at[len(at)-1]
	// What the first sample says holds since the beginning.
	fmt.Fprintf(&b, "0.00,%.2f ", 100-100*max(0, min(1, values[0]/top)))
	for i, v := range values {
		x := 0.0
		if end > 0 {
			x = 100 * at[i].Seconds() / end.Seconds()
		}
		fmt.Fprintf(&b, "%.2f,%.2f ", x, 100-100*max(0, min(1, v/top)))
	}
	c.Points = strings.TrimSpace(b.String())
	c.Now, c.Low, c.High = say(sum/float64(len(values))), say(low), say(high)
	c.Top, c.Until = say(top), ui.Duration(end.Round(time.Second))
	return c
}
