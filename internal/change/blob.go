package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kasoku/internal/host"
)

func (j *journal) blobDir() string { return filepath.Join(j.dir, "blobs") }

// blobPath is the file that holds the bytes with this hash.
func (j *journal) blobPath(h host.Hash) string { return filepath.Join(j.blobDir(), string(h)) }

// sweepBlobs removes half-written blobs of a killed Kasoku. The lease says that
// nobody else is writing here.
func (j *journal) sweepBlobs() {
	debris, _ := filepath.Glob(filepath.Join(j.blobDir(), ".kasoku-*")) // the pattern is well-formed
	for _, path := range debris {
		os.Remove(path) // another day will do as well
	}
}

// saveBlob stores bytes durably under their hash.
func (j *journal) saveBlob(ctx context.Context, b []byte) error {
	h := host.HashOf(b)
	err := j.host.ReplaceFile(ctx, j.blobPath(h), b, host.Replace{Mode: 0o600, UID: -1, GID: -1})
	if errors.Is(err, host.ErrChanged) { // it is there already
		_, err = j.loadBlob(h)
	}
	if err != nil {
		return fmt.Errorf("journal: save the bytes from before: %w", err)
	}
	return nil
}

// loadBlob returns the bytes with this hash and checks them.
func (j *journal) loadBlob(h host.Hash) ([]byte, error) {
	b, err := os.ReadFile(j.blobPath(h))
	if err != nil {
		return nil, fmt.Errorf("journal: load saved bytes: %w", err)
	}
	if got := host.HashOf(b); got != h {
		return nil, fmt.Errorf("journal: %s is damaged: its hash is %.12s", j.blobPath(h), got)
	}
	return b, nil
}

// Blob returns the bytes of a file as the journal keeps them, by hash.
func (x *Executor) Blob(h host.Hash) ([]byte, error) { return x.journal.loadBlob(h) }
