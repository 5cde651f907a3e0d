package evidence

import (
	"cmp"
	"context"
	"path"
	"strings"

	"kasoku/internal/host"
	"kasoku/internal/kind/goapp"
	"kasoku/internal/stack"
)

const (
	// mostSources are the files of Go that are read of one folder, and mostSource how
	// large one of them may be, bytes: what makes a data source name stands in a small one.
	mostSources = 40
	mostSource  = 512 << 10
)

// namedDatabase looks into the folder that a Go program is built in, else runs in, for
// how it makes its data source name; nil if that cannot be told, which is no fault.
func namedDatabase(ctx context.Context, h host.Host, svc *stack.Service, driver string) *goapp.NamedDatabase {
	dir := svc.Root
	if svc.Build != nil {
		dir = cmp.Or(svc.Build.Dir, dir)
	}
	if dir == "" {
		return nil
	}
	list, err := h.List(ctx, dir)
	if err != nil {
		return nil
	}
	files := map[string][]byte{}
	for _, f := range list {
		if !f.Mode.IsRegular() || !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		if f.Size > mostSource || len(files) == mostSources {
			return nil // the rest may name the variable, too
		}
		content, err := h.ReadFile(ctx, f.Path)
		if err != nil {
			return nil
		}
		files[path.Base(f.Path)] = content
	}
	found, err := goapp.FindNamedDatabase(files, driver)
	if err != nil {
		return nil
	}
	return found
}
