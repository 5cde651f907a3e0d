package stack

import (
	"context"
	"path"
	"path/filepath"
	"slices"

	"kasoku/internal/knownapp"
)

// knownSettings takes the settings files of a known application, and no other
// file: its code names addresses as examples. It reports whether it is one.
func (d *discovery) knownSettings(ctx context.Context, app *instance, stores []store) bool {
	root := app.svc.Root
	glob := hostGlob(ctx, d.h)
	found := knownapp.Find(knownapp.Reader{
		Root: root,
		Read: func(relative string) ([]byte, error) { return d.h.ReadFile(ctx, path.Join(root, relative)) },
		Glob: func(pattern string) []string {
			files, err := glob(path.Join(root, pattern))
			if err != nil {
				return nil
			}
			var out []string
			for _, f := range files {
				if rel, err := filepath.Rel(root, f); err == nil && exists(ctx, d.h, f) {
					out = append(out, rel)
				}
			}
			return out
		},
	})
	if found == nil {
		return false
	}
	for _, f := range found.Settings {
		d.settingsFile(ctx, app, f, stores)
	}
	// Its first file is where its own settings stand, whatever it names.
	if len(found.Settings) > 0 && !slices.Contains(app.svc.Settings, found.Settings[0]) {
		app.svc.Settings = append(app.svc.Settings, found.Settings[0])
	}
	if len(found.Settings) == 0 {
		d.note("%s is %s, but none of its settings files is below %s; fill in settings.", app.svc.Name, knownapp.ByID(found.ID).Name, root)
	}
	return true
}
