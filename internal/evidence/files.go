package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// fileReader reads configuration files for the editors and keeps what it read.
type fileReader struct {
	ctx     context.Context
	h       host.Host
	service string
	files   map[string]File // shared by all services of the host
}

// read is a nginx.ReadFunc and an ini.ReadFunc.
func (r *fileReader) read(p string) ([]byte, error) {
	p = path.Clean(p)
	if f, ok := r.files[p]; ok {
		return f.Content, nil
	}
	data, err := r.h.ReadFile(r.ctx, p)
	if err != nil {
		return nil, err
	}
	info, err := follow(r.ctx, r.h, p)
	if err != nil {
		return nil, err
	}
	r.files[p] = File{Content: data, Hash: string(host.HashOf(data)), Mode: permissions(info.Mode), UID: info.UID, GID: info.GID,
		ModTime: info.ModTime, Service: r.service}
	return data, nil
}

// permissions are the nine bits and set-uid, set-gid and sticky as chmod(1)
// writes them.
func permissions(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	for mode, bit := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if m&mode != 0 {
			bits |= bit
		}
	}
	return bits
}

// follow is Stat of what a path leads to.
func follow(ctx context.Context, h host.Host, p string) (host.FileInfo, error) {
	for range 40 { // ELOOP comes after 40 (path_resolution(7))
		info, err := h.Stat(ctx, p)
		if err != nil || info.Mode&fs.ModeSymlink == 0 {
			return info, err
		}
		if path.IsAbs(info.Target) {
			p = info.Target
		} else {
			p = path.Join(path.Dir(p), info.Target)
		}
	}
	return host.FileInfo{}, fmt.Errorf("%s: too many symbolic links", p)
}

// glob is a GlobFunc: path.Match per part of an absolute pattern, sorted. As
// in glob(7), a pattern does not match names that begin with a dot.
func (r *fileReader) glob(pattern string) ([]string, error) {
	if !strings.ContainsAny(pattern, "*?[") {
		if _, err := r.h.Stat(r.ctx, pattern); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		return []string{pattern}, nil
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("pattern %s: %w", pattern, err)
	}
	found := []string{"/"}
	for part := range strings.SplitSeq(strings.Trim(path.Clean(pattern), "/"), "/") {
		var next []string
		for _, dir := range found {
			if !strings.ContainsAny(part, "*?[") {
				next = append(next, path.Join(dir, part))
				continue
			}
			list, err := r.h.List(r.ctx, dir)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				if info, serr := r.h.Stat(r.ctx, dir); serr == nil && info.Mode.IsRegular() {
					continue
				}
				return nil, err
			}
			for _, e := range list {
				name := path.Base(e.Path)
				if ok, _ := path.Match(part, name); ok && (!strings.HasPrefix(name, ".") || strings.HasPrefix(part, ".")) {
					next = append(next, path.Join(dir, name))
				}
			}
		}
		found = next
	}
	var out []string
	for _, p := range found {
		if _, err := r.h.Stat(r.ctx, p); err == nil {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out, nil
}

// markWritable sets File.Writable where Kasoku may replace the file: the file
// and its folder are writable and not on a read-only file system. Files in
// fixed are left as not writable.
func markWritable(ctx context.Context, h host.Host, files map[string]File, fixed map[string]bool) error {
	argv := []string{"find", "-L"}
	for p := range files {
		argv = append(argv, p, path.Dir(p))
	}
	if len(files) == 0 {
		return nil
	}
	slices.Sort(argv[2:])
	argv = append(slices.Compact(argv), "-maxdepth", "0", "-writable")
	res, err := h.Run(ctx, host.Command{Argv: argv})
	if err != nil {
		return fmt.Errorf("ask which configuration files are writable on %s: %w", h.Name(), err)
	}
	can := map[string]bool{}
	for line := range strings.Lines(string(res.Stdout)) {
		can[strings.TrimRight(line, "\n")] = true
	}
	for p, f := range files {
		f.Writable = can[p] && can[path.Dir(p)] && !fixed[p]
		files[p] = f
	}
	if res.ExitCode != 0 && len(can) == 0 {
		return fmt.Errorf("ask which configuration files are writable on %s: find: %s", h.Name(), strings.TrimSpace(string(res.Stderr)))
	}
	return nil
}
