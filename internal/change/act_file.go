package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/host"
)

// fileAct creates or replaces one file.
type fileAct struct{ work }

// defaultMode of a created file if the plan gives none.
const defaultMode fs.FileMode = 0o644

func (a *fileAct) prepare(ctx context.Context) ([][]byte, error) {
	c := a.c
	if !filepath.IsAbs(c.Path) || filepath.Clean(c.Path) != c.Path {
		return nil, fmt.Errorf("edit %q: the path must be absolute and clean", c.Path)
	}
	if c.After == nil || c.After.Content == nil && c.After.Hash == "" {
		return nil, fmt.Errorf("edit %s: the plan has no new bytes for it", c.Path)
	}
	after := *c.After
	after.ModTime = time.Time{} // the time of writing
	if after.Content == nil {   // a change out of the journal, applied again
		b, err := a.x.journal.loadBlob(after.Hash)
		if err != nil {
			return nil, fmt.Errorf("edit %s: %w", c.Path, err)
		}
		after.Content = b
	}
	if h := host.HashOf(after.Content); after.Hash == "" {
		after.Hash = h
	} else if after.Hash != h {
		return nil, fmt.Errorf("edit %s: the plan's new bytes do not have the plan's hash", c.Path)
	}
	planned := hashOf(c.Before)
	if earlier := a.earlier(); earlier != nil { // this transaction edits it twice
		if earlier.Hash != planned {
			return nil, fmt.Errorf("edit %s: %w: an earlier edit in this plan leads to other bytes", c.Path, ErrChanged)
		}
		before := *earlier
		after.Mode, after.UID, after.GID = before.Mode, before.UID, before.GID
		c.Before, c.After = &before, &after
		return [][]byte{before.Content, after.Content}, nil
	}
	before, err := a.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	if before.Hash != planned {
		return nil, fmt.Errorf("edit %s: %w: it is %s, the plan saw %s", c.Path, ErrChanged, short(string(before.Hash)), short(string(planned)))
	}
	blobs := [][]byte{after.Content}
	if before.Hash != "" {
		after.Mode, after.UID, after.GID = before.Mode, before.UID, before.GID
		blobs = append(blobs, before.Content)
	} else if after.Mode &= modeBits; after.Mode == 0 {
		after.Mode = defaultMode
	}
	c.Before, c.After = &before, &after
	return blobs, nil
}

// earlier returns what an earlier change of the same transaction makes of the
// file, nil if there is none.
func (a *fileAct) earlier() *FileState {
	for i := a.i - 1; i >= 0; i-- {
		if o := &a.t.Changes[i]; o.Kind == KindFile && o.object() == a.c.object() {
			s := *o.After
			return &s
		}
	}
	return nil
}

// read returns the file as it is; an empty hash if it does not exist.
func (a *fileAct) read(ctx context.Context) (FileState, error) { return a.readPath(ctx, a.c.Path) }

// readPath does the same for any file.
func (a *fileAct) readPath(ctx context.Context, path string) (FileState, error) {
	_, info, err := resolve(ctx, a.h, path)
	if errors.Is(err, fs.ErrNotExist) {
		return FileState{}, nil
	}
	if err != nil {
		return FileState{}, err
	}
	b, err := a.h.ReadFile(ctx, path)
	if err != nil {
		return FileState{}, err
	}
	return FileState{Hash: host.HashOf(b), Content: b, Mode: info.Mode & modeBits, UID: info.UID, GID: info.GID, ModTime: info.ModTime}, nil
}

// resolve follows symlinks at the last step of path. If the end does not
// exist, the error is fs.ErrNotExist and the path is where it would be.
func resolve(ctx context.Context, h host.Host, path string) (string, host.FileInfo, error) {
	for range 40 { // as many as the kernel follows
		info, err := h.Stat(ctx, path)
		if err != nil || info.Mode&fs.ModeSymlink == 0 {
			return path, info, err
		}
		target := info.Target
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", host.FileInfo{}, fmt.Errorf("%s: too many symlinks", path)
}

func (a *fileAct) look(ctx context.Context) (sight, error) {
	now, err := a.read(ctx)
	if err != nil {
		return sight{}, err
	}
	before, after := a.c.Before, a.c.After
	s := sight{before: now.Hash == before.Hash, after: now.Hash == after.Hash, got: string(now.Hash)}
	want := after
	if s.before {
		want = before
	}
	if now.Hash != "" && (s.before || s.after) {
		s.attrs = differingAttrs(*want, now)
	}
	return s, nil
}

// differingAttrs says how mode and owner differ; "" if they do not.
func differingAttrs(want, got FileState) string {
	var out []string
	if want.Mode&modeBits != got.Mode&modeBits {
		out = append(out, fmt.Sprintf("mode %s instead of %s", octal(got.Mode), octal(want.Mode)))
	}
	if want.UID != got.UID && want.UID >= 0 || want.GID != got.GID && want.GID >= 0 {
		out = append(out, fmt.Sprintf("owner %d:%d instead of %d:%d", got.UID, got.GID, want.UID, want.GID))
	}
	return strings.Join(out, ", ")
}

func (a *fileAct) write(ctx context.Context) (string, error) {
	content := a.c.After.Content
	if content == nil {
		var err error
		if content, err = a.x.journal.loadBlob(a.c.After.Hash); err != nil {
			return "", err
		}
	}
	after := a.c.After
	r := host.Replace{Expect: a.c.Before.Hash, Mode: after.Mode, UID: after.UID, GID: after.GID}
	if a.c.SameTime {
		r.ModTime = a.x.times[a.version()]
	}
	return "", a.h.ReplaceFile(ctx, a.c.Path, content, r)
}

// version names the bytes that the change writes, and where.
func (a *fileAct) version() string { return a.c.object() + " " + string(a.c.After.Hash) }

// noteTime keeps the time that the file has had since it was written.
func (a *fileAct) noteTime(ctx context.Context) error {
	now, err := a.read(ctx)
	if err == nil && now.Hash == a.c.After.Hash {
		a.x.times[a.version()] = now.ModTime
	}
	return err
}

func (a *fileAct) restore(ctx context.Context) error {
	before := a.c.Before
	if a.c.SameTime {
		if err := a.noteTime(ctx); err != nil {
			return err
		}
	}
	if before.Hash == "" {
		return a.h.Remove(ctx, a.c.Path, a.c.After.Hash)
	}
	b, err := a.x.journal.loadBlob(before.Hash)
	if err != nil {
		return err
	}
	if err := a.h.ReplaceFile(ctx, a.c.Path, b, host.Replace{Expect: a.c.After.Hash,
		Mode: before.Mode, UID: before.UID, GID: before.GID, ModTime: before.ModTime}); err != nil {
		return err
	}
	if before.ModTime.IsZero() { // the result of an earlier edit in this transaction
		return nil
	}
	_, info, err := resolve(ctx, a.h, a.c.Path)
	if err == nil && !info.ModTime.Equal(before.ModTime) {
		err = fmt.Errorf("%s: its time is %s after it was put back, it was %s before", a.c.Path, info.ModTime, before.ModTime)
	}
	return err
}

// sweep removes half-written copies that a kill left beside the file.
func (a *fileAct) sweep(ctx context.Context) error {
	real, _, err := resolve(ctx, a.h, a.c.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := a.h.List(ctx, filepath.Dir(real))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // in a directory that is not made yet, or no longer there
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(filepath.Base(e.Path), host.TempPrefix(real)) || !e.Mode.IsRegular() {
			continue
		}
		b, err := a.h.ReadFile(ctx, e.Path)
		if err == nil {
			err = a.h.Remove(ctx, e.Path, host.HashOf(b))
		}
		if err != nil {
			return fmt.Errorf("remove a half-written copy: %w", err)
		}
	}
	return nil
}

func (a *fileAct) conflict(s sight) *ConflictError {
	e := a.differs(string(a.c.Before.Hash), string(a.c.After.Hash), s.got)
	if a.c.Before.Hash != "" {
		e.Blob = a.x.journal.blobPath(a.c.Before.Hash)
	}
	return e
}
