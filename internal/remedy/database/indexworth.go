package database

import (
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy/planning"
)

// worth is what the indexes bring: the finding is of all statements that scan, of which
// they serve some. Of the time of each of these is left what index.Advice says, as the rows
// that were read and those that the index leaves tell; to keep the indexes up to date takes
// some of it again. What the database does outside of statements stays.
func (p *indexPlan) worth() planning.Worth {
	var scanning, served, saved float64
	for at, s := range statementsOf(p.in, p.f.Service) {
		if diagnose.Scans(s) {
			scanning += s.Total.Seconds()
		}
		if left, ok := p.left[at]; ok {
			served, saved = served+s.Total.Seconds(), saved+(1-left)*s.Total.Seconds()
		}
	}
	if scanning <= 0 || served <= 0 || p.f.Bound <= 1 {
		return planning.Worth{Bound: p.f.Bound}
	}
	reach := (saved - p.writing.Seconds()) / served * (1 - outside(p.in.Evidence, p.f.Service))
	return planning.Worth{Bound: planning.PartOf(p.f.Bound, served/scanning), Reach: max(reach, leastReach), Spares: p.f.Spares * served / scanning}
}

// leastReach is of indexes that hardly pay: 0 would stand for a reach that is not known.
const leastReach = 0.01

// CPU seconds of a database's that are no statement's time, as it counts them: taking a
// command from a connection and waking up for it; taking a connection and a log-in. Seen
// with MariaDB 10.11 (`go test ./internal/remedy/index -bench Commands`; diagnose, connectCPU).
const (
	commandCPU = 6e-6
	loginCPU   = 90e-6
)

// outside is the part (0–1) of a database's CPU that it spends outside of statements, by its
// own counts: indexes do not save it. Applications that ask for much with little in each
// spend more on asking than on reading.
func outside(ev *evidence.Evidence, service string) float64 {
	count := func(names ...string) (sum float64) {
		for name, n := range ev.Counters[service].Delta {
			for _, want := range names {
				if strings.EqualFold(name, want) {
					sum += n
				}
			}
		}
		return sum
	}
	cpu := ev.Services[service].CPU
	if cpu <= 0 {
		return 0
	}
	return min((count("Questions", "Com_stmt_prepare", "Com_stmt_close")*commandCPU+count("Connections")*loginCPU)/cpu, 1)
}
