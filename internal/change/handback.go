package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"kasoku/internal/host"
)

// Handback writes a file of the judge's own back as it was, whatever is there
// now: kasoku.yaml or a scenario that a proposal has changed. It is not
// journaled, because it is no change of the target that could be undone.
func Handback(ctx context.Context, h host.Host, path string, was FileState) error {
	r := host.Replace{Mode: was.Mode.Perm(), UID: was.UID, GID: was.GID, ModTime: was.ModTime}
	now, err := h.ReadFile(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("write %s back: %w", path, err)
	default:
		r.Expect = host.HashOf(now)
	}
	if err := h.ReplaceFile(ctx, path, was.Content, r); err != nil {
		return fmt.Errorf("write %s back: %w", path, err)
	}
	return nil
}
