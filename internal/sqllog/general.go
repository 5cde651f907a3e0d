package sqllog

import "time"

// GeneralEntry is one line of a general query log: what one connection sent.
type GeneralEntry struct {
	// Time of the line; zero where the log leaves it out (MariaDB writes it
	// only when the second changes).
	Time   time.Time
	Thread uint64
	// Command as the server names it: "Query", "Connect", "Prepare",
	// "Execute", "Close stmt", "Reset stmt", "Quit", "Init DB", …
	Command string
	Text    string // the statement or argument; at most MaxStatement bytes
}
