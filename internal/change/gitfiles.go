package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// changed maps the files that differ between the two commits to the hashes of
// their blobs on either side; all zeros where a file is not there.
func (a *gitAct) changed(ctx context.Context) (map[string][2]string, error) {
	g := a.c.Git
	out, err := a.git(ctx, nil, "diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", g.Before, g.After)
	if err != nil {
		return nil, err
	}
	files := map[string][2]string{}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		// ":100644 100644 before after M"
		f := strings.Fields(fields[i])
		if len(f) != 5 {
			return nil, fmt.Errorf("%s: git diff-tree printed %q", a.subject(), fields[i])
		}
		files[fields[i+1]] = [2]string{f[2], f[3]}
	}
	return files, nil
}

// exists reports whether the repository has the new commit: a kill may have
// come before it was made.
func (a *gitAct) exists(ctx context.Context) (bool, error) {
	out, err := a.git(ctx, []byte(a.c.Git.After+"\n"), "cat-file", "--batch-check")
	return err == nil && !strings.HasSuffix(out, "missing"), err
}

// foreign returns those of the dirty files that are not a checkout between the
// two commits: other files, or with bytes of neither side.
func (a *gitAct) foreign(ctx context.Context, dirty []string) ([]string, error) {
	there, err := a.exists(ctx)
	if err != nil || !there || len(dirty) == 0 {
		return dirty, err
	}
	files, err := a.changed(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range dirty {
		sides, known := files[name]
		if known {
			if known, err = a.partOf(ctx, name, sides); err != nil {
				return nil, err
			}
		}
		if !known {
			out = append(out, name)
		}
	}
	return out, nil
}

// partOf reports whether a file has the bytes of one side, or as much of them
// as git had written when it was killed, or is absent.
func (a *gitAct) partOf(ctx context.Context, name string, sides [2]string) (bool, error) {
	file := path.Join(a.c.Git.Dir, name)
	info, err := a.h.Stat(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	var now []byte
	switch {
	case info.Mode&fs.ModeSymlink != 0:
		now = []byte(info.Target)
	case info.Mode.IsRegular():
		if now, err = a.h.ReadFile(ctx, file); err != nil {
			return false, err
		}
	default:
		return false, nil
	}
	for _, side := range sides {
		if strings.Trim(side, "0") == "" {
			continue
		}
		argv := a.asOwner(append(append([]string{"git"}, a.gitOptions()...), "cat-file", "--filters", "--path="+name, side))
		r, err := a.h.Run(ctx, host.Command{Argv: argv, Dir: a.c.Git.Dir, Env: a.env()})
		if err != nil || r.ExitCode != 0 {
			return false, errors.Join(fmt.Errorf("%s: read %s: %s", a.subject(), side, tail(r)), err)
		}
		if bytes.HasPrefix(r.Stdout, now) {
			return true, nil
		}
	}
	return false, nil
}

// removeAdded removes the files that the commit adds, which a forced checkout
// leaves if git was killed before it wrote its index, and their empty folders.
func (a *gitAct) removeAdded(ctx context.Context) error {
	there, err := a.exists(ctx)
	if err != nil || !there {
		return err
	}
	files, err := a.changed(ctx)
	if err != nil {
		return err
	}
	var added, folders []string
	for name, sides := range files {
		if strings.Trim(sides[0], "0") != "" {
			continue
		}
		added = append(added, "./"+name)
		for d := path.Dir(name); d != "."; d = path.Dir(d) {
			folders = append(folders, "./"+d)
		}
	}
	if len(added) == 0 {
		return nil
	}
	slices.Sort(added)
	// The deepest first; one that is not empty, or not there, stays so.
	slices.SortFunc(folders, func(p, q string) int { return len(q) - len(p) })
	for _, argv := range [][]string{append([]string{"rm", "-f", "--"}, added...), append([]string{"rmdir", "--ignore-fail-on-non-empty", "--"}, slices.Compact(folders)...)} {
		if len(argv) < 4 && argv[0] == "rmdir" {
			continue
		}
		r, err := a.h.Run(ctx, host.Command{Argv: a.asOwner(argv), Dir: a.c.Git.Dir, Env: []string{"LC_ALL=C"}})
		if err == nil && r.ExitCode != 0 && argv[0] == "rm" {
			err = errors.New(tail(r))
		}
		if err != nil {
			return fmt.Errorf("%s: remove what the commit had added: %w", a.subject(), err)
		}
	}
	return nil
}

// untar makes the products what they were.
func (a *gitAct) untar(ctx context.Context) error {
	g := a.c.Git
	same, err := a.sameProducts(ctx)
	if err != nil || same {
		return err
	}
	return a.products().unpack(ctx, g.Saved)
}

// attributes takes down mode, owner and time of the files that the commit
// changes, which git does not keep, from the answer of diffNames. It refuses
// files that the commit adds and that are there, ignored by git: checking out
// would overwrite them.
func (a *gitAct) attributes(ctx context.Context, diff string) error {
	g := a.c.Git
	fields := strings.Split(diff, "\x00")
	var files []string
	for i := 0; i+1 < len(fields); i += 2 {
		name := fields[i+1]
		if strings.Contains(name, "\n") {
			return fmt.Errorf("%s: a file's name has a line break: %q", g.title(), name)
		}
		if fields[i] != "A" {
			files = append(files, name)
			continue
		}
		if _, err := a.h.Stat(ctx, path.Join(g.Dir, name)); err == nil {
			return fmt.Errorf("%s: %w: the commit adds %s, which is there, ignored by git; move it away first", g.title(), ErrChanged, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	g.Files = files
	var err error
	g.Attributes, err = a.stat(ctx)
	return err
}

// stat prints mode, owner, group, time and name of the files that the commit
// changes and that exist.
func (a *gitAct) stat(ctx context.Context) (string, error) {
	g := a.c.Git
	if len(g.Files) == 0 {
		return "", nil
	}
	// Exit status 1: some do not exist.
	r, err := a.h.Run(ctx, host.Command{Argv: append([]string{"stat", "-c", "%a %u %g %.9Y %n", "--"}, g.Files...), Dir: g.Dir, Env: []string{"LC_ALL=C"}})
	if err == nil && r.ExitCode > 1 {
		err = errors.New(tail(r))
	}
	if err != nil {
		return "", fmt.Errorf("%s: read its files' modes: %w", a.subject(), err)
	}
	return string(r.Stdout), nil
}

// setAttributes gives files the mode and owner of standard input, and with $1
// their time. A file that has them is not touched.
const setAttributes = `while read -r mode uid gid time name; do
 [ -e "$name" ] && [ ! -L "$name" ] || continue
 [ "$(stat -c '%u %g' -- "$name")" = "$uid $gid" ] || chown -- "$uid:$gid" "$name" || exit
 [ "$(stat -c %a -- "$name")" = "$mode" ] || chmod -- "$mode" "$name" || exit
 [ -z "$1" ] || touch -d "@$time" -- "$name" || exit
done`

// keepAttributes gives the files of the commit the mode and owner that they
// had, and with times also their time.
func (a *gitAct) keepAttributes(ctx context.Context, times bool) error {
	g := a.c.Git
	flag := ""
	if times {
		flag = "times"
	}
	r, err := a.h.Run(ctx, host.Command{Argv: []string{"sh", "-c", setAttributes, "sh", flag}, Dir: g.Dir, Stdin: []byte(g.Attributes), Env: []string{"LC_ALL=C"}})
	if err == nil && r.ExitCode != 0 {
		err = errors.New(tail(r))
	}
	if err != nil {
		return fmt.Errorf("%s: keep its files' modes and owners: %w", a.subject(), err)
	}
	return nil
}
