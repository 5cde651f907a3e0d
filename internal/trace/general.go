package trace

import (
	"strings"

	"kasoku/internal/sqllog"
)

// GeneralEvents turns entries of a general query log into events, in the log's
// order. Threads in skip, and those that sent a mark, are left out.
func GeneralEvents(entries []sqllog.GeneralEntry, service string, skip map[uint64]bool) []Event {
	own := map[uint64]bool{}
	for t := range skip {
		own[t] = true
	}
	for i := range entries {
		if _, ok := sqlMark(&entries[i]); ok {
			own[entries[i].Thread] = true
		}
	}
	var out []Event
	connects := map[uint64]int{} // thread → its connect's place in out
	for i := range entries {
		e := &entries[i]
		if n, ok := sqlMark(e); ok {
			out = append(out, Event{Mark: n, Marked: true})
			continue
		}
		if own[e.Thread] {
			continue
		}
		c := Call{Service: service, System: SQL, Conn: e.Thread, Text: e.Text}
		switch e.Command {
		case "Query":
		case "Prepare":
			c.Kind = Prepare
		case "Execute":
			c.Kind = Execute
		case "Close stmt":
			c.Kind, c.Text = Close, ""
		case "Connect":
			c.Kind, c.Text = Connect, ""
			if strings.HasPrefix(e.Text, "Access denied") {
				if at, ok := connects[e.Thread]; ok {
					out[at].Call.Failed = true
				}
				continue
			}
			connects[e.Thread] = len(out)
		case "Init DB":
			c.Text = "USE " + e.Text
		case "Ping":
			c.Text = "PING"
		default:
			continue // Quit, Statistics, Reset stmt, …
		}
		out = append(out, Event{Call: c})
	}
	return out
}

func sqlMark(e *sqllog.GeneralEntry) (int, bool) {
	if e.Command != "Query" || !strings.HasPrefix(e.Text, "SELECT 'kasoku-mark-") {
		return 0, false
	}
	return markOf(e.Text)
}
