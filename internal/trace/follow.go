package trace

import (
	"cmp"
	"slices"
	"strings"

	"kasoku/internal/sqllog"
)

// Follow is a read by one value that came again and again within transactions: its values
// may be a column of the rows that an earlier read brought.
type Follow struct {
	// Statement as the program prepares it, with its placeholder. "" where the program puts
	// the value in itself: Fingerprint is what is known then.
	Statement   string
	Fingerprint string
	Runs        int // of the statement
	Outside     int // of these outside of a transaction
	Turns       []Turn
}

// Turn is a transaction in which the read came with several values.
type Turn struct {
	Keys []string // the values, as they are written, in order, each once
	// Before are the plain reads of the transaction ahead of the first of them, the nearest
	// first, each statement once.
	Before []Earlier
	// Wrote is how often a write of the transaction came between two of the reads.
	Wrote int
}

// Earlier is a read that came before others.
type Earlier struct {
	// Statement as the program sends or prepares it; Text with its values.
	Statement, Text string
	// Sent: it was not prepared, so values in it may be put in by the driver.
	Sent bool
}

// mostEarlier reads ahead of a loop are looked at; the rows of a loop nearly always come
// from one of the last two.
const mostEarlier = 5

// Follows finds the reads by one value that came at least three times with different
// values in a transaction, those with the most runs first. It takes the events of a
// general log with all connections (GeneralEvents).
func Follows(events []Event) []Follow {
	f := &follower{classes: map[string]*class{}, known: map[string]*statement{}, sessions: map[uint64]*followed{}, found: map[string]*Follow{}}
	for _, e := range events {
		if !e.Marked && e.Call.System == SQL {
			f.call(e.Call)
		}
	}
	for _, s := range f.sessions {
		f.end(s)
	}
	var out []Follow
	for _, one := range f.found {
		if len(one.Turns) > 0 || one.Outside >= fewest {
			out = append(out, *one)
		}
	}
	slices.SortFunc(out, func(a, b Follow) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Fingerprint, b.Fingerprint))
	})
	return out
}

type follower struct {
	classes  map[string]*class
	known    map[string]*statement
	sessions map[uint64]*followed
	found    map[string]*Follow
}

// followed is one connection on the way.
type followed struct {
	prepared map[string]string // text as prepared, by fingerprint
	inside   bool
	reads    []Earlier
	loops    map[string]*Turn
	order    []string       // of loops
	writes   int            // of the transaction so far
	at       map[string]int // by loop: writes at its last read
}

func (f *follower) call(c Call) {
	s := f.sessions[c.Conn]
	if s == nil || c.Kind == Connect {
		s = &followed{prepared: map[string]string{}}
		f.sessions[c.Conn] = s
	}
	if c.Kind == Connect || c.Kind == Close || c.Text == "" {
		return
	}
	st := f.known[c.Text]
	if st == nil {
		st = readStatement(c.Text, false, f.classes)
		if len(f.known) < maxKnown {
			f.known[c.Text] = st
		}
	}
	switch {
	case c.Kind == Prepare:
		s.prepared[st.fingerprint] = c.Text
	case st.transaction():
		f.end(s)
		s.inside = st.verb == "BEGIN" || st.verb == "START"
	case st.session():
	case !st.reads:
		s.writes++
	default:
		f.read(s, st, c)
	}
}

// read notes a read.
func (f *follower) read(s *followed, st *statement, c Call) {
	earlier := Earlier{Statement: c.Text, Text: c.Text, Sent: true}
	if c.Kind == Execute {
		earlier.Statement, earlier.Sent = s.prepared[st.fingerprint], false
	}
	key, single := onlyValue(earlier.Statement, c.Text)
	if earlier.Sent {
		key, single = c.Text, st.keyed // the value is somewhere in it
	}
	if single {
		f.keyed(s, st, earlier, key)
	}
	if st.repeatable && earlier.Statement != "" && s.inside {
		s.reads = slices.DeleteFunc(s.reads, func(e Earlier) bool { return e.Statement == earlier.Statement })
		s.reads = append(s.reads, earlier)
	}
}

// keyed notes a read by one value.
func (f *follower) keyed(s *followed, st *statement, read Earlier, key string) {
	id := read.Statement
	if read.Sent {
		id = st.fingerprint
	}
	one := f.found[id]
	if one == nil {
		one = &Follow{Fingerprint: st.fingerprint}
		if !read.Sent {
			one.Statement = read.Statement
		}
		f.found[id] = one
	}
	one.Runs++
	if !s.inside {
		one.Outside++
		return
	}
	if s.loops == nil {
		s.loops, s.at = map[string]*Turn{}, map[string]int{}
	}
	t := s.loops[id]
	if t == nil {
		t = &Turn{}
		for i := len(s.reads) - 1; i >= 0 && len(t.Before) < mostEarlier; i-- {
			if s.reads[i].Statement != read.Statement {
				t.Before = append(t.Before, s.reads[i])
			}
		}
		s.loops[id], s.order = t, append(s.order, id)
	} else if s.at[id] != s.writes {
		t.Wrote++
	}
	s.at[id] = s.writes
	if !slices.Contains(t.Keys, key) {
		t.Keys = append(t.Keys, key)
	}
}

// end ends the transaction of a connection.
func (f *follower) end(s *followed) {
	for _, id := range s.order {
		if t := s.loops[id]; len(t.Keys) >= fewest {
			f.found[id].Turns = append(f.found[id].Turns, *t)
		}
	}
	*s = followed{prepared: s.prepared}
}

// onlyValue is what stands in a text where the statement has its one placeholder.
func onlyValue(statement, text string) (string, bool) {
	words, with := reTokens.FindAllString(statement, -1), reTokens.FindAllString(text, -1)
	at := slices.Index(words, "?")
	if at < 0 || slices.Index(words[at+1:], "?") >= 0 {
		return "", false
	}
	tail := len(words) - at - 1
	if len(with) < at+1+tail || !slices.Equal(words[:at], with[:at]) || !slices.Equal(words[at+1:], with[len(with)-tail:]) {
		return "", false
	}
	return strings.Join(with[at:len(with)-tail], ""), true
}

// PlainRead reports whether a statement only reads, and answers the same if it is run again
// with nothing written in between: no lock, no variable, no time, no function that may write.
func PlainRead(text string) bool {
	return sqllog.Verb(text) == "SELECT" && readStatement(text, false, map[string]*class{}).repeatable
}
