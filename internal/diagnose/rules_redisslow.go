package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kasoku/internal/stack"
)

const (
	// slowMean: one thread serves all, so a command of a millisecond holds all
	// others up; quick ones take some µs. In µs.
	slowMean = 1000
	// slowOnce: from here on Redis itself writes a command to its slow log
	// (slowlog-log-slower-than, default 10,000 µs).
	slowOnce = 10000
	// slowWorth of the window: below it all calls together delay nobody that a
	// run would show.
	slowWorth = 0.001
	// ownCalls of a run: Kasoku itself asks for INFO, settings and the slow log.
	ownCalls = 40
)

// ownCommands are those that Kasoku sends to read its evidence.
var ownCommands = []string{"INFO", "CONFIG", "CONFIG|GET", "SLOWLOG", "SLOWLOG|GET"}

// slowCommand is one command of Redis with what is slow about it.
type slowCommand struct {
	name string // upper case
	text string
	took float64 // by all slow calls together, at most; µs
}

// judgeRedisSlow looks at each command's mean and at the slow log: a few slow
// calls hide behind many quick ones, those of other commands and of their own.
func judgeRedisSlow(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, delta, value func(string) (float64, bool)) []Finding {
		c := m.in.Evidence.Counters[svc.Name]
		slow := map[string]slowCommand{}
		for key, usec := range c.Delta {
			command, isStat := strings.CutPrefix(key, "cmdstat_") // cmdstat_keys.usec
			command, isTime := strings.CutSuffix(command, ".usec")
			if !isStat || !isTime {
				continue
			}
			calls, _ := delta("cmdstat_" + command + ".calls")
			if calls <= 0 || usec/calls < slowMean || usec/1e6 < slowWorth*m.window {
				continue
			}
			name := strings.ToUpper(command)
			if slices.Contains(ownCommands, name) && calls <= ownCalls {
				continue
			}
			slow[name] = slowCommand{name, fmt.Sprintf("%s: %.0f calls took %s, %s each", name, calls, seconds(usec/1e6), seconds(usec/calls/1e6)), usec}
		}
		for key := range c.Value {
			name, isLog := strings.CutPrefix(key, "slowlog.") // slowlog.KEYS.max_usec
			name, isLongest := strings.CutSuffix(name, ".max_usec")
			if !isLog || !isLongest || slices.Contains(ownCommands, name) {
				continue
			}
			longest, _ := value(key)
			count, _ := value("slowlog." + name + ".count")
			if longest < slowOnce || count <= 0 {
				continue
			}
			text := fmt.Sprintf("%.0f calls are in the slow log, the longest took %s", count, seconds(longest/1e6))
			if n, _ := value("slowlog." + name + ".max_arguments"); n > 0 {
				text += fmt.Sprintf(", with up to %.0f arguments", n)
			}
			if s, known := slow[name]; known {
				s.text += " (" + text + ")"
				slow[name] = s
				continue
			}
			took := count * longest
			if usec, ok := delta("cmdstat_" + strings.ToLower(name) + ".usec"); ok {
				took = math.Min(took, usec)
			}
			slow[name] = slowCommand{name, name + ": " + text, took}
		}
		if len(slow) == 0 {
			return nil
		}
		return []Finding{m.slowCommands(svc, slow)}
	}, stack.Redis)
}

// slowNamed is how many commands a finding names.
const slowNamed = 5

func (m *model) slowCommands(svc *stack.Service, slow map[string]slowCommand) Finding {
	var all []slowCommand
	took := 0.0
	for _, s := range slow {
		all = append(all, s)
		took += s.took
	}
	slices.SortFunc(all, func(a, b slowCommand) int { return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(a.name, b.name)) })
	var texts []string
	for _, s := range all[:min(len(all), slowNamed)] {
		texts = append(texts, s.text)
	}
	if more := len(all) - slowNamed; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more commands", more))
	}
	return about(svc.Name, fmt.Sprintf("%s of %s holds all other commands up", all[0].name, svc.Name),
		fmt.Sprintf("%s, in %.0f s. Redis has one thread for commands, so all others wait.", strings.Join(texts, "; "), m.window),
		"INFO commandstats and SLOWLOG of "+svc.Name).bounded(m.boundDelay(took / 1e6 / (m.x * m.window)))
}
