package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/host"
	"kasoku/internal/sqllog"
)

// MaxSlowLog is how much of a slow log is read for one window, bytes. It is
// some 400,000 statements; the most frequent ones are known long before.
const MaxSlowLog = 200 << 20

// SlowLogVariables returns the server variables to change, and their values as
// the server prints them, so that every statement of new connections is
// written to the slow query log with its plan. Variables that are right
// already are left out. An empty file keeps the server's own name; another one
// must be in a folder where the server's user may write. Sources: MariaDB
// Knowledge Base, "Slow Query Log Overview"; MySQL manual, "The Slow Query Log".
func SlowLogVariables(db *Database, file string) map[string]string {
	want := map[string]string{"slow_query_log": "ON", "long_query_time": "0.000000"}
	if file != "" {
		want["slow_query_log_file"] = file
	}
	if !strings.Contains(strings.ToUpper(db.Variables["log_output"]), "FILE") {
		want["log_output"] = "FILE"
	}
	// What else a server may use to leave statements out; each only if it has it.
	all := map[string]string{"min_examined_row_limit": "0", "log_slow_rate_limit": "1", "log_slow_filter": ""}
	if db.MariaDB {
		all["log_slow_verbosity"] = "query_plan"
	} else {
		all["log_slow_extra"] = "ON"
		all["log_throttle_queries_not_using_indexes"] = "0"
	}
	for name, value := range all {
		if _, has := db.Variables[name]; has {
			want[name] = value
		}
	}
	// These values write all that the wanted one does.
	if logsEverything(db.Variables["log_slow_filter"]) {
		delete(want, "log_slow_filter")
	}
	if strings.Contains(db.Variables["log_slow_verbosity"], "query_plan") {
		delete(want, "log_slow_verbosity")
	}
	for name, value := range want {
		if have, ok := db.Variables[name]; ok && have == value {
			delete(want, name)
		}
	}
	return want
}

// logsEverything: MariaDB's filter passes a statement that has one of its
// flags; without the query cache every statement is a query_cache_miss.
func logsEverything(filter string) bool {
	return filter == "" || strings.Contains(filter, "query_cache_miss") && strings.Contains(filter, "query_cache,")
}

// SlowLogPath is where the server writes its slow log, absolute.
func SlowLogPath(vars map[string]string) string {
	file := vars["slow_query_log_file"]
	if file == "" || path.IsAbs(file) {
		return file
	}
	return path.Join(vars["datadir"], file)
}

// SlowLog is what a part of a slow log held.
type SlowLog struct {
	Statements []Statement
	Entries    int64 // statements and administrator commands read
	Bytes      int64
	// Truncated is true when there was more than MaxSlowLog.
	Truncated bool
	// Sampled says so when the server logged only one of several statements.
	Sampled string
}

// slowLogSize is the log's present length; 0 if there is no such file yet.
func slowLogSize(ctx context.Context, h host.Host, file string) (int64, error) {
	info, err := h.Stat(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look at slow log %s: %w", file, err)
	}
	return info.Size, nil
}

// ReadSlowLog reads bytes [from, to) of a database's slow log (to < 0: up to
// its end), leaving out threads in skip. It reads in pieces, so memory does
// not grow with the log.
func ReadSlowLog(ctx context.Context, h host.Host, service, file string, from, to int64, skip map[uint64]bool) (*SlowLog, error) {
	if to < 0 {
		size, err := slowLogSize(ctx, h, file)
		if err != nil {
			return nil, err
		}
		to = size
	}
	if to < from {
		return nil, fmt.Errorf("slow log %s became shorter during the run (%d bytes, then %d): was it rotated? Run again without rotation", file, from, to)
	}
	log := &SlowLog{Bytes: to - from}
	if log.Bytes > MaxSlowLog {
		log.Bytes, log.Truncated = MaxSlowLog, true
	}
	before, err := schemaBefore(ctx, h, file, from)
	if err != nil {
		return nil, err
	}
	in := digest.Input{Name: "slow log " + file, Size: log.Bytes + int64(len(before)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(before), &pieces{ctx: ctx, h: h, file: file, at: from, end: from + log.Bytes})), nil
	}}
	sums, err := digest.StatementLogs(ctx, []digest.Input{in}, digest.StatementOptions{Service: service, Repeats: true,
		Keep: func(e *sqllog.SlowEntry) bool { return !skip[e.Thread] && e.Thread != nobody }})
	if errors.Is(err, digest.ErrNotSlowLog) {
		return log, nil // a part of an entry, or none
	}
	if err != nil {
		return nil, err
	}
	log.Statements = sums.Classes[:min(len(sums.Classes), keptClasses)]
	log.Entries = sums.Entries + sums.Commands
	for _, w := range sums.Warnings {
		if strings.Contains(w, "log_slow_rate_limit") {
			log.Sampled = w
		}
	}
	return log, nil
}

// lookBack is how much of a log is searched for the schema in use before a part
// of it: a statement log of a run holds its warm-up before.
const lookBack = 8 << 20

// nobody is the thread of the entry that schemaBefore makes.
const nobody = 1 << 53

// useLine is "use `shop`;", and schemaHeader where each entry has its own.
var (
	useLine      = regexp.MustCompile("(?m)^use [^\n]+;$")
	schemaHeader = regexp.MustCompile(`(?m)^# Thread_id: \d+ +Schema: `)
)

// schemaBefore is an entry that puts into use what was in use at a place of a
// slow log: MySQL names the schema only where it differs from that of the
// statement before, whoever sent that. "" if that is not known or every entry
// names its own, as MariaDB's.
func schemaBefore(ctx context.Context, h host.Host, file string, at int64) (string, error) {
	if at <= 0 {
		return "", nil
	}
	text, err := io.ReadAll(&pieces{ctx: ctx, h: h, file: file, at: max(at-lookBack, 0), end: at})
	if err != nil {
		return "", fmt.Errorf("read slow log %s: %w", file, err)
	}
	all := useLine.FindAll(text, -1)
	if len(all) == 0 || schemaHeader.Match(text) {
		return "", nil
	}
	return fmt.Sprintf("# Time: 1970-01-01T00:00:00.000000Z\n# User@Host: nobody[nobody] @ localhost []  Id: %d\n"+
		"# Query_time: 0.000000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n%s\nSET timestamp=0;\nDO 0;\n", nobody, all[len(all)-1]), nil
}

// pieces reads a part of a file on a host by dd(1), 8 MiB at a time.
type pieces struct {
	ctx     context.Context
	h       host.Host
	file    string
	at, end int64
	buf     []byte
}

const pieceSize = 8 << 20

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.buf) == 0 {
		n := min(p.end-p.at, pieceSize)
		if n <= 0 {
			return 0, io.EOF
		}
		res, err := p.h.Run(p.ctx, host.Command{Argv: []string{"dd", "if=" + p.file, "bs=64K", "iflag=skip_bytes,count_bytes,fullblock",
			"skip=" + strconv.FormatInt(p.at, 10), "count=" + strconv.FormatInt(n, 10), "status=none"}, Timeout: time.Minute})
		if err != nil {
			return 0, err
		}
		if res.ExitCode != 0 {
			return 0, fmt.Errorf("dd: %s", strings.TrimSpace(string(res.Stderr)))
		}
		if len(res.Stdout) == 0 {
			return 0, io.EOF
		}
		p.buf = res.Stdout
		p.at += int64(len(res.Stdout))
	}
	n := copy(b, p.buf)
	p.buf = p.buf[n:]
	return n, nil
}
