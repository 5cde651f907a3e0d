package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

const (
	// shortestPause, seconds, is not made shorter: a shell's two programs for each
	// round (curl, sleep) take 5 ms of CPU (100 rounds: 0.53 s), which ten times a second
	// is a twentieth of one CPU.
	shortestPause = 0.1
	// longestPause, seconds, of a loop that somebody waits for; cron's shortest is a minute.
	longestPause = 10
	// pauseCut is by what a pause is divided at a time. A choice: what waits is then
	// shorter by two fifths of the pause, on average, and the experiment decides.
	pauseCut = 5
	// pausedShare of the time that a loop has to pause; where its work takes the larger
	// part, the pause is not what slows it.
	pausedShare = 0.5
)

// judgePaced finds background loops with a pause under somebody else's benchmark, whose
// score may wait for what they do: an order that is dispatched, a mail that is sent. A
// scenario's requests are answered whatever such a loop does.
func judgePaced(m *model) ([]Finding, string) {
	if m.in.Stack.Load.Command == nil {
		return nil, ""
	}
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		if svc.RunsIn != "" {
			continue
		}
		l, err := LoopOf(m.in.Snapshot, svc)
		if err != nil {
			why = err.Error()
		}
		if err != nil || l == nil || l.Pause.Value <= shortestPause || l.Pause.Value > longestPause {
			continue
		}
		slept, seen := m.slept(svc.Name)
		if seen && slept < pausedShare {
			continue
		}
		text := fmt.Sprintf("%s does its work (%s) and then pauses for %s, again and again", svc.Name, strings.Join(l.Pause.Programs, ", "), seconds(l.Pause.Value))
		if seen {
			text += fmt.Sprintf("; it slept %s of the time", ui.Share(slept))
		}
		to := max(l.Pause.Value/pauseCut, shortestPause)
		text += fmt.Sprintf(". What waits for that work waits for half a pause on average, whatever the machine could do. %s says how long; %s would have it look %.3g times as often.",
			l.Place(), seconds(to), l.Pause.Value/to)
		f := about(svc.Name, "A background loop pauses between its rounds: "+svc.Name, text, "start of "+svc.Name, "children of its process at 50 moments a second")
		f.Subject = map[string]string{"pause": strconv.FormatFloat(to, 'g', -1, 64)}
		// A score of points has no law that ties it to CPU: a busy machine finishes more
		// of what is counted where less of its time is spent on asking whether it is done.
		work := 0.0
		if seen {
			work = l.Pause.Value * (1 - slept) / slept
		}
		now, then := l.Pause.Value+work, to+work
		out = append(out, f.atMost(now/then, fmt.Sprintf("a round takes %s now, of which %s are the pause, and would take %s", seconds(now), seconds(l.Pause.Value), seconds(then))))
	}
	return out, why
}

// slept is the share (0–1) of the window in which a service's loop slept; false if nobody
// looked.
func (m *model) slept(service string) (float64, bool) {
	for _, p := range m.in.Evidence.Services[service].Programs {
		if p.Name == "sleep" {
			return float64(p.Seen) / (evidence.LooksPerSecond * m.window), true
		}
	}
	return 0, false
}
