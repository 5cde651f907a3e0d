package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kasoku/internal/host"
)

// errApart: journal and copy tell different stories.
var errApart = errors.New("the journal and its copy on the host tell different stories")

// byGuard marks lines that a host's guard wrote.
const byGuard = "guard"

// reconcile reads the host's copy first: what the host did by itself is taken
// into this journal, and then the copy is made its beginning again.
func (g *target) reconcile(ctx context.Context) error {
	path := filepath.Join(JournalDir(g.dir), journalFile)
	theirs, err := readOwn(ctx, g.h, path)
	if err != nil {
		return fmt.Errorf("read the journal's copy: %w", err)
	}
	ours, err := g.x.journal.from(0)
	if err != nil {
		return err
	}
	whole := theirs[:bytes.LastIndexByte(theirs, '\n')+1]
	common := commonLines(ours, whole)
	extra := whole[common:]
	if err := g.adopt(extra, int64(common) < int64(len(ours)), path); err != nil {
		return err
	}
	if g.size = int64(common); len(extra) > 0 || len(whole) < len(theirs) {
		if ours, err = g.x.journal.from(0); err != nil {
			return err
		}
		if err := g.h.ReplaceFile(ctx, path, ours, host.Replace{Expect: host.HashOf(theirs), Mode: 0o600, UID: -1, GID: -1}); err != nil {
			return fmt.Errorf("write the journal's copy: %w", err)
		}
		g.size = int64(len(ours))
	}
	return g.exchangeBlobs(ctx)
}

// commonLines is how many bytes at the beginning of both are the same whole
// lines.
func commonLines(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) {
		end := bytes.IndexByte(a[n:], '\n')
		if end < 0 || n+end+1 > len(b) || !bytes.Equal(a[n:n+end+1], b[n:n+end+1]) {
			break
		}
		n += end + 1
	}
	return n
}

// adopt takes the lines that only the copy has into the journal. Lines of the
// guard get a number of their own here. Lines of a controller may only follow
// where this journal ends, that is, if it has lost them.
func (g *target) adopt(extra []byte, diverged bool, path string) error {
	told := map[int64]bool{}
	for len(extra) > 0 {
		end := bytes.IndexByte(extra, '\n')
		r, err := parseRecord(extra[:end])
		if err != nil {
			return fmt.Errorf("journal %s on host %s: damaged: %w; move it away to go on without it", path, g.name, err)
		}
		extra = extra[end+1:]
		if r.By != byGuard && diverged {
			return fmt.Errorf("%w: from line %d on, %s on host %s is another than this one; it was written by %s. Was the .kasoku folder copied or restored? Move one of them away",
				errApart, r.N, path, g.name, readOwner(context.Background(), g.h, g.dir))
		}
		diverged = diverged || r.By == byGuard
		if t := g.x.journal.tx(r.Tx); r.By == byGuard && !g.x.journal.fits(r) {
			r = record{Op: opNoted, Tx: r.Tx, By: r.By, Host: r.Host, Time: r.Time,
				Error: fmt.Sprintf("host %s says %q, which does not fit here", g.name, r.Op)}
			if t == nil {
				r.Tx = 0
			}
		} else if r.By == byGuard && t != nil && !told[r.Tx] && (r.Op == opReverting || r.Op == opRestored) {
			told[r.Tx] = true
			g.x.warn("host %s put tx %d (%s) back by itself at %s: %s", g.name, t.ID, t.Title, r.Time.Format("2006-01-02 15:04:05 MST"), r.Error)
		}
		if err := g.x.journal.append(r); err != nil {
			return err
		}
		if r.Tx != 0 {
			g.adopted++
		}
	}
	return nil
}

// fits reports whether a line can follow here.
func (h *history) fits(r record) bool {
	if r.Tx == 0 {
		return r.Op == opArming || r.Op == opArmed || r.Op == opDisarmed || r.Op == opNoted
	}
	t := h.tx(r.Tx)
	if t == nil {
		return false
	}
	if r.Change != nil {
		return *r.Change >= 0 && *r.Change < len(t.Changes)
	}
	return t.Pending()
}

// FromTarget writes the journal in a .kasoku folder anew from the copy on a
// host, for the day when the controller's own is lost or damaged. base is
// Kasoku's folder there ("": the usual one), project the copy's ID, which may
// be left out if only one copy is of the stack called name. What was in the
// folder is moved to journal.damaged-… beside it. The next Open brings in what
// other hosts know.
func FromTarget(ctx context.Context, dir string, h host.Host, base, project, name string) error {
	if base == "" {
		r, err := h.Run(ctx, host.Command{Argv: []string{"sh", "-c", where}})
		if err != nil {
			return fmt.Errorf("find Kasoku's folder: %w", err)
		}
		first, _, _ := bytes.Cut(r.Stdout, []byte("\n"))
		base = string(first)
	}
	from, err := findCopy(ctx, h, base, project, name)
	if err != nil {
		return err
	}
	data, err := h.ReadFile(ctx, filepath.Join(JournalDir(from), journalFile))
	if err != nil {
		return fmt.Errorf("read the copy: %w", err)
	}
	past, good, err := replay(JournalDir(from), data)
	if err != nil {
		return err
	}
	local := host.NewLocal()
	unlock, err := lockFolder(ctx, local, dir)
	if err != nil {
		return err
	}
	j := &journal{dir: JournalDir(dir), host: local, history: *past}
	err = j.fill(ctx, h, JournalDir(from), data[:good])
	return errors.Join(err, unlock())
}

// fill writes a journal folder from a copy: the blobs first, then the lines,
// under a name that counts only when everything is there.
func (j *journal) fill(ctx context.Context, h host.Host, from string, lines []byte) error {
	if _, err := os.Lstat(j.dir); err == nil {
		aside := j.dir + ".damaged-" + newNonce()
		if err := os.Rename(j.dir, aside); err != nil {
			return fmt.Errorf("move the damaged journal away: %w", err)
		}
	}
	for _, d := range []string{j.dir, j.blobDir()} {
		if err := j.host.MakeDir(ctx, d, 0o700, -1, -1); err != nil {
			return err
		}
	}
	blobs, err := h.List(ctx, filepath.Join(from, "blobs"))
	if err != nil {
		return fmt.Errorf("read the copy: %w", err)
	}
	for _, e := range blobs {
		b, err := h.ReadFile(ctx, e.Path)
		if err != nil {
			return fmt.Errorf("read the copy: %w", err)
		}
		if string(host.HashOf(b)) != filepath.Base(e.Path) {
			continue // half-written, or damaged: Load says so when it is needed
		}
		if err := j.saveBlob(ctx, b); err != nil {
			return err
		}
	}
	if err := putFile(ctx, j.host, filepath.Join(j.dir, "README.txt"), readme); err != nil {
		return err
	}
	return putFile(ctx, j.host, filepath.Join(j.dir, journalFile), lines)
}

// findCopy returns the project's folder in Kasoku's folder on a host.
func findCopy(ctx context.Context, h host.Host, base, project, name string) (string, error) {
	entries, err := h.List(ctx, base)
	if err != nil {
		return "", fmt.Errorf("host %s has no copy of a journal: %w", h.Name(), err)
	}
	var found, all []string
	for _, e := range entries {
		o := readOwner(ctx, h, e.Path)
		if o.Project == "" {
			continue
		}
		all = append(all, fmt.Sprintf("%s (%q of %s)", o.Project, o.Name, o))
		if o.Project == project || project == "" && o.Name == name {
			found = append(found, e.Path)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return "", fmt.Errorf("host %s has %d copies that could be meant; name one by its ID: %q", h.Name(), len(found), all)
}
