package change

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"kasoku/internal/host"
)

// blobsOf are the saved bytes that a transaction needs on a host: those of its
// changes there.
func (g *target) blobsOf(t *txn) []host.Hash {
	var out []host.Hash
	for i := range t.Changes {
		c := &t.Changes[i]
		if g.x.hostOf(c) != g.name {
			continue
		}
		out = append(out, c.savedBytes()...)
	}
	return out
}

// savedBytes are the hashes of all bytes that undoing a change may need.
func (c *Change) savedBytes() []host.Hash {
	var out []host.Hash
	for _, s := range []*FileState{c.Before, c.After} {
		if h := hashOf(s); h != "" {
			out = append(out, h)
		}
	}
	if c.Package != nil {
		for i := range c.Package.Files {
			if h := c.Package.Files[i].File.Hash; h != "" {
				out = append(out, h)
			}
		}
	}
	if c.Git != nil {
		for _, h := range []host.Hash{c.Git.PatchHash, c.Git.Saved} {
			if h != "" {
				out = append(out, h)
			}
		}
	}
	if c.Ready != nil && c.Ready.Saved != "" {
		out = append(out, c.Ready.Saved)
	}
	return out
}

// sendBlobs copies saved bytes to the host. Files of other hosts stay away from
// it: they may hold secrets that are not its own.
func (g *target) sendBlobs(ctx context.Context, t *txn) error {
	if g.blobs == nil {
		have, err := g.h.List(ctx, filepath.Join(JournalDir(g.dir), "blobs"))
		if err != nil {
			return fmt.Errorf("list saved bytes: %w", err)
		}
		g.blobs = map[host.Hash]bool{}
		for _, e := range have {
			g.blobs[host.Hash(filepath.Base(e.Path))] = true
		}
	}
	for _, h := range g.blobsOf(t) {
		if g.blobs[h] {
			continue
		}
		b, err := g.x.journal.loadBlob(h)
		if err != nil {
			return err
		}
		err = g.h.ReplaceFile(ctx, g.blobPath(h), b, host.Replace{Mode: 0o600, UID: -1, GID: -1})
		if err != nil && !errors.Is(err, host.ErrChanged) {
			return fmt.Errorf("save the bytes from before: %w", err)
		}
		g.blobs[h] = true
	}
	return nil
}

func (g *target) blobPath(h host.Hash) string {
	return filepath.Join(JournalDir(g.dir), "blobs", string(h))
}

// exchangeBlobs makes sure that whatever is in force can be undone from either
// copy: what only one of them has goes to the other.
func (g *target) exchangeBlobs(ctx context.Context) error {
	for _, t := range g.x.journal.txs {
		if !t.Pending() && t.State != StateKept {
			continue
		}
		for _, h := range g.blobsOf(t) {
			if _, err := g.x.journal.loadBlob(h); err == nil {
				continue
			}
			b, err := g.h.ReadFile(ctx, g.blobPath(h))
			if err != nil {
				return fmt.Errorf("the bytes from before %q are neither here nor on host %s: %w", t.Title, g.name, err)
			}
			if host.HashOf(b) != h {
				return fmt.Errorf("host %s: %s is damaged", g.name, g.blobPath(h))
			}
			if err := g.x.journal.saveBlob(ctx, b); err != nil {
				return err
			}
		}
		if len(g.blobsOf(t)) > 0 {
			if err := g.sendBlobs(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}
