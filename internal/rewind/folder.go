package rewind

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
)

const (
	// mostFile is the largest file of a kept folder, mostAtOnce what goes over to or
	// from a host in one piece.
	mostFile   = 200 << 20
	mostAtOnce = 64 << 20
	folderWait = 2 * time.Minute
)

// folder is one folder with everything in it.
type folder struct {
	path  string
	host  host.Host
	spool *spool
	kept  map[string]*keptFile // by path below the folder; "." is the folder itself
	base  map[string]entry     // what a list said when everything was as taken
}

// keptFile is a file, link or folder as tar has it, and where its bytes stand.
type keptFile struct {
	header *tar.Header
	at     int64
}

// entry is what a list tells of one path: two of the same bytes, owner, mode and times
// are equal. change is the time of the last change of anything, which nobody can set.
type entry struct {
	kind, mode, owner, group, modified, target string
	size                                       int64
	change                                     string
}

// asBefore compares all but the time of the last change.
func (e entry) asBefore(o entry) bool {
	e.change, o.change = "", ""
	if e.kind == "d" {
		e.size, o.size = 0, 0
	}
	return e == o
}

// list reads what there is below the folder, on its own file system.
func (f *folder) list(ctx context.Context) (map[string]entry, error) {
	const fields = 9
	r, err := f.run(ctx, nil, "find", ".", "-xdev", "-printf", `%y\0%s\0%m\0%U\0%G\0%T@\0%C@\0%l\0%p\0`)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(string(r), "\x00")
	out := make(map[string]entry, len(parts)/fields)
	for ; len(parts) >= fields; parts = parts[fields:] {
		size, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("find told a size of %q", parts[1])
		}
		e := entry{kind: parts[0], size: size, mode: parts[2], owner: parts[3], group: parts[4], modified: parts[5], change: parts[6], target: parts[7]}
		if e.kind == "f" || e.kind == "d" || e.kind == "l" { // sockets and the like belong to who made them
			out[path.Clean(parts[8])] = e
		}
	}
	return out, nil
}

// run runs a program in the folder; stderr is in the error.
func (f *folder) run(ctx context.Context, stdin []byte, argv ...string) ([]byte, error) {
	r, err := f.host.Run(ctx, host.Command{Argv: argv, Dir: f.path, Stdin: stdin, Timeout: folderWait})
	if err != nil {
		return nil, err
	}
	if r.ExitCode != 0 {
		text := strings.TrimSpace(string(r.Stderr))
		return nil, fmt.Errorf("%s ended with %d: %s", argv[0], r.ExitCode, text[:min(len(text), 500)])
	}
	return r.Stdout, nil
}

// take copies the folder.
func (f *folder) take(ctx context.Context) error {
	info, err := f.host.Stat(ctx, f.path)
	if err != nil {
		return err
	}
	if !info.Mode.IsDir() {
		return errors.New("it is not a folder; name the folder itself under load.snapshot.folders")
	}
	all, err := f.list(ctx)
	if err != nil {
		return err
	}
	var bytes int64
	for name, e := range all {
		if e.kind == "f" {
			bytes += e.size
		}
		if e.kind == "f" && e.size > mostFile {
			return fmt.Errorf("%s has %d MiB, and files of at most %d are kept; name a command as load.reset", name, e.size>>20, mostFile>>20)
		}
	}
	free, err := f.spool.free()
	if err != nil {
		return err
	}
	if bytes > free/2 {
		return fmt.Errorf("it has %d MiB, and %s has %d MiB free, half of which may be used", bytes>>20, f.spool.dir, free>>20)
	}
	f.kept = map[string]*keptFile{}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for len(names) > 0 {
		n, size := 0, int64(0)
		for n < len(names) && (n == 0 || size+all[names[n]].size < mostAtOnce) {
			size += all[names[n]].size
			n++
		}
		if err := f.copy(ctx, names[:n]); err != nil {
			return err
		}
		names = names[n:]
	}
	f.base = all
	return f.spool.flush()
}

// copy gets some paths.
func (f *folder) copy(ctx context.Context, names []string) error {
	out, err := f.run(ctx, []byte(strings.Join(names, "\x00")+"\x00"),
		"tar", "--create", "--file=-", "--format=posix", "--acls", "--xattrs", "--numeric-owner", "--no-recursion", "--hard-dereference", "--null", "--files-from=-")
	if err != nil {
		return err
	}
	for r := tar.NewReader(bytes.NewReader(out)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		at, err := f.spool.add(data)
		if err != nil {
			return err
		}
		h.Format, h.AccessTime, h.ChangeTime = tar.FormatPAX, time.Time{}, time.Time{}
		f.kept[path.Clean(h.Name)] = &keptFile{h, at}
	}
}

// back makes the folder hold what it held, and returns how many paths were wrong.
func (f *folder) back(ctx context.Context) (int, error) {
	now, err := f.list(ctx)
	if err != nil {
		return 0, err
	}
	extra, wrong := f.differ(now)
	if len(extra)+len(wrong) == 0 {
		return 0, nil
	}
	if len(extra) > 0 {
		if _, err := f.run(ctx, []byte(strings.Join(extra, "\x00")+"\x00"), "xargs", "-0", "rm", "-rf", "--"); err != nil {
			return 0, err
		}
	}
	if err := f.write(ctx, wrong); err != nil {
		return 0, err
	}
	// Folders last: what is made in one changes its time.
	var folders []string
	for name, k := range f.kept {
		if k.header.Typeflag == tar.TypeDir && (slices.Contains(wrong, name) || slices.ContainsFunc(append(extra, wrong...), func(p string) bool { return path.Dir(p) == name })) {
			folders = append(folders, name)
		}
	}
	slices.Sort(folders)
	if err := f.write(ctx, folders); err != nil {
		return 0, err
	}
	after, err := f.list(ctx)
	if err != nil {
		return 0, err
	}
	for name, e := range f.base {
		if !after[name].asBefore(e) {
			return 0, fmt.Errorf("%s is not as it was after it was put back; does somebody else write there?", path.Join(f.path, name))
		}
	}
	f.base = after
	return len(extra) + len(wrong), nil
}

// differ lists what must go, and what must be written again.
func (f *folder) differ(now map[string]entry) (extra, wrong []string) {
	for name, e := range now {
		if was, ok := f.base[name]; !ok || was.kind != e.kind {
			extra = append(extra, name)
		}
	}
	for name, was := range f.base {
		e, ok := now[name]
		if !ok || e.kind != was.kind || !e.asBefore(was) || e.kind == "f" && e.change != was.change {
			wrong = append(wrong, name)
		}
	}
	slices.Sort(extra)
	slices.Sort(wrong)
	return extra, wrong
}

// write puts kept paths in place.
func (f *folder) write(ctx context.Context, names []string) error {
	for len(names) > 0 {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		n := 0
		for n < len(names) && (n == 0 || b.Len() < mostAtOnce) {
			k := f.kept[names[n]]
			if k == nil {
				return fmt.Errorf("%s was not copied; did it change meanwhile?", path.Join(f.path, names[n]))
			}
			if err := w.WriteHeader(k.header); err != nil {
				return err
			}
			if _, err := io.Copy(w, f.spool.reader(k.at, k.header.Size)); err != nil {
				return err
			}
			n++
		}
		if err := w.Close(); err != nil {
			return err
		}
		if _, err := f.run(ctx, b.Bytes(), "tar", "--extract", "--file=-", "--preserve-permissions", "--same-owner", "--numeric-owner", "--acls", "--xattrs", "--no-recursion"); err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}
