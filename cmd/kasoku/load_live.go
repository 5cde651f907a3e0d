package main

import (
	"context"
	"fmt"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/ui"
)

// sparkWidth is how many intervals of a quarter of a second the curve shows.
const sparkWidth = 48

// tooEarly in a phase: rates of so short a time mean nothing.
const tooEarly = 100 * time.Millisecond

// loadScreen shows a load under way.
type loadScreen struct {
	ui    *ui.UI
	title string
	last  load.Progress
	rates []float64 // right answers per second of each interval
	cpu   float64   // processors the generator used in the last interval
	// host is the machine that the screen is on. used is the share of its CPUs in
	// use in each interval, 0 to 1; busy and all are its CPU seconds before that.
	host      host.Host
	used      []float64
	busy, all float64
}

func newLoadScreen(u *ui.UI, title string) *loadScreen {
	return &loadScreen{ui: u, title: title, host: host.NewLocal()}
}

// reset begins a new run.
func (s *loadScreen) reset() { *s = loadScreen{ui: s.ui, title: s.title, host: s.host} }

// show is called by the load with its progress.
func (s *loadScreen) show(p load.Progress) {
	s.follow(p)
	if s.ui.Draws() {
		s.readCPU()
	}
	if p.Phase == load.PhaseTeardown || p.Phase == load.PhaseSetup || p.Elapsed < tooEarly {
		return
	}
	lines := []string{s.title, phaseLine(p),
		fmt.Sprintf("requests/s  %8s  %s", ui.Count(p.RequestsPerSecond), ui.Sparkline(s.rates, sparkWidth)),
		s.cpuLine(),
		fmt.Sprintf("latency     p50 %s, p99 %s", ui.Duration(p.P50), ui.Duration(p.P99)),
		fmt.Sprintf("failures    %s", ui.Count(float64(p.Failed)))}
	if p.Planned > 0 {
		lines = append(lines, fmt.Sprintf("planned     %s, dropped %s", ui.Count(float64(p.Planned)), ui.Count(float64(p.Dropped))))
	}
	if s.cpu > 0 {
		lines = append(lines, fmt.Sprintf("generator   %s of a processor", ui.Share(s.cpu)))
	}
	s.ui.Show(lines, fmt.Sprintf("%-8s %5.1f s  %s requests/s  p50 %s  p99 %s  failed %d",
		p.Phase, p.Elapsed.Seconds(), ui.Count(p.RequestsPerSecond), ui.Duration(p.P50), ui.Duration(p.P99), p.Failed))
}

// readCPU notes how busy the machine was since the last call. What cannot be
// read is left out.
func (s *loadScreen) readCPU() {
	busy, all, err := evidence.CPUTimes(context.Background(), s.host)
	if err != nil {
		return
	}
	s.noteCPU(busy, all)
}

// noteCPU takes the machine's CPU seconds so far, in use and in all.
func (s *loadScreen) noteCPU(busy, all float64) {
	if s.all > 0 && all > s.all {
		s.used = append(s.used, min(1, max(0, (busy-s.busy)/(all-s.all))))
		s.used = s.used[max(0, len(s.used)-sparkWidth):]
	}
	s.busy, s.all = busy, all
}

// cpuLine is the curve of the machine's CPU; without a number before the second
// reading.
func (s *loadScreen) cpuLine() string {
	if len(s.used) == 0 {
		return "CPU"
	}
	return fmt.Sprintf("CPU         %8s  %s", ui.Share(s.used[len(s.used)-1]), ui.Bars(s.used, sparkWidth, 1))
}

// follow notes what happened since the last call.
func (s *loadScreen) follow(p load.Progress) {
	if span := p.Elapsed - s.last.Elapsed; p.Phase == s.last.Phase && span > 0 {
		s.rates = append(s.rates, float64(p.Succeeded-s.last.Succeeded)/span.Seconds())
		s.cpu = (p.GeneratorCPU - s.last.GeneratorCPU).Seconds() / span.Seconds()
		s.rates = s.rates[max(0, len(s.rates)-sparkWidth):]
	}
	s.last = p
}

func phaseLine(p load.Progress) string {
	left := max(p.Length-p.Elapsed, 0)
	return fmt.Sprintf("%-10s  %.0f of %.0f s, %.0f s left", p.Phase, p.Elapsed.Seconds(), p.Length.Seconds(), left.Round(time.Second).Seconds())
}
