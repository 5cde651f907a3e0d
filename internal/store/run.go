package store

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
)

// SaveRun inserts the run and sets its ID, or updates it if it has one.
// Evidence and diagnosis are stored as gzipped JSON, statements as given: the
// collectors mask literals. Profiles' bytes become artifacts of the run.
func (s *Store) SaveRun(x *Run) error {
	nameProfiles(x.Evidence)
	if err := s.saveRun(x); err != nil {
		return err
	}
	return s.saveProfiles(x)
}

func (s *Store) saveRun(x *Run) error {
	ev, err := pack(x.Evidence)
	if err != nil {
		return fmt.Errorf("save run %q: evidence: %w", x.Label, err)
	}
	dg, err := pack(x.Diagnosis)
	if err != nil {
		return fmt.Errorf("save run %q: diagnosis: %w", x.Label, err)
	}
	scenario, workload := loadOf(x.Evidence)
	args := []any{x.Session, x.Step, x.Kind, string(x.Side), x.Label, stamp(x.Started), x.Score, x.Unfit, x.ConfigHash, ev, dg, scenario, workload}
	if x.ID == 0 {
		id, err := s.insert("save a run", `INSERT INTO runs (session, step, kind, side, label, started, score, unfit, config_hash, evidence, diagnosis, scenario, workload)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, args...)
		if err != nil {
			return err
		}
		x.ID = id
		return nil
	}
	return s.update("run", x.ID, `UPDATE runs SET session = ?, step = ?, kind = ?, side = ?, label = ?, started = ?, score = ?,
		unfit = ?, config_hash = ?, evidence = ?, diagnosis = ?, scenario = ?, workload = ? WHERE id = ?`, append(args, x.ID)...)
}

// Run returns one run with evidence and diagnosis, ErrNotFound (wrapped) if
// there is none.
func (s *Store) Run(id int64) (*Run, error) {
	row := s.db.QueryRow(`SELECT `+runColumns+`, evidence, diagnosis FROM runs WHERE id = ?`, id)
	var ev, dg []byte
	x, err := scanRun(row.Scan, &ev, &dg)
	if isNoRows(err) {
		return nil, s.missing("run", id)
	}
	operation := fmt.Sprintf("read run %d", id)
	if err != nil {
		return nil, s.fail(operation, err)
	}
	if x.Evidence, err = unpack[evidence.Evidence](ev); err != nil {
		return nil, s.fail(operation+": evidence", err)
	}
	if x.Diagnosis, err = unpack[diagnose.Diagnosis](dg); err != nil {
		return nil, s.fail(operation+": diagnosis", err)
	}
	return x, nil
}

// RunFilter selects runs; a zero field selects all.
type RunFilter struct {
	Session int64
	Step    int64
	Kind    string
	// Before leaves out runs from this ID on: the next page of a list.
	Before int64
	// Limit is the most runs to return; 0 = all.
	Limit int
}

// Runs returns runs, newest first, without evidence and diagnosis.
func (s *Store) Runs(f RunFilter) ([]Run, error) {
	var where []string
	var args []any
	add := func(on bool, column string, v any) {
		if on {
			where, args = append(where, column+" = ?"), append(args, v)
		}
	}
	add(f.Session != 0, "session", f.Session)
	add(f.Step != 0, "step", f.Step)
	add(f.Kind != "", "kind", f.Kind)
	if f.Before != 0 {
		where, args = append(where, "id < ?"), append(args, f.Before)
	}
	query := `SELECT ` + runColumns + ` FROM runs`
	if len(where) > 0 {
		query += ` WHERE ` + strings.Join(where, ` AND `)
	}
	rows, err := s.db.Query(query+` ORDER BY id DESC LIMIT ?`, append(args, every(f.Limit))...)
	if err != nil {
		return nil, s.fail("list runs", err)
	}
	defer rows.Close()
	var out []Run
	for rows.Next() {
		x, err := scanRun(rows.Scan)
		if err != nil {
			return nil, s.fail("list runs", err)
		}
		out = append(out, *x)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fail("list runs", err)
	}
	return out, nil
}

const runColumns = `id, session, step, kind, side, label, started, score, unfit, config_hash`

func scanRun(scan func(...any) error, more ...any) (*Run, error) {
	var x Run
	var side, started string
	dest := []any{&x.ID, &x.Session, &x.Step, &x.Kind, &side, &x.Label, &started, &x.Score, &x.Unfit, &x.ConfigHash}
	if err := scan(append(dest, more...)...); err != nil {
		return nil, err
	}
	x.Side = experiment.Side(side)
	t, err := time.Parse(time.RFC3339Nano, started)
	if err != nil {
		return nil, fmt.Errorf("start time of run %d: %w", x.ID, err)
	}
	x.Started = t
	return &x, nil
}

// pack is gzipped JSON; nil stays NULL.
func pack[T any](v *T) (any, error) {
	if v == nil {
		return sql.Null[[]byte]{}, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(v); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func unpack[T any](b []byte) (*T, error) {
	if b == nil {
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return nil, err
	}
	return v, nil
}
