package capacity

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxTable bytes and maxRows of a table; measured levels are few.
	maxTable = 1 << 20
	maxRows  = 10_000
	// maxN of hosts, workers or users.
	maxN = 1_000_000
)

// columnNames are the names that a table's columns may have, and what they are.
var columnNames = map[string]string{
	"hosts": "hosts", "machines": "hosts", "servers": "hosts", "nodes": "hosts", "instances": "hosts",
	"workers": "workers", "processes": "workers", "threads": "workers",
	"users": "users", "connections": "users", "concurrency": "users", "clients": "users",
	"rate": "rate", "per_second": "rate", "throughput": "rate", "requests_per_second": "rate", "rps": "rate",
	Latency: Latency, "mean": "mean", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "max": "max",
	"errors": "errors", "apdex": "apdex",
}

// ReadTable reads levels: CSV with a header line, or JSON, a list of objects (or
// {"levels": […]}). Each row has hosts, workers or users, and rate: right answers
// per second that they carried. Further columns are latencies with their unit
// (180ms), errors (0.1%) and apdex. name is for messages.
//
// Of hosts, workers and users, the one that varies is what is counted; hosts
// may vary together with users, which are then the load that each was given.
func ReadTable(r io.Reader, name string) (*Measured, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxTable+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxTable {
		return nil, fmt.Errorf("%s is longer than %d bytes; a table of levels is short", name, maxTable)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var t *table
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && (trimmed[0] == '[' || trimmed[0] == '{') {
		t, err = readJSON(trimmed)
	} else {
		t, err = readCSV(text)
	}
	if err == nil {
		var m *Measured
		if m, err = t.measured(name); err == nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// table is rows of cells by the column's name.
type table struct {
	rows []map[string]string
	// place is a row's, for people: "line 3", "element 2".
	place func(row int) string
}

var errEmpty = errors.New("there is no level; write a header line and one line for each, for example hosts,rate and 1,480")

func readCSV(text []byte) (*table, error) {
	in := csv.NewReader(bytes.NewReader(text))
	in.Comment, in.TrimLeadingSpace = '#', true
	head, err := in.Read()
	if err == io.EOF {
		return nil, errEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("the header line: %w", err)
	}
	names := make([]string, len(head))
	for i, h := range head {
		if names[i], err = columnName(h); err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], names[i]) {
			return nil, fmt.Errorf("two columns are called %s; keep one", names[i])
		}
	}
	t := &table{}
	var lines []int
	for {
		cells, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err // says the line
		}
		line, _ := in.FieldPos(0)
		row := map[string]string{}
		for i, c := range cells {
			row[names[i]] = strings.TrimSpace(c)
		}
		t.rows, lines = append(t.rows, row), append(lines, line)
		if len(t.rows) > maxRows {
			return nil, fmt.Errorf("there are more than %d rows", maxRows)
		}
	}
	t.place = func(i int) string { return fmt.Sprintf("line %d", lines[i]) }
	return t, nil
}

func columnName(text string) (string, error) {
	name, ok := columnNames[strings.ToLower(strings.TrimSpace(text))]
	if !ok {
		return "", fmt.Errorf("%q is no column; there are hosts, workers, users, rate, %s, %s, errors and apdex", text, Latency, strings.Join(latencies, ", "))
	}
	return name, nil
}

func readJSON(text []byte) (*table, error) {
	var rows []map[string]any
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var err error
	if text[0] == '{' {
		var whole struct {
			Levels []map[string]any `json:"levels"`
		}
		err = in.Decode(&whole)
		rows = whole.Levels
	} else {
		err = in.Decode(&rows)
	}
	if err == nil && in.More() {
		err = errors.New("something stands behind the list")
	}
	if err != nil {
		return nil, fmt.Errorf(`it is no JSON list of levels: %w; write for example [{"hosts": 1, "rate": 480}]`, err)
	}
	if len(rows) > maxRows {
		return nil, fmt.Errorf("there are more than %d rows", maxRows)
	}
	t := &table{place: func(i int) string { return fmt.Sprintf("element %d", i+1) }}
	for i, row := range rows {
		cells := map[string]string{}
		for key, v := range row {
			name, err := columnName(key)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.place(i), err)
			}
			if _, twice := cells[name]; twice {
				return nil, fmt.Errorf("%s: two keys mean %s; keep one", t.place(i), name)
			}
			switch v := v.(type) {
			case nil:
			case json.Number:
				cells[name] = v.String()
			case string:
				cells[name] = strings.TrimSpace(v)
			default:
				return nil, fmt.Errorf("%s: %s is neither a number nor a text", t.place(i), key)
			}
		}
		t.rows = append(t.rows, cells)
	}
	return t, nil
}

// measured turns cells into levels.
func (t *table) measured(name string) (*Measured, error) {
	if len(t.rows) == 0 {
		return nil, errEmpty
	}
	counts := map[string][]int{}
	m := &Measured{}
	for i, row := range t.rows {
		l := Level{Source: name + ", " + t.place(i), Figures: Figures{}}
		for _, column := range slices.Sorted(maps.Keys(row)) {
			cell := row[column]
			if cell == "" {
				continue
			}
			var err error
			switch Axis(column) {
			case Hosts, Workers, Users:
				var n int
				if n, err = strconv.Atoi(cell); err != nil || n < 1 || n > maxN {
					err = fmt.Errorf("write a whole number from 1 to %d", maxN)
				}
				counts[column] = append(counts[column], n)
				if column == string(Users) {
					l.Users = n
				}
			case "rate":
				if l.PerSecond, err = strconv.ParseFloat(cell, 64); err != nil || !(l.PerSecond > 0) || math.IsInf(l.PerSecond, 0) {
					err = errors.New("write right answers per second, above 0")
				}
			default:
				l.Figures[column], err = figure(column, cell)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s is %q; %w", t.place(i), column, cell, err)
			}
		}
		if l.PerSecond == 0 {
			return nil, fmt.Errorf("%s has no rate; write right answers per second", t.place(i))
		}
		m.Levels = append(m.Levels, l)
	}
	return m, m.count(counts)
}

// figure reads a latency, a share or an index.
func figure(column, cell string) (float64, error) {
	switch column {
	case "errors":
		number, _ := strings.CutSuffix(cell, "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return 0, errors.New("write a percentage, for example 0.1%")
		}
		return v, nil
	case "apdex":
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return 0, errors.New("write a number from 0 to 1")
		}
		return v, nil
	}
	d, err := time.ParseDuration(strings.ReplaceAll(cell, " ", ""))
	if err != nil || d <= 0 {
		return 0, errors.New("write a duration with its unit, for example 180ms")
	}
	return float64(d), nil
}

// count chooses the axis and fills in N.
func (m *Measured) count(counts map[string][]int) error {
	varies := func(column Axis) bool {
		return len(slices.Compact(slices.Sorted(slices.Values(counts[string(column)])))) > 1
	}
	for _, column := range slices.Sorted(maps.Keys(counts)) {
		if len(counts[column]) != len(m.Levels) {
			return fmt.Errorf("the column %s is empty in some rows; write a number in each, or leave the column out", column)
		}
	}
	switch {
	case len(counts) == 0:
		return errors.New("no column says how many; write hosts, workers or users beside rate")
	case varies(Hosts) && varies(Workers):
		return errors.New("hosts and workers both vary, so what brings how much cannot be told; keep rows in which one of them stays the same")
	}
	m.Axis = ""
	for _, column := range []Axis{Hosts, Workers, Users} { // the first that varies, or that is there
		if len(counts[string(column)]) > 0 && (varies(column) || m.Axis == "" && !varies(Hosts) && !varies(Workers) && !varies(Users)) {
			m.Axis = column
			break
		}
	}
	for i := range m.Levels {
		m.Levels[i].N = counts[string(m.Axis)][i]
	}
	if hosts := counts[string(Hosts)]; m.Axis != Hosts && len(hosts) > 0 {
		m.Hosts = hosts[0]
	}
	return nil
}
