package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kasoku/internal/evidence"
)

// kept is what was measured of a seed.
type kept struct {
	Drawn      string // hash of the schema, its statements and candidates
	Tables     []evidence.Table
	Statements []evidence.Statement
	Descending bool
	Best       []index
	Searched   bool
	Observed   int                // observeVersion
	Reads      map[string]float64 // by statement and usable indexes: rows
	Bytes      map[string]int64   // by index
}

// searchVersion changes with the way of searching: what was found in another is not used.
const searchVersion = 2

// observeVersion changes with what is read of a server: it is read again then.
const observeVersion = 5

func (s *schema) drawn(descent float64) string {
	sum := sha256.New()
	for _, t := range s.tables {
		fmt.Fprintln(sum, t.ddl())
	}
	fmt.Fprintf(sum, "%+v %+v %d %d", s.stmts, s.candidates(), instances, searchVersion)
	if descent != 1 {
		fmt.Fprint(sum, descent)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func keptFile(folder string, seed int64) string {
	return filepath.Join(folder, fmt.Sprintf("%d.json", seed))
}

// readKept is empty where nothing was kept, or of another drawing of the seed.
func readKept(folder string, s *schema, descent float64) (*kept, error) {
	empty := &kept{Drawn: s.drawn(descent), Reads: map[string]float64{}, Bytes: map[string]int64{}}
	text, err := os.ReadFile(keptFile(folder, s.seed))
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it", keptFile(folder, s.seed), err)
	}
	if k.Drawn != empty.Drawn {
		return empty, nil
	}
	return &k, nil
}

// write keeps k: whole or not at all.
func (k *kept) write(folder string, seed int64) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	name := keptFile(folder, seed)
	if err := os.WriteFile(name+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
