package digest

import (
	"bytes"
	"fmt"
	"regexp"

	"kasoku/internal/accesslog"
	"kasoku/internal/sqllog"
)

// Kind is what a log holds.
type Kind string

// Kinds of logs.
const (
	KindAccess Kind = "access" // requests, one a line
	KindSlow   Kind = "slow"   // statements, one an entry or summed up
	KindEmpty  Kind = "empty"
)

var (
	// Headers of slow logs (MariaDB, MySQL, Percona).
	slowHeader = regexp.MustCompile(`(?m)^# (Time: \d|User@Host: .*@|Query_time: *[\d.]|Thread_id: \d)`)
	// "	    5 Query	SELECT 1" (MariaDB, MySQL 5), "2026-11-21T10:00:00.1Z	    5 Query	SELECT 1" (MySQL 5.7 on).
	generalLine = regexp.MustCompile(`(?m)^(\d{6}\s+\d{1,2}:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+)?\s+\d+ (Query|Connect|Quit|Prepare|Execute|Init DB|Close stmt|Reset stmt)\b`)
	// Reports that others made of slow logs.
	ptReport   = regexp.MustCompile(`(?m)^# (Overall: [\d.]+\w? total, |Query \d+: .*\b(QPS|concurrency)\b|[\d.]+m?s user time, )`)
	dumpReport = regexp.MustCompile(`(?m)^Count: \d+  Time=[\d.]+s \(\d+s\)  Lock=`)
	// Both kinds begin with such lines after each start of the server.
	serverBanner = regexp.MustCompile(`(?m)^(\S+, Version: .*started with:|Time\s+Id Command\s+Argument)\s*$`)
	errorLog     = regexp.MustCompile(`(?m)^(\d{4}[-/]\d\d[-/]\d\d[ T]\d{1,2}:\d\d:\d\d\S*) +(\d+ )?\[(Note|Warning|ERROR|System|notice|error|warn|crit|alert|emerg)\]`)
)

// KindOf recognises a log by its head; name is for the error, which says what
// the head looks like and what to do.
func KindOf(name string, head []byte) (Kind, error) {
	if why := utf16(head); why != "" {
		return "", fmt.Errorf("%s: %s", name, why)
	}
	text := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if rest := bytes.TrimLeft(text, "\x00"); len(rest) > 0 {
		text = rest // zeros of a log that was truncated while it was written
	}
	if carrier, _ := carrierOf(text); carrier != "" {
		return KindSlow, nil
	}
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return KindEmpty, nil
	case hasText(text, "# Overall: ", " user time, ", "# Query ") && ptReport.Match(text):
		return "", fmt.Errorf("%s is a report of pt-query-digest; digest the log that it was made of", name)
	case hasText(text, "Count: ") && dumpReport.Match(text):
		return "", fmt.Errorf("%s is a report of mysqldumpslow; digest the log that it was made of", name)
	case mostlyAccess(text):
	case slowHeader.Match(text), sourceOf(text) != nil:
		return KindSlow, nil
	case serverBanner.Match(text):
		// Nothing was logged since the server started; a slow log and a general
		// log look the same until then.
		return KindSlow, nil
	}
	if carriedBy(text) != nil {
		return KindAccess, nil
	}
	if zero := bytes.IndexByte(text, 0); zero >= 0 {
		// A file system may leave zeros at the end of a file that was written
		// when the power failed: the lines before them are a log all the same.
		text = text[:bytes.LastIndexByte(text[:zero], '\n')+1]
		if _, err := accesslog.Detect(text); err != nil {
			return "", fmt.Errorf("%s is no log: it holds binary data", name)
		}
	}
	if last := bytes.LastIndexByte(text, '\n'); last >= 0 && len(head) >= peekSize {
		text = text[:last]
	}
	if _, err := accesslog.Detect(text); err != nil {
		if errorLog.Match(text) {
			return "", fmt.Errorf("%s is a server's error log; a digest is made of access logs and slow query logs", name)
		}
		if sqllog.IsForeignPostgres(text) {
			return "", fmt.Errorf("%s is PostgreSQL's log in another language than English, which is not read; set lc_messages = 'C' for new lines", name)
		}
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return KindAccess, nil
}

// accessLines counts the lines of an access log that text is; 0 if it is none.
func accessLines(text []byte) int {
	if len(bytes.TrimSpace(text)) == 0 {
		return 0
	}
	if _, err := accesslog.Detect(text); err != nil {
		return 0
	}
	return bytes.Count(bytes.TrimRight(text, "\r\n"), []byte("\n")) + 1
}

// mostlyAccess: lines of an access log are before a slow log's first entry, and
// not fewer than what follows.
func mostlyAccess(text []byte) bool {
	at := slowHeader.FindIndex(text)
	if at == nil || at[0] == 0 || bytes.Count(text[:at[0]], []byte("\n")) < bytes.Count(text[at[0]:], []byte("\n")) {
		return false
	}
	return accessLines(text[:at[0]]) > 0
}

// hasText: one of the texts is in data.
func hasText(data []byte, texts ...string) bool {
	for _, t := range texts {
		if bytes.Contains(data, []byte(t)) {
			return true
		}
	}
	return false
}

// isGeneral tells a general query log.
func isGeneral(head []byte) bool {
	return hasText(head, " Query\t", "\tQuery\t", " Connect\t", " Execute\t", " Quit", " Prepare\t", " Query ", " Connect ") && generalLine.Match(head)
}

// KindOfAll is the kind of several logs, empty ones left aside. The error
// names two that do not belong together.
func KindOfAll(in []Input) (Kind, error) {
	found, of := KindEmpty, ""
	for _, i := range in {
		head, err := firstBytes(i)
		if err != nil {
			return "", err
		}
		k, err := KindOf(i.Name, head)
		switch {
		case err != nil:
			return "", err
		case k == KindEmpty || k == found:
		case found == KindEmpty:
			found, of = k, i.Name
		default:
			return "", fmt.Errorf("%s is %s, but %s is %s: digest them apart", of, found.article(), i.Name, k.article())
		}
	}
	return found, nil
}

func (k Kind) article() string {
	switch k {
	case KindAccess:
		return "an access log"
	case KindSlow:
		return "a log of statements"
	}
	return "empty"
}
