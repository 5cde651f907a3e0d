package evidence

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"kasoku/internal/host"
	"kasoku/internal/knownapp"
	"kasoku/internal/stack"
)

// maxKnownFile bounds a file that tells an application or its settings, bytes.
const maxKnownFile = 1 << 20

// known tells which of the known applications is in an app's folder, and which
// of its settings are called for. Its files are looked at, not kept: only those
// of kasoku.yaml's settings become part of the snapshot.
func (t *taker) known(h host.Host, svc *stack.Service, r *fileReader) {
	if svc.Root == "" || t.opts.Brief {
		return
	}
	found := knownapp.Find(knownapp.Reader{
		Root: svc.Root,
		Read: func(relative string) ([]byte, error) {
			data, err := h.ReadFile(t.ctx, path.Join(svc.Root, relative))
			if err == nil && len(data) > maxKnownFile {
				err = errors.New("it is larger than any file of settings")
			}
			return data, err
		},
		Glob: func(pattern string) []string {
			files, err := r.glob(path.Join(svc.Root, pattern))
			if err != nil {
				return nil
			}
			return relativeTo(svc.Root, files)
		},
	})
	if found == nil {
		return
	}
	if t.snap.Known == nil {
		t.snap.Known = map[string]knownapp.Found{}
	}
	t.snap.Known[svc.Name] = *found
	t.good("application "+svc.Name, strings.TrimSpace(knownapp.ByID(found.ID).Name+" "+found.Version))
}

// relativeTo makes paths relative to a folder.
func relativeTo(root string, files []string) []string {
	var out []string
	for _, f := range files {
		if rel, err := filepath.Rel(root, f); err == nil {
			out = append(out, rel)
		}
	}
	return out
}
