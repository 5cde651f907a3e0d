package patch

import (
	"context"
	"errors"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
)

// added are packages that new text may need although nothing of the program imports them.
var added = []string{"strconv", "strings", "sync", "database/sql", "regexp", "hash", "time", "slices"}

// addedForStarted are those that P11 may need, of a program that starts others.
var addedForStarted = []string{"crypto/md5", "crypto/sha1", "crypto/sha256", "crypto/sha512", "encoding/base64", "encoding/hex"}

// importer answers with the packages that the program has read already.
type importer struct {
	program *Program
	direct  map[string]*types.Package
}

func (p *Program) importer(f *file) importer {
	i := importer{p, map[string]*types.Package{"unsafe": types.Unsafe}}
	for name, pkg := range f.pkg.Imports {
		i.direct[name] = pkg.Types
	}
	return i
}

// Import finds a package, those of the program itself first.
func (i importer) Import(name string) (*types.Package, error) {
	if p := i.direct[name]; p != nil {
		return p, nil
	}
	seen := map[*types.Package]bool{}
	var find func(p *types.Package) *types.Package
	find = func(p *types.Package) *types.Package {
		if p == nil || seen[p] {
			return nil
		}
		seen[p] = true
		if p.Path() == name {
			switch {
			case p.Complete():
				return p
			case name == "context" || name == "database/sql":
				// What others name of it is there, and must be the same types as theirs.
				p.MarkComplete()
				return p
			}
		}
		for _, next := range p.Imports() {
			if found := find(next); found != nil {
				return found
			}
		}
		return nil
	}
	for _, p := range i.direct {
		if found := find(p); found != nil {
			i.direct[name] = found
			return found, nil
		}
	}
	if p := i.program.standard[name]; p != nil {
		return p, nil
	}
	return nil, errors.New("not read: " + name)
}

// readStandard reads the types of added.
func (p *Program) readStandard(ctx context.Context) error {
	p.standard = map[string]*types.Package{}
	names := added
	if slices.ContainsFunc(p.packages, func(pkg *packages.Package) bool { return pkg.Imports["os/exec"] != nil }) {
		names = slices.Concat(names, addedForStarted)
	}
	found, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedImports | packages.NeedTypes, Context: ctx, Dir: p.Dir, Fset: p.fset, Env: ownerOf(p.Dir).goEnv()}, names...)
	if err != nil {
		return err
	}
	for _, pkg := range found {
		if len(pkg.Errors) > 0 {
			return pkg.Errors[0]
		}
		p.standard[pkg.PkgPath] = pkg.Types
	}
	return nil
}
