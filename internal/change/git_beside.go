package change

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// held are those of the files, relative to the checkout, that the journal has changed and
// that are still as it left them.
func (a *gitAct) held(ctx context.Context, files []string) ([]string, error) {
	var out []string
	for _, file := range files {
		path := filepath.Join(a.c.Git.Dir, file)
		left, ok := a.x.journal.leaves(a.c.Host, path)
		if !ok {
			continue
		}
		now, err := (&fileAct{a.work}).readPath(ctx, path)
		if err != nil {
			return nil, err
		}
		if now.Hash == left {
			out = append(out, file)
		}
	}
	return out, nil
}

// edited are the files of the checkout, relative to it, that changes in force have edited,
// and those that this transaction edits before.
func (a *gitAct) edited() []string {
	var out []string
	of := func(c *Change) {
		if file, ok := strings.CutPrefix(c.Path, a.c.Git.Dir+"/"); ok && c.Kind == KindFile && c.hostName() == a.c.hostName() {
			out = append(out, file)
		}
	}
	for _, t := range a.x.journal.txs {
		for i := range t.Changes {
			if t.InForce() || t.Pending() {
				of(&t.Changes[i])
			}
		}
	}
	for i := range a.i {
		of(&a.t.Changes[i])
	}
	return out
}

// leaves is what the changes in force leave of a file, as a hash ("": it is not there);
// false if none changes it.
func (j *journal) leaves(hostName, path string) (left host.Hash, ok bool) {
	object := (&Change{Kind: KindFile, Host: hostName, Path: path}).object()
	for _, t := range j.txs {
		if !t.InForce() && !t.Pending() {
			continue
		}
		for i := range t.Changes {
			if c := &t.Changes[i]; c.Kind == KindFile && c.After != nil && c.object() == object {
				left, ok = c.After.Hash, true
			}
		}
	}
	return left, ok
}

// HeldFiles are the files of a host that those of the transactions have changed that are in
// force.
func HeldFiles(txs []Tx, hostName string) []string {
	var out []string
	for _, t := range txs {
		for i := range t.Changes {
			if c := &t.Changes[i]; t.InForce() && c.Kind == KindFile && c.hostName() == hostName {
				out = append(out, c.Path)
			}
		}
	}
	return out
}

// unexpected are the dirty files outside the products that no other change of Kasoku's
// holds.
func (a *gitAct) unexpected(dirty []string) []string {
	return slices.DeleteFunc(slices.Clone(dirty), func(file string) bool {
		return slices.Contains(a.c.Git.Beside, file) || slices.ContainsFunc(a.c.Git.Products, func(p string) bool {
			return file == p || strings.HasPrefix(file, p+"/")
		})
	})
}
