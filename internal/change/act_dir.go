package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// dirAct creates one directory of Kasoku's own. Undo removes it with all that
// services have put into it, which is why its name must begin with "kasoku".
type dirAct struct{ work }

// defaultDirMode of a created directory if the plan gives none.
const defaultDirMode fs.FileMode = 0o755

func (a *dirAct) prepare(ctx context.Context) ([][]byte, error) {
	c := a.c
	if !filepath.IsAbs(c.Path) || filepath.Clean(c.Path) != c.Path || !strings.HasPrefix(filepath.Base(c.Path), "kasoku") {
		return nil, fmt.Errorf("make directory %q: the path must be absolute and its last part begin with kasoku, because undo removes it with all its content", c.Path)
	}
	after := FileState{UID: -1, GID: -1}
	if c.After != nil {
		after = *c.After
	}
	if after.Mode &= modeBits; after.Mode == 0 {
		after.Mode = defaultDirMode
	}
	c.Before, c.After = &FileState{}, &after
	s, err := a.look(ctx)
	if err == nil && !s.before {
		err = fmt.Errorf("make directory %s: %w: %s is there already", c.Path, ErrChanged, s.got)
	}
	return nil, err
}

func (a *dirAct) look(ctx context.Context) (sight, error) {
	info, err := a.h.Stat(ctx, a.c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sight{before: true, got: "nothing"}, nil
	case err != nil:
		return sight{}, err
	case !info.Mode.IsDir():
		return sight{got: "something that is no directory"}, nil
	}
	now := FileState{Mode: info.Mode & modeBits, UID: info.UID, GID: info.GID}
	return sight{after: true, got: "a directory", attrs: differingAttrs(*a.c.After, now)}, nil
}

func (a *dirAct) write(ctx context.Context) (string, error) {
	err := a.h.MakeDir(ctx, a.c.Path, a.c.After.Mode, a.c.After.UID, a.c.After.GID)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return "", err
}

// restore removes the directory with what services put into it; but a file that
// Kasoku itself has put there, or was to, is gone by then, unless someone else
// has changed it: then it all stays.
func (a *dirAct) restore(ctx context.Context) error {
	for _, t := range a.x.journal.txs {
		for i := range t.Changes {
			c := &t.Changes[i]
			if c.Kind != KindFile || !inside(c.object(), a.c.object()) {
				continue
			}
			if _, err := a.h.Stat(ctx, c.Path); err == nil {
				return a.conflict(sight{got: "a directory with someone else's " + c.Path})
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return a.h.RemoveDir(ctx, a.c.Path)
}

func (a *dirAct) conflict(s sight) *ConflictError { return a.differs("nothing", "a directory", s.got) }
