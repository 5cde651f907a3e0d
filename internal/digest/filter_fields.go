package digest

import (
	"strings"

	"kasoku/internal/accesslog"
	"kasoku/internal/sqllog"
)

// accessFields are those of a request. Adding one is adding a line here and
// one to docs/reference/digest.md, which a test compares.
var accessFields = []field[accesslog.Entry]{
	{name: "status", kind: statusValue, number: func(e *accesslog.Entry) (int64, bool) { return int64(e.Status), e.Status > 0 }},
	{name: "method", kind: textValue, fold: true, text: func(e *accesslog.Entry) []byte { return e.Method }},
	{name: "path", kind: textValue, text: (*accesslog.Entry).Path},
	{name: "query", kind: textValue, text: (*accesslog.Entry).Query},
	{name: "host", kind: textValue, fold: true, list: hostNames},
	{name: "client", kind: textValue, text: func(e *accesslog.Entry) []byte { return e.Client }},
	{name: "user", kind: textValue, text: func(e *accesslog.Entry) []byte { return e.User }},
	{name: "referer", kind: textValue, text: func(e *accesslog.Entry) []byte { return e.Referer }},
	{name: "agent", kind: textValue, text: func(e *accesslog.Entry) []byte { return e.Agent }},
	{name: "cache", kind: textValue, fold: true, text: func(e *accesslog.Entry) []byte { return e.Cache }},
	{name: "time", kind: timeValue, number: func(e *accesslog.Entry) (int64, bool) { return int64(e.Request), e.Request >= 0 }},
	{name: "upstream", kind: timeValue, number: func(e *accesslog.Entry) (int64, bool) { return int64(e.Upstream), e.Upstream >= 0 }},
	{name: "bytes", kind: sizeValue, number: func(e *accesslog.Entry) (int64, bool) { return e.Bytes, e.Bytes >= 0 }},
}

// hostNames are the host with and without its port.
func hostNames(e *accesslog.Entry) []string {
	host := string(e.Host)
	out := []string{host}
	if at := strings.LastIndexByte(host, ':'); at > 0 && strings.Trim(host[at+1:], "0123456789") == "" && (strings.IndexByte(host, ':') == at || host[at-1] == ']') {
		out = append(out, host[:at])
	}
	return out
}

// routeFields are those of a route.
var routeFields = []field[Route]{
	{name: "route", kind: textValue, text: func(r *Route) []byte { return []byte(r.Route) }},
}

// entryFields are those of one statement in a slow log.
var entryFields = []field[sqllog.SlowEntry]{
	{name: "schema", kind: textValue, text: func(e *sqllog.SlowEntry) []byte { return []byte(e.Schema) }},
	{name: "sql", kind: textValue, fold: true, text: func(e *sqllog.SlowEntry) []byte { return []byte(e.SQL) }},
	{name: "time", kind: timeValue, number: func(e *sqllog.SlowEntry) (int64, bool) { return int64(e.QueryTime), true }},
	{name: "lock_time", kind: timeValue, number: func(e *sqllog.SlowEntry) (int64, bool) { return int64(e.LockTime), true }},
	{name: "rows_examined", kind: numberValue, number: func(e *sqllog.SlowEntry) (int64, bool) { return e.RowsExamined, true }},
	{name: "rows_sent", kind: numberValue, number: func(e *sqllog.SlowEntry) (int64, bool) { return e.RowsSent, true }},
	{name: "rows_affected", kind: numberValue, number: func(e *sqllog.SlowEntry) (int64, bool) { return e.RowsAffected, true }},
	{name: "bytes_sent", kind: sizeValue, number: func(e *sqllog.SlowEntry) (int64, bool) { return e.BytesSent, true }},
	{name: "tmp_tables", kind: numberValue, number: func(e *sqllog.SlowEntry) (int64, bool) { return e.TmpTables, true }},
	{name: "thread", kind: numberValue, number: func(e *sqllog.SlowEntry) (int64, bool) { return int64(e.Thread), e.Thread > 0 }},
	{name: "full_scan", kind: flagValue, flag: func(e *sqllog.SlowEntry) bool { return e.FullScan }},
	{name: "full_join", kind: flagValue, flag: func(e *sqllog.SlowEntry) bool { return e.FullJoin }},
	{name: "no_index", kind: flagValue, flag: func(e *sqllog.SlowEntry) bool { return e.FullScan || e.FullJoin }},
	{name: "filesort", kind: flagValue, flag: func(e *sqllog.SlowEntry) bool { return e.Filesort }},
	{name: "tmp_disk", kind: flagValue, flag: func(e *sqllog.SlowEntry) bool { return e.TmpDisk > 0 }},
	{name: "failed", kind: flagValue, flag: func(e *sqllog.SlowEntry) bool { return e.Failed }},
}

// classFields are those of a class of statements. They are asked once a class,
// so they may take time.
var classFields = []field[Statement]{
	{name: "fingerprint", kind: textValue, fold: true, text: func(s *Statement) []byte { return []byte(s.Fingerprint) }},
	{name: "verb", kind: textValue, fold: true, text: func(s *Statement) []byte { return []byte(sqllog.Verb(s.Fingerprint)) }},
	{name: "table", kind: textValue, fold: true, list: tableNames},
}

// tableNames are the tables with and without their schema.
func tableNames(s *Statement) []string {
	var out []string
	for _, t := range sqllog.Fingerprints.Tables(s.Fingerprint) {
		out = append(out, t)
		if at := strings.LastIndexByte(t, '.'); at >= 0 {
			out = append(out, t[at+1:])
		}
	}
	return out
}
