package evidence

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"kasoku/internal/host"
	"kasoku/internal/load"
)

// StaticFile is a file that an answer was found to be a copy of.
type StaticFile struct {
	Host        string `json:"host,omitempty"` // that it lies on
	Path        string `json:"path"`           // on the host
	ContentType string `json:"content_type"`
	Readable    bool   `json:"readable"` // by the web server's workers
	// Gzip: the file with .gz at its end is the same, compressed.
	Gzip bool `json:"gzip,omitempty"`
	// GzipOther: that file holds other bytes, e.g. of an older deployment.
	GzipOther bool `json:"gzip_other,omitempty"`
}

// Bounds of the search for files. A release of a large framework with its
// public files has some thousands of entries outside of what is skipped.
const (
	maxEntries  = 20000
	maxDepth    = 12
	vendorDepth = 3
	maxStatic   = 32 << 20 // bytes of one file that is read to compare it
)

// skipped folders hold no files that a browser asks for.
var skipped = map[string]bool{".git": true, ".hg": true, ".svn": true, "node_modules": true}

// fixedAnswer reports whether every sampled answer was the same public file.
func fixedAnswer(s load.StaticSample) bool {
	return s.Status == 200 && !s.Varied && (!s.SetsCookie || s.CookieOnce) && s.Private == "" && strings.HasPrefix(s.Path, "/") && s.SHA256 != ""
}

// FindStatic looks below roots for files that sampled answers are copies of:
// the file's path ends with the URL's path, and size and SHA-256 are equal. Of
// several the one with the shortest path is taken. Readable is judged for user
// by the permission bits of the file and of every folder above it. note says
// what was left out, "" if nothing.
func FindStatic(ctx context.Context, h host.Host, roots []string, user ProcessUser, samples []load.StaticSample) (found map[string]StaticFile, note string, err error) {
	want := map[string][]load.StaticSample{} // by base name
	for _, s := range samples {
		if p, err := url.PathUnescape(s.Path); err == nil && fixedAnswer(s) {
			want[path.Base(p)] = append(want[path.Base(p)], s)
		}
	}
	found = map[string]StaticFile{}
	if len(want) == 0 {
		return found, "", nil
	}
	w := &walker{ctx: ctx, h: h, want: want}
	for _, root := range roots {
		if err := w.walk(path.Clean(root), 0, maxDepth); err != nil {
			return nil, "", err
		}
	}
	slices.SortFunc(w.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path))
	})
	for _, c := range w.candidates {
		if _, done := found[c.sample.Path]; done {
			continue
		}
		data, err := h.ReadFile(ctx, c.path)
		if err != nil || string(host.HashOf(data)) != strings.ToLower(c.sample.SHA256) {
			continue
		}
		f := StaticFile{Path: c.path, ContentType: c.sample.ContentType, Readable: readable(ctx, h, c.path, user)}
		f.Gzip, f.GzipOther = gzipped(ctx, h, c.path, data, user)
		found[c.sample.Path] = f
	}
	if w.seen >= maxEntries {
		note = fmt.Sprintf("only the first %d entries below %s were searched for static files", maxEntries, strings.Join(roots, ", "))
	}
	return found, note, nil
}

// gzipped reports whether the same bytes lie beside a file in compressed form,
// as nginx's gzip_static looks for them, or something else that it would send
// in their place.
func gzipped(ctx context.Context, h host.Host, file string, data []byte, user ProcessUser) (same, other bool) {
	packed, err := h.ReadFile(ctx, file+".gz")
	if err != nil || !readable(ctx, h, file+".gz", user) {
		return false, false
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return false, true
	}
	plain, err := io.ReadAll(io.LimitReader(r, int64(len(data))+1))
	same = err == nil && bytes.Equal(plain, data)
	return same, !same
}

type candidate struct {
	path   string
	sample load.StaticSample
}

type walker struct {
	ctx        context.Context
	h          host.Host
	want       map[string][]load.StaticSample
	candidates []candidate
	visited    map[string]bool
	seen       int
}

func (w *walker) walk(dir string, depth, deepest int) error {
	if w.visited == nil {
		w.visited = map[string]bool{}
	}
	if depth > deepest || w.seen >= maxEntries || w.visited[dir] {
		return nil
	}
	w.visited[dir] = true
	list, err := w.h.List(w.ctx, dir)
	if err != nil {
		if w.ctx.Err() != nil {
			return fmt.Errorf("search %s for static files: %w", dir, w.ctx.Err())
		}
		if depth == 0 && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("search %s for static files: %w", dir, err)
		}
		return nil
	}
	for _, e := range list {
		if w.seen++; w.seen > maxEntries {
			return nil
		}
		name := path.Base(e.Path)
		full := path.Join(dir, name)
		switch {
		case e.Mode.IsDir() && !skipped[name]:
			below := deepest
			if name == "vendor" {
				below = min(deepest, depth+1+vendorDepth)
			}
			if err := w.walk(full, depth+1, below); err != nil {
				return err
			}
		case e.Mode.IsRegular():
			for _, s := range w.want[name] {
				p, _ := url.PathUnescape(s.Path)
				if e.Size == s.Size && e.Size <= maxStatic && strings.HasSuffix(full, path.Clean(p)) {
					w.candidates = append(w.candidates, candidate{full, s})
				}
			}
		}
	}
	return nil
}

// readable follows the path from / as the kernel would for user: x on every
// folder, r on the file, through symbolic links.
func readable(ctx context.Context, h host.Host, file string, user ProcessUser) bool {
	done := "/"
	rest := strings.Split(strings.Trim(path.Clean(file), "/"), "/")
	links := 0
	for {
		info, err := h.Stat(ctx, done)
		if err != nil {
			return false
		}
		if info.Mode&fs.ModeSymlink != 0 {
			if links++; links > 40 {
				return false
			}
			target := info.Target
			if !path.IsAbs(target) {
				target = path.Join(path.Dir(done), target)
			}
			rest = append(strings.Split(strings.Trim(path.Clean(target), "/"), "/"), rest...)
			done = "/"
			continue
		}
		if !info.Mode.IsDir() {
			return len(rest) == 0 && info.Mode.IsRegular() && user.may(info, 4)
		}
		if !user.may(info, 1) || len(rest) == 0 {
			return false
		}
		done = path.Join(done, rest[0])
		rest = rest[1:]
	}
}
