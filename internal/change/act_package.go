package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// Package is one Debian package that is installed, upgraded, downgraded or
// removed, with all that comes and goes with it.
type Package struct {
	Name string `json:"name"`
	// Version to install; "candidate" is resolved to apt's choice by the
	// executor; "" removes the package and leaves its configuration files.
	Version string `json:"version"`
	// With are further packages that are installed in the same call of apt, in
	// its choice of version; none of them need be missing.
	With []string `json:"with,omitempty"`
	// Start lets the packages start and restart their services as they would
	// by themselves. Otherwise only the change's Service is activated.
	Start bool `json:"start,omitempty"`

	// The executor fills in what follows. Set is every package that apt will
	// touch, with Name among them.
	Set []PackageState `json:"set,omitempty"`
	// Files are the configuration files of packages that were there.
	Files []PackageFile `json:"files,omitempty"`
}

// PackageState is one package on its way.
type PackageState struct {
	Name string `json:"name"` // with its architecture if it is foreign: libc6:i386
	// Before and After are exact versions; "" = not installed.
	Before string `json:"before"`
	After  string `json:"after"`
	// Residual: not installed before, but its configuration files were there.
	Residual bool `json:"residual,omitempty"`
	// Auto: before, apt had it as installed for others' sake.
	Auto bool `json:"auto,omitempty"`
	// Deb is the hash of the saved package of version Before, with which undo
	// needs no archive.
	Deb host.Hash `json:"deb,omitempty"`
}

// PackageFile is a configuration file of a package.
type PackageFile struct {
	Path string    `json:"path"`
	File FileState `json:"file"`
}

func (p *Package) title() string {
	switch {
	case p == nil:
		return "package (none given)"
	case p.Version == "":
		return "remove package " + p.Name
	}
	return "install package " + strings.Join(append([]string{p.Name + "=" + p.Version}, p.With...), " ")
}

// packageAct works with apt-get and dpkg.
type packageAct struct{ work }

// Names and versions as Debian policy has them (5.6.1, 5.6.12).
var (
	packageName    = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+(:[a-z0-9-]+)?$`)
	packageVersion = regexp.MustCompile(`^[A-Za-z0-9.+:~-]+$`)
)

func (a *packageAct) prepare(ctx context.Context) ([][]byte, error) {
	p := a.c.Package
	if p == nil || !packageName.MatchString(p.Name) || p.Version != "" && !packageVersion.MatchString(p.Version) {
		return nil, fmt.Errorf("%s: it needs a package's name and a version, \"candidate\" or \"\"", p.title())
	}
	if i := slices.IndexFunc(p.With, func(w string) bool { return !packageName.MatchString(w) }); i >= 0 || len(p.With) > 0 && p.Version == "" {
		return nil, fmt.Errorf("%s: further packages (%s) need names, and can only be installed", p.title(), strings.Join(p.With, ", "))
	}
	n := Package{Name: p.Name, Version: p.Version, With: slices.Clone(p.With), Start: p.Start}
	p, a.c.Package = &n, &n
	if err := a.unlocked(ctx); err != nil {
		return nil, err
	}
	if err := a.sound(ctx); err != nil {
		return nil, err
	}
	if p.Version == "candidate" {
		v, err := a.candidate(ctx)
		if err != nil {
			return nil, err
		}
		p.Version = v
	}
	set, err := a.simulate(ctx, a.forward())
	if err != nil {
		return nil, err
	}
	if len(set) == 0 {
		return nil, fmt.Errorf("%s: %w: that is so already", p.title(), ErrChanged)
	}
	p.Set = set
	if err := a.marks(ctx); err != nil {
		return nil, err
	}
	debs, err := a.saveDebs(ctx)
	if err != nil {
		return nil, err
	}
	files, err := a.saveFiles(ctx)
	return append(debs, files...), err
}

// sound refuses to begin on a system with half-installed packages: it would
// not be clear what to go back to.
func (a *packageAct) sound(ctx context.Context) error {
	r, err := a.dpkg(ctx, "dpkg", "--audit")
	if err == nil && len(strings.TrimSpace(string(r.Stdout))) > 0 {
		err = fmt.Errorf("%s: some packages are only half installed; put that right first (dpkg --configure -a; apt-get -f install): %s", a.c.Package.title(), tail(host.Result{Stdout: r.Stdout}))
	}
	return err
}

// candidate is the version that apt would install.
func (a *packageAct) candidate(ctx context.Context) (string, error) {
	r, err := a.dpkg(ctx, "apt-cache", "policy", a.c.Package.Name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(r.Stdout)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "Candidate: "); ok && v != "(none)" {
			return v, nil
		}
	}
	return "", fmt.Errorf("package %s: apt has no version of it to install; are its sources set up, and is its list fresh (apt-get update)?", a.c.Package.Name)
}

// saveFiles keeps the configuration files of all packages that were there.
func (a *packageAct) saveFiles(ctx context.Context) ([][]byte, error) {
	var blobs [][]byte
	for _, s := range a.c.Package.Set {
		if s.Before == "" && !s.Residual {
			continue
		}
		paths, err := a.conffiles(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			f, err := (&fileAct{a.work}).readPath(ctx, p)
			if err != nil {
				return nil, fmt.Errorf("%s: save its configuration: %w", a.subject(), err)
			}
			if f.Hash != "" {
				blobs = append(blobs, f.Content)
			}
			f.Content = nil
			a.c.Package.Files = append(a.c.Package.Files, PackageFile{p, f})
		}
	}
	return blobs, nil
}

// conffiles are a package's configuration files, with what dpkg leaves beside
// them when a new version has another.
func (a *packageAct) conffiles(ctx context.Context, name string) ([]string, error) {
	r, err := a.dpkg(ctx, "dpkg-query", "-W", "-f", "${Conffiles}\n", name)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(r.Stdout)) {
		line = strings.TrimSuffix(strings.TrimSpace(line), " obsolete")
		if i := strings.LastIndexByte(line, ' '); i > 0 && strings.HasPrefix(line, "/") {
			p := line[:i]
			out = append(out, p, p+".dpkg-dist", p+".dpkg-new", p+".dpkg-old", p+".dpkg-tmp")
		}
	}
	return out, nil
}

func (a *packageAct) look(ctx context.Context) (sight, error) {
	if err := a.unlocked(ctx); err != nil {
		return sight{}, err
	}
	now, err := a.states(ctx)
	if err != nil {
		return sight{}, err
	}
	s := sight{before: true, after: true}
	var got []string
	for _, p := range a.c.Package.Set {
		n := now[p.Name]
		s.before = s.before && n.version == p.Before && n.whole && (p.Before != "" || n.residual == p.Residual)
		s.after = s.after && n.version == p.After && n.whole
		got = append(got, p.Name+" "+n.String())
	}
	s.got = strings.Join(got, ", ")
	if !s.before {
		return s, nil
	}
	for _, f := range a.c.Package.Files {
		same, err := a.sameFile(ctx, f)
		if err != nil {
			return s, err
		}
		if !same {
			s.before, s.got = false, s.got+", with another "+f.Path
		}
	}
	return s, nil
}

// sameFile compares a configuration file with what was saved.
func (a *packageAct) sameFile(ctx context.Context, f PackageFile) (bool, error) {
	now, err := (&fileAct{a.work}).readPath(ctx, f.Path)
	return now.Hash == f.File.Hash && (now.Hash == "" || differingAttrs(f.File, now) == "" && now.ModTime.Equal(f.File.ModTime)), err
}

// claim: when dpkg is killed, some packages of the set are as before, some as
// after, and some between.
func (a *packageAct) claim(ctx context.Context, s sight) (sight, error) {
	now, err := a.states(ctx)
	if err != nil {
		return s, err
	}
	s.after = true
	for _, p := range a.c.Package.Set {
		n := now[p.Name]
		s.after = s.after && (!n.whole || n.version == p.Before || n.version == p.After)
	}
	return s, nil
}

func (a *packageAct) write(ctx context.Context) (string, error) {
	now, err := a.simulate(ctx, a.forward())
	if err != nil {
		return "", err
	}
	if err := a.sameSet(now, a.c.Package.Set); err != nil {
		return "", err
	}
	if err := a.aptGet(ctx, append([]string{"install"}, a.forward()...)...); err != nil {
		return "", err
	}
	return a.fileHashes(ctx)
}

// fileHashes are the configuration files as they are now, for the journal:
// path to hash as JSON. With it, undo tells dpkg's work from someone's edit.
func (a *packageAct) fileHashes(ctx context.Context) (string, error) {
	out := map[string]host.Hash{}
	for _, f := range a.c.Package.Files {
		now, err := (&fileAct{a.work}).readPath(ctx, f.Path)
		if err != nil {
			return "", err
		}
		out[f.Path] = now.Hash
	}
	b, err := json.Marshal(out)
	return string(b), err
}

// edited refuses to go back over a configuration file that someone has edited
// since.
func (a *packageAct) edited(ctx context.Context) error {
	made := map[string]host.Hash{}
	if a.c.Reported == "" || json.Unmarshal([]byte(a.c.Reported), &made) != nil {
		return nil // killed while dpkg was at work
	}
	for _, f := range a.c.Package.Files {
		if dpkgLeft.MatchString(f.Path) {
			continue
		}
		now, err := (&fileAct{a.work}).readPath(ctx, f.Path)
		if err != nil {
			return err
		}
		if now.Hash != f.File.Hash && now.Hash != made[f.Path] && now.Hash != "" {
			e := a.differs(string(f.File.Hash), string(made[f.Path]), string(now.Hash))
			e.Object = a.onHost(f.Path)
			if f.File.Hash != "" {
				e.Blob = a.x.journal.blobPath(f.File.Hash)
			}
			return e
		}
	}
	return nil
}

// dpkgLeft are files that dpkg leaves beside a configuration file.
var dpkgLeft = regexp.MustCompile(`\.dpkg-(dist|new|old|tmp)$`)

// sameSet refuses when apt would now do other than was journaled.
func (a *packageAct) sameSet(now, planned []PackageState) error {
	have := map[string]PackageState{}
	for _, p := range now {
		have[p.Name] = p
	}
	for _, p := range planned {
		if n, ok := have[p.Name]; !ok || n.Before != p.Before || n.After != p.After {
			return fmt.Errorf("%s: %w: apt no longer plans %s from %q to %q", a.c.Package.title(), ErrChanged, p.Name, p.Before, p.After)
		}
		delete(have, p.Name)
	}
	for name := range have {
		return fmt.Errorf("%s: %w: apt now touches %s as well", a.c.Package.title(), ErrChanged, name)
	}
	return nil
}

// restoreFiles puts the saved configuration files back, and removes what dpkg
// has left beside them.
func (a *packageAct) restoreFiles(ctx context.Context) error {
	for _, f := range a.c.Package.Files {
		same, err := a.sameFile(ctx, f)
		if err != nil || same {
			if err != nil {
				return err
			}
			continue
		}
		now, err := (&fileAct{a.work}).readPath(ctx, f.Path)
		if err != nil {
			return err
		}
		if f.File.Hash == "" {
			err = a.h.Remove(ctx, f.Path, now.Hash)
		} else {
			var b []byte
			if b, err = a.x.journal.loadBlob(f.File.Hash); err == nil {
				err = a.replace(ctx, f, now, b)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: put back %s: %w", a.subject(), f.Path, err)
		}
	}
	return nil
}

// replace writes a saved file. If mode or owner differ the file is made anew,
// because an existing file keeps its own.
func (a *packageAct) replace(ctx context.Context, f PackageFile, now FileState, b []byte) error {
	expect := now.Hash
	if expect != "" && differingAttrs(f.File, now) != "" {
		if err := a.h.Remove(ctx, f.Path, expect); err != nil {
			return err
		}
		expect = ""
	}
	return a.h.ReplaceFile(ctx, f.Path, b, host.Replace{Expect: expect, Mode: f.File.Mode, UID: f.File.UID, GID: f.File.GID, ModTime: f.File.ModTime})
}

func (a *packageAct) conflict(s sight) *ConflictError {
	var before, after []string
	for _, p := range a.c.Package.Set {
		before = append(before, p.Name+" "+packageNow{version: p.Before, whole: true}.String())
		after = append(after, p.Name+" "+packageNow{version: p.After, whole: true}.String())
	}
	return a.differs(strings.Join(before, ", "), strings.Join(after, ", "), s.got)
}
