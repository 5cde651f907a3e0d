package change

import (
	"context"
	"fmt"
	"path"
	"path/filepath"

	"kasoku/internal/host"
)

// Ready are the products of a build that was made elsewhere, put in place of
// those of an application. All else in the folder stays as it is.
type Ready struct {
	Dir      string   `json:"dir"`      // folder that the products are in
	Products []string `json:"products"` // files and folders, relative to Dir
	// Built is the archive that Executor.Pack made of the ready build, From
	// where it was, for people.
	Built host.Hash `json:"built"`
	From  string    `json:"from,omitempty"`
	// Saved is an archive of the products as they were. The executor fills it in.
	Saved host.Hash `json:"saved,omitempty"`
}

func (r *Ready) title() string {
	if r == nil {
		return "put a ready build in place (none given)"
	}
	return "put the build of " + r.From + " in place in " + r.Dir
}

func (r *Ready) shell(blobs string) (do, undo []string) {
	return unpackShell(r.Dir, r.Products, path.Join(blobs, string(r.Built))), unpackShell(r.Dir, r.Products, path.Join(blobs, string(r.Saved)))
}

// readyAct exchanges build products. They are the build's: what somebody else
// writes into them meanwhile goes when they are put back, as with a build.
type readyAct struct{ work }

func (a *readyAct) products() productSet {
	return productSet{&a.work, a.c.Ready.Dir, a.c.Ready.Products}
}

func (a *readyAct) prepare(ctx context.Context) ([][]byte, error) {
	r := a.c.Ready
	if r == nil || !filepath.IsAbs(r.Dir) || filepath.Clean(r.Dir) != r.Dir || len(r.Products) == 0 || r.Built == "" {
		return nil, fmt.Errorf("%s: it needs the absolute path of a folder, products, and a build that was packed", r.title())
	}
	n := *r
	r, a.c.Ready = &n, &n
	if err := properProducts(r.title(), r.Products); err != nil {
		return nil, err
	}
	built, err := a.x.journal.loadBlob(r.Built)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.title(), err)
	}
	saved, err := a.products().tar(ctx)
	if err != nil {
		return nil, err
	}
	r.Saved = host.HashOf(saved)
	return [][]byte{built, saved}, nil
}

func (a *readyAct) look(ctx context.Context) (sight, error) {
	r := a.c.Ready
	now, err := a.products().tar(ctx)
	if err != nil {
		return sight{}, err
	}
	s := sight{before: host.HashOf(now) == r.Saved, got: "other products"}
	// A service may write beside what was built, such as a cache, and a kill
	// leaves half of them.
	s.after = !s.before || r.Saved == r.Built
	return s, nil
}

func (a *readyAct) write(ctx context.Context) (string, error) {
	return "", a.products().unpack(ctx, a.c.Ready.Built)
}

func (a *readyAct) restore(ctx context.Context) error {
	return a.products().unpack(ctx, a.c.Ready.Saved)
}

func (a *readyAct) conflict(s sight) *ConflictError {
	return a.differs("the products as found", "those of "+a.c.Ready.From, s.got)
}
