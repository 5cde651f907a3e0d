package sqllog

import "regexp"

// PostgreSQL translates messages (lc_messages). Their words are many and change
// with versions, so only the form is known: a word, a colon, a number, a unit
// ("Dauer: 12.3 ms  Anweisung: …"; PostgreSQL's src/backend/po).
var (
	foreignDuration = regexp.MustCompile(`^\pL+ ?: ?\d+(?:[.,]\d+)? (?:ms|мс|ミリ秒|毫秒)`)
	foreignLine     = regexp.MustCompile(`(?m)^[^\t\n][^\n]*\pL+ ?: {1,2}\pL+ ?: ?\d+(?:[.,]\d+)? (?:ms|мс|ミリ秒|毫秒)`)
)

// IsForeignPostgres tells PostgreSQL's log with durations in another language than
// English.
func IsForeignPostgres(text []byte) bool { return foreignLine.Match(text) }
