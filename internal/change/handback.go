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
	info, err := h.Stat(ctx, path)
	if err != nil {
		return fmt.Errorf("write %s back: %w", path, err)
	}
	// A file that is replaced keeps the mode and owner that it has.
	var argvs [][]string
	if info.UID != was.UID || info.GID != was.GID {
		argvs = append(argvs, []string{"chown", "--", fmt.Sprintf("%d:%d", was.UID, was.GID), path})
	}
	if info.Mode.Perm() != was.Mode.Perm() {
		argvs = append(argvs, []string{"chmod", "--", fmt.Sprintf("%o", was.Mode.Perm()), path})
	}
	for _, argv := range argvs {
		r, err := h.Run(ctx, host.Command{Argv: argv})
		if err == nil && r.ExitCode != 0 {
			err = errors.New(tail(r))
		}
		if err != nil {
			return fmt.Errorf("write %s back: %s: %w", path, argv[0], err)
		}
	}
	return nil
}
