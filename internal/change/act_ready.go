package change

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// Ready are the products of a build that was made elsewhere, put in place of
// those of an application. All else in the folder stays as it is.
type Ready struct {
	Dir      string   `json:"dir"`      // folder that the products are in
	Products []string `json:"products"` // files and folders, relative to Dir
	// Built is the archive that Executor.Pack made of the ready build, From
	// where it was, for people. Without Built, From is HOST:FOLDER, of which a
	// copy is taken when the change is applied; the executor fills Built in.
	Built host.Hash `json:"built"`
	From  string    `json:"from,omitempty"`
	// Saved is an archive of the products as they were. The executor fills it in.
	Saved host.Hash `json:"saved,omitempty"`
}

func (r *Ready) title() string {
	if r == nil {
		return "put a ready build in place (none given)"
	}
	if _, _, copies := r.source(); copies {
		return "copy " + some(r.Products) + " of " + r.From + " to " + r.Dir
	}
	return "put the build of " + r.From + " in place in " + r.Dir
}

// source is the host and the folder of HOST:FOLDER in From.
func (r *Ready) source() (hostName, folder string, ok bool) {
	hostName, folder, ok = strings.Cut(r.From, ":")
	return hostName, folder, ok && hostName != "" && filepath.IsAbs(folder)
}

func (r *Ready) shell(blobs string) (do, undo []string) {
	if r.Built == "" { // not taken yet
		argv := []string{"rsync", "-a", "--delete"}
		for _, p := range r.Products {
			argv = append(argv, path.Join(r.From, p))
		}
		return []string{commandLine(append(argv, r.Dir+"/"))}, nil
	}
	if r.Saved == "" {
		return unpackShell(r.Dir, r.Products, path.Join(blobs, string(r.Built))), nil
	}
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
	if r == nil || !filepath.IsAbs(r.Dir) || filepath.Clean(r.Dir) != r.Dir || len(r.Products) == 0 {
		return nil, fmt.Errorf("%s: it needs the absolute path of a folder, and products", r.title())
	}
	if _, _, copies := r.source(); r.Built == "" && !copies {
		return nil, fmt.Errorf("%s: it needs a build that was packed, or HOST:FOLDER to copy from", r.title())
	}
	n := *r
	r, a.c.Ready = &n, &n
	if err := properProducts(r.title(), r.Products); err != nil {
		return nil, err
	}
	var built []byte
	var err error
	if r.Built == "" {
		if built, err = a.copied(ctx); err == nil {
			r.Built = host.HashOf(built)
		}
	} else {
		built, err = a.x.journal.loadBlob(r.Built)
	}
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

// mostCopied bounds a copy, bytes: it goes through the journal and through
// memory.
const mostCopied = 256 << 20

// copied packs the products of the host and folder that From names.
func (a *readyAct) copied(ctx context.Context) ([]byte, error) {
	r := a.c.Ready
	name, folder, _ := r.source()
	h, ok := a.x.hosts[name]
	if !ok {
		return nil, fmt.Errorf("host %q is not in the stack", name)
	}
	du, err := h.Run(ctx, host.Command{Argv: append([]string{"du", "--bytes", "--summarize", "--total", "--"}, r.Products...), Dir: folder, Timeout: execTimeout, Env: []string{"LC_ALL=C"}})
	if err == nil && du.ExitCode != 0 {
		err = fmt.Errorf("exit status %d: %s", du.ExitCode, tail(du))
	}
	if err != nil {
		return nil, fmt.Errorf("how large %s in %s is: %w", some(r.Products), r.From, err)
	}
	lines := strings.Split(strings.TrimSpace(string(du.Stdout)), "\n")
	size, _, _ := strings.Cut(lines[len(lines)-1], "\t")
	if n, err := strconv.ParseInt(size, 10, 64); err != nil || n > mostCopied {
		return nil, fmt.Errorf("%s in %s has %s bytes, more than the %d MiB that are copied; copy or mount it there yourself", some(r.Products), r.From, size, mostCopied>>20)
	}
	of := *a.c
	return productSet{&work{x: a.x, t: a.t, i: a.i, c: &of, h: h}, folder, r.Products}.tar(ctx)
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
