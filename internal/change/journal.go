package change

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kasoku/internal/host"
)

// readme tells a person how to put things back without Kasoku.
//
//go:embed journal_readme.txt
var readme []byte

// file is what the journal needs of an os.File.
type file interface {
	io.Writer
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// journal is an append-only file of JSON lines and a folder of blobs. A line
// counts when it is synced, and a blob is synced before a line names it.
type journal struct {
	dir  string // .kasoku/journal
	host host.Host
	out  file
	size int64
	history
	// broken is set when a line may be there in part: nothing may follow it.
	broken error
}

const journalFile = "journal.jsonl"

// JournalDir is where the journal lies in a .kasoku folder.
func JournalDir(dir string) string { return filepath.Join(dir, "journal") }

// openJournal creates or reads the journal. A torn last line is cut off.
func openJournal(ctx context.Context, dir string, h host.Host) (*journal, error) {
	j := &journal{dir: JournalDir(dir), host: h}
	for _, d := range []string{j.dir, j.blobDir()} {
		// The bytes from before may hold passwords.
		if err := h.MakeDir(ctx, d, 0o700, -1, -1); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("open journal: %w", err)
		}
	}
	path := filepath.Join(j.dir, journalFile)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	past, good, err := replay(path, data)
	if err != nil {
		return nil, err
	}
	j.history = *past
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j.out, j.size = out, good
	j.sweepBlobs()
	if err := j.prepare(ctx, int64(len(data))); err != nil {
		out.Close()
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	return j, nil
}

// prepare cuts off a torn line and writes the first line and the README.
func (j *journal) prepare(ctx context.Context, size int64) error {
	if size > j.size {
		if err := errors.Join(j.out.Truncate(j.size), j.out.Sync()); err != nil {
			return fmt.Errorf("cut off a half-written line: %w", err)
		}
	}
	if j.lines > 0 {
		if j.format == version && j.project != "" {
			return nil
		}
		return j.append(record{Format: version, Project: newNonce()})
	}
	err := j.host.ReplaceFile(ctx, filepath.Join(j.dir, "README.txt"), readme, host.Replace{Mode: 0o600, UID: -1, GID: -1})
	if err != nil && !errors.Is(err, host.ErrChanged) {
		return err
	}
	if err := j.append(record{Format: version, Project: newNonce()}); err != nil {
		return err
	}
	d, err := os.Open(j.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// append writes one line durably and takes it into the history. After an
// error the journal is as it was before.
func (j *journal) append(r record) error {
	line, err := j.encode(&r)
	if err != nil {
		return err
	}
	return j.put(r, line)
}

// encode numbers a line. One that was written elsewhere keeps its time.
func (j *journal) encode(r *record) ([]byte, error) {
	if r.N = j.lines + 1; r.Time.IsZero() {
		r.Time = time.Now().UTC()
	}
	line, err := r.line()
	if err != nil {
		return nil, fmt.Errorf("journal: encode: %w", err)
	}
	return line, nil
}

// put writes an encoded line.
func (j *journal) put(r record, line []byte) error {
	if j.broken != nil {
		return fmt.Errorf("journal: an earlier line could not be taken back: %w", j.broken)
	}
	_, err := j.out.Write(line)
	if err == nil {
		err = j.out.Sync()
	}
	if err != nil {
		if e := j.out.Truncate(j.size); e != nil {
			j.broken = e
		}
		return fmt.Errorf("journal: write line %d to %s: %w", r.N, filepath.Join(j.dir, journalFile), err)
	}
	j.size += int64(len(line))
	if err := j.take(r); err != nil {
		return fmt.Errorf("journal: line %d: %w", r.N, err)
	}
	return nil
}

// Read returns all transactions of the journal in a .kasoku folder without
// taking the lease, so also while another Kasoku is at work.
func Read(dir string) ([]Tx, error) {
	path := filepath.Join(JournalDir(dir), journalFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	h, _, err := replay(path, data)
	if err != nil {
		return nil, err
	}
	var out []Tx
	for _, t := range h.txs {
		out = append(out, t.copy())
	}
	return out, nil
}
