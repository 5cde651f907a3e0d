package evidence

import "strings"

// logSigns are messages that point to measures of the catalogue. Each text is
// the server's own, from its source. Messages without one are ranked by level.
var logSigns = []struct {
	text     string // in lower case
	measures []string
}{
	// nginx
	{"worker_connections are not enough", []string{"L12"}},
	{"worker_connections exceed open file resource limit", []string{"L12"}},
	{"too many open files", []string{"L12"}},
	{"cannot assign requested address", []string{"C16", "L12"}},
	{"no live upstreams", []string{"C18"}},
	{"upstream timed out", []string{"C18"}},
	{"resource temporarily unavailable) while connecting to upstream", []string{"C18", "L12"}},
	{"connection refused) while connecting to upstream", []string{"C18"}},
	{"upstream prematurely closed connection", []string{"C18"}},
	// Apache
	{"server reached maxrequestworkers", []string{"C18"}},
	{"server is within minsparethreads of maxrequestworkers", []string{"C18"}},
	// PHP-FPM, PHP
	{"server reached pm.max_children", []string{"C18", "I17"}},
	{"server reached max_children", []string{"C18", "I17"}},
	{"seems busy (you may need to increase", []string{"C18", "I17"}},
	// databases
	{"too many connections", []string{"C22", "C24"}},
	{"aborted connection", []string{"C24"}},
	{"server has gone away", []string{"C24"}},
}

// logMeasures are the IDs that a message points to.
func logMeasures(text string) []string {
	low := strings.ToLower(text)
	for _, s := range logSigns {
		if strings.Contains(low, s.text) {
			return s.measures
		}
	}
	return nil
}
