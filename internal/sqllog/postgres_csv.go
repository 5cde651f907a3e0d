package sqllog

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// CSVRecords reads comma-separated values (RFC 4180; any delimiter) and calls
// each for every record, with the number of the line that it begins in. A value
// is cut after 2 × MaxStatement bytes, so memory stays bounded; the slice is
// used again. Errors are those of r and each.
func CSVRecords(r io.Reader, comma byte, each func(record []string, line int64) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var record []string
	var value []byte
	var quoted, any, was bool
	line, began := int64(1), int64(1)
	end := func() {
		record = append(record, string(value))
		value, was = value[:0], false
	}
	for {
		c, err := br.ReadByte()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		switch {
		case err != nil:
			if any {
				end()
				return each(record, began)
			}
			return nil
		case quoted && c == '"':
			quoted, was = false, true
			continue
		case !quoted && c == '"' && was: // doubled
			quoted = true
		case !quoted && c == '"' && len(value) == 0:
			quoted, any = true, true
			continue
		case !quoted && c == comma:
			any = true
			if len(record) < 256 {
				end()
			}
			continue
		case !quoted && c == '\n':
			if any {
				value = []byte(strings.TrimSuffix(string(value), "\r"))
				end()
				if err := each(record, began); err != nil {
					return err
				}
			}
			record, any = record[:0], false
			line++
			began = line
			continue
		}
		if c == '\n' {
			line++
		}
		was, any = false, any || c != '\r'
		if len(value) < 2*MaxStatement {
			value = append(value, c)
		}
	}
}

// Columns of csvlog (PostgreSQL manual, "Using CSV-Format Log Output"); later
// versions have more after them.
const (
	csvTime     = 0
	csvDatabase = 2
	csvProcess  = 3
	csvSeverity = 11
	csvMessage  = 13
	csvLeast    = 22 // columns of version 8.3; 9.0 has 23
)

// ParsePostgresCSV reads PostgreSQL's csvlog. It returns how many records are
// none of it and the line of the first.
func ParsePostgresCSV(r io.Reader, each func(*PostgresMessage) error) (bad, first int64, err error) {
	err = CSVRecords(r, ',', func(f []string, line int64) error {
		m, ok := postgresRecord(f)
		if !ok {
			if bad++; bad == 1 {
				first = line
			}
			return nil
		}
		return each(m)
	})
	return bad, first, err
}

func postgresRecord(f []string) (*PostgresMessage, bool) {
	if len(f) < csvLeast || f[csvSeverity] == "" {
		return nil, false
	}
	m := &PostgresMessage{Process: f[csvProcess], Database: f[csvDatabase], Severity: f[csvSeverity], Text: f[csvMessage]}
	g := postgresTime.FindStringSubmatch(f[csvTime])
	if g == nil {
		return nil, false
	}
	m.Time, m.Zone = PostgresTime(g[1]+" "+g[2], g[3])
	return m, true
}

// ParsePostgresJSON reads PostgreSQL's jsonlog (from version 15 on). It returns
// how many lines are none of it and the number of the first.
func ParsePostgresJSON(r io.Reader, each func(*PostgresMessage) error) (bad, first int64, err error) {
	br := bufio.NewReaderSize(r, 64<<10)
	for n := int64(1); ; n++ {
		line, rerr := generalLine(br)
		if rerr != nil && !errors.Is(rerr, io.EOF) {
			return bad, first, rerr
		}
		var v struct {
			Time     string      `json:"timestamp"`
			Database string      `json:"dbname"`
			Process  json.Number `json:"pid"`
			Severity string      `json:"error_severity"`
			Message  string      `json:"message"`
		}
		if len(line) > 0 {
			jerr := json.Unmarshal(line, &v)
			g := postgresTime.FindStringSubmatch(v.Time)
			if jerr != nil || g == nil || v.Severity == "" {
				if bad++; bad == 1 {
					first = n
				}
			} else {
				m := PostgresMessage{Process: v.Process.String(), Database: v.Database, Severity: v.Severity, Text: v.Message}
				m.Time, m.Zone = PostgresTime(g[1]+" "+g[2], g[3])
				if err := each(&m); err != nil {
					return bad, first, err
				}
			}
		}
		if rerr != nil {
			return bad, first, nil
		}
	}
}
