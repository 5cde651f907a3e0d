package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"kasoku/internal/host"
)

// productSet are files and folders that a build makes, in a folder of a host.
type productSet struct {
	*work
	dir   string
	names []string // relative to dir
}

// properProducts refuses names that lead out of their folder or into git's own.
func properProducts(title string, names []string) error {
	for _, p := range names {
		if !filepath.IsLocal(p) || path.Clean(p) != p || p == "." || p == ".git" || strings.HasPrefix(p, ".git/") || strings.HasPrefix(p, "-") {
			return fmt.Errorf("%s: product %q: it must be a path inside the checkout, relative to its top", title, p)
		}
	}
	return nil
}

// tar packs the products that exist, with owner, mode and time; empty if none
// does. The same products have the same bytes.
func (s productSet) tar(ctx context.Context) ([]byte, error) {
	var there []string
	for _, p := range s.names {
		if _, err := s.h.Stat(ctx, path.Join(s.dir, p)); err == nil {
			there = append(there, p)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if len(there) == 0 {
		return []byte{}, nil
	}
	argv := append([]string{"tar", "--create", "--format=pax", "--pax-option=delete=atime,delete=ctime", "--sort=name", "--numeric-owner", "--file=-", "--"}, there...)
	r, err := s.h.Run(ctx, host.Command{Argv: argv, Dir: s.dir, Timeout: execTimeout, Env: []string{"LC_ALL=C"}})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("exit status %d: %s", r.ExitCode, tail(host.Result{Stderr: r.Stderr}))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: save the build products %s: %w", s.subject(), some(there), err)
	}
	return r.Stdout, nil
}

// unpack makes the products those of an archive.
func (s productSet) unpack(ctx context.Context, archive host.Hash) error {
	saved, err := s.x.journal.loadBlob(archive)
	if err != nil {
		return err
	}
	steps := []host.Command{{Argv: append([]string{"rm", "-rf", "--"}, s.names...)}}
	if len(saved) > 0 {
		steps = append(steps, host.Command{Argv: []string{"tar", "--extract", "--preserve-permissions", "--numeric-owner", "--file=-"}, Stdin: saved})
	}
	for _, c := range steps {
		c.Dir, c.Timeout, c.Env = s.dir, execTimeout, []string{"LC_ALL=C"}
		r, err := s.h.Run(ctx, c)
		if err == nil && r.ExitCode != 0 {
			err = fmt.Errorf("exit status %d: %s", r.ExitCode, tail(r))
		}
		if err != nil {
			return fmt.Errorf("%s: put build products in place: %w", s.subject(), err)
		}
	}
	return nil
}

// unpackShell is what a person would type for it.
func unpackShell(dir string, names []string, archive string) []string {
	return []string{"(" + commandLine([]string{"cd", dir}) + " && " + commandLine(append([]string{"rm", "-rf", "--"}, names...)) + ")",
		commandLine([]string{"tar", "-C", dir, "-xpf", archive}) + "   # an empty archive: there were none"}
}
