package tune

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"kasoku/internal/change"
	"kasoku/internal/stack"
)

// folderSides are two ready builds of an app in folders on its host.
type folderSides struct{ app *stack.Service }

// folderSides completes c with two ready builds, which it packs: the folders
// may be anything afterwards, and only what was packed is compared.
func (t *Tuner) folderSides(ctx context.Context, o Compared, c *Comparison) (sides, error) {
	if o.BaseDir == "" || o.HeadDir == "" {
		return nil, errors.New("compare: --base-dir and --head-dir go together: a folder for each of the two builds")
	}
	if o.Base != "" || o.Head != "" {
		return nil, errors.New("compare: either two revisions or two folders are compared, not both")
	}
	app, err := t.builtApp(o.Service)
	if err != nil {
		return nil, err
	}
	for _, side := range []struct {
		dir string
		v   *Version
	}{{o.BaseDir, &c.Base}, {o.HeadDir, &c.Head}} {
		dir, err := t.absoluteOn(app.HostName(), side.dir)
		if err != nil {
			return nil, err
		}
		side.v.Ref = dir
		if side.v.built, err = t.Exec.Pack(ctx, app.HostName(), dir, app.Build.Products); err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
	}
	return folderSides{app}, nil
}

// builtApp finds the app that is compared: the one named, or the only one that
// says what its build makes.
func (t *Tuner) builtApp(name string) (*stack.Service, error) {
	var found []*stack.Service
	for _, app := range t.Stack.OfKind(stack.App) {
		if app.Build != nil && (name == "" || app.Name == name) {
			found = append(found, app)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case name != "":
		return nil, fmt.Errorf("compare: %s is no app of %s with a build; write services[].build.dir and products, which say what of the folders goes where", name, t.Stack.Path)
	case len(found) == 0:
		return nil, fmt.Errorf("compare: no app of %s has a build; write services[].build.dir and products, which say what of the folders goes where", t.Stack.Path)
	}
	return nil, fmt.Errorf("compare: %d apps have a build; say with --service whose builds these are", len(found))
}

// absoluteOn is a folder's absolute path on a host.
func (t *Tuner) absoluteOn(hostName, dir string) (string, error) {
	if hostName == stack.LocalHost {
		return filepath.Abs(dir)
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("compare: %s is relative to nothing on host %s, where the app runs; name the folder there by its absolute path", dir, hostName)
	}
	return filepath.Clean(dir), nil
}

// prepare has nothing left to do: both are built, and packed.
func (folderSides) prepare(context.Context, *Tuner, *Comparison) error { return nil }

func (f folderSides) at(v *Version) ([]change.Change, error) {
	return telling(change.Change{Kind: change.KindReady, Host: f.app.HostName(), Why: comparedWhy,
		Ready: &change.Ready{Dir: f.app.Build.Dir, Products: f.app.Build.Products, Built: v.built, From: v.Ref}}, f.told()), nil
}

func (f folderSides) told() []change.Change { return told(f.app.HostName(), f.services()) }

func (folderSides) asFound(*Version) bool { return false }

func (f folderSides) services() []*stack.Service { return []*stack.Service{f.app} }

// writes are the judge's files that lie among the products: those would be
// exchanged or removed with them.
func (f folderSides) writes(_ context.Context, t *Tuner, _ *Comparison) ([]string, error) {
	if !onThisMachine(f.app.HostName()) {
		return nil, nil
	}
	mine := []string{filepath.Join(t.Stack.Dir, ".kasoku")}
	for _, g := range guardedFiles(t.Bench) {
		mine = append(mine, g.path)
	}
	var out []string
	for _, p := range f.app.Build.Products {
		product := resolved(filepath.Join(f.app.Build.Dir, p))
		for _, path := range mine {
			if within(resolved(path), product) {
				out = append(out, path)
			}
		}
	}
	return out, nil
}
