package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// dirAct creates one directory: one of Kasoku's own, whose name begins with
// "kasoku", or the folder of a unit's drop-ins (dropinDir). Undo removes the
// first with all that services have put into it, the second only if it is
// empty, and neither if it was there before.
type dirAct struct{ work }

// defaultDirMode of a created directory if the plan gives none.
const defaultDirMode fs.FileMode = 0o755

// dropinDir reports whether p is the administrator's folder of drop-ins of a
// unit, which others may put files into as well (systemd.unit(5)). It need not
// be there before; then undo takes it away again.
func dropinDir(p string) bool {
	name, ok := strings.CutSuffix(path.Base(p), ".d")
	return ok && path.Dir(p) == systemdDir && strings.Contains(name, ".") && unitName.MatchString(name)
}

func (a *dirAct) prepare(ctx context.Context) ([][]byte, error) {
	c := a.c
	if !filepath.IsAbs(c.Path) || filepath.Clean(c.Path) != c.Path || !strings.HasPrefix(filepath.Base(c.Path), "kasoku") && !dropinDir(c.Path) {
		return nil, fmt.Errorf("make directory %q: the path must be absolute and its last part begin with kasoku, because undo removes it with all its content; or it must be a unit's folder of drop-ins in %s", c.Path, systemdDir)
	}
	after := FileState{UID: -1, GID: -1}
	if c.After != nil {
		after = *c.After
	}
	if after.Mode &= modeBits; after.Mode == 0 {
		after.Mode = defaultDirMode
	}
	c.Before, c.After = &FileState{}, &after
	if dropinDir(c.Path) {
		now, err := a.found(ctx)
		if err != nil || now != nil {
			if now != nil {
				// It stays as it is, with the mode and owner that it has.
				c.Before, c.After = now, now
			}
			return nil, err
		}
	}
	s, err := a.look(ctx)
	if err == nil && !s.before {
		err = fmt.Errorf("make directory %s: %w: %s is there already", c.Path, ErrChanged, s.got)
	}
	return nil, err
}

// found is the directory as it is; nil if there is none, or something else.
func (a *dirAct) found(ctx context.Context) (*FileState, error) {
	info, err := a.h.Stat(ctx, a.c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode.IsDir():
		return nil, nil
	}
	return &FileState{Mode: info.Mode & modeBits, UID: info.UID, GID: info.GID}, nil
}

// there reports whether the plan found the directory already.
func (a *dirAct) there() bool { return a.c.Before != nil && a.c.Before.Mode != 0 }

func (a *dirAct) look(ctx context.Context) (sight, error) {
	info, err := a.h.Stat(ctx, a.c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sight{before: !a.there(), got: "nothing"}, nil
	case err != nil:
		return sight{}, err
	case !info.Mode.IsDir():
		return sight{got: "something that is no directory"}, nil
	}
	now := FileState{Mode: info.Mode & modeBits, UID: info.UID, GID: info.GID}
	s := sight{before: a.there(), after: true, got: "a directory", attrs: differingAttrs(*a.c.After, now)}
	if dropinDir(a.c.Path) && !s.before {
		// With only others' files in it there is nothing to take back.
		theirs, ours, err := a.content(ctx)
		if err != nil {
			return sight{}, err
		}
		s.before = theirs > 0 && ours == 0
	}
	return s, nil
}

// content counts what lies in the directory: files that Kasoku has put there,
// or was to, and all else.
func (a *dirAct) content(ctx context.Context) (theirs, ours int, err error) {
	entries, err := a.h.List(ctx, a.c.Path)
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		file := Change{Kind: KindFile, Host: a.c.Host, Path: path.Join(a.c.Path, path.Base(e.Path))}
		if a.journaled(file.object()) {
			ours++
		} else {
			theirs++
		}
	}
	return theirs, ours, nil
}

// journaled reports whether the journal has a file of that name as Kasoku's.
func (a *dirAct) journaled(object string) bool {
	return slices.ContainsFunc(a.x.journal.txs, func(t *txn) bool {
		return slices.ContainsFunc(t.Changes, func(c Change) bool { return c.Kind == KindFile && c.object() == object })
	})
}

func (a *dirAct) write(ctx context.Context) (string, error) {
	if a.there() {
		return "", nil
	}
	err := a.h.MakeDir(ctx, a.c.Path, a.c.After.Mode, a.c.After.UID, a.c.After.GID)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return "", err
}

// restore removes the directory with what services put into it; but a file that
// Kasoku itself has put there, or was to, is gone by then, unless someone else
// has changed it: then it all stays. Of a unit's drop-ins nothing is removed
// but the empty folder.
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
	if !dropinDir(a.c.Path) {
		return a.h.RemoveDir(ctx, a.c.Path)
	}
	r, err := a.h.Run(ctx, host.Command{Argv: []string{"rmdir", "--", a.c.Path}, Env: []string{"LC_ALL=C"}})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("remove the empty folder %s: %s", a.c.Path, tail(r))
	}
	return err
}

func (a *dirAct) conflict(s sight) *ConflictError { return a.differs("nothing", "a directory", s.got) }
