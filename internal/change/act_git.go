package change

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
)

// Git is a commit in an application's checkout. Either Patch is committed on
// top of what is checked out, or Rev, which the repository must have already,
// is checked out. Either way the checkout is then on a branch of Kasoku's own.
// A Rev that is checked out already is built again.
type Git struct {
	Dir string `json:"dir"` // top folder of the checkout
	// Patch is what git diff prints, relative to Dir. Its bytes are in the
	// journal's blob folder by PatchHash.
	Patch     []byte    `json:"-"`
	PatchHash host.Hash `json:"patch,omitempty"`
	Rev       string    `json:"rev,omitempty"`
	Message   string    `json:"message,omitempty"`
	// Build runs in Dir as the checkout's owner after it has changed, Timeout
	// at most (0: 10 min). Products are the files and folders that it makes,
	// relative to Dir and not tracked by git; undo brings back what they were.
	Build    []string      `json:"build,omitempty"`
	Timeout  time.Duration `json:"timeout,omitempty"`
	Products []string      `json:"products,omitempty"`
	// Built is the archive that Executor.Build made of the products; they are
	// then unpacked instead of built again.
	Built host.Hash `json:"built,omitempty"`

	// The executor fills in what follows.
	Before string    `json:"before,omitempty"` // commit
	Ref    string    `json:"ref,omitempty"`    // refs/heads/…; "" = detached
	After  string    `json:"after,omitempty"`  // commit
	Branch string    `json:"branch,omitempty"` // Kasoku's, as refs/heads/…
	When   time.Time `json:"when,omitzero"`    // of the commit, so that it can be made again
	UID    int       `json:"uid"`              // owner of the checkout, who runs git and the build
	GID    int       `json:"gid"`
	Home   string    `json:"home,omitempty"` // of the owner
	// Files are those that the commit changes or deletes, and Attributes their
	// mode, owner, group and time before, as stat(1) printed them.
	Files      []string `json:"files,omitempty"`
	Attributes string   `json:"attributes,omitempty"`
	// Beside are files of the checkout, relative to Dir, that other changes of the
	// journal hold: that they are not as committed, now or once those changes are taken
	// back, is nobody's work.
	Beside []string `json:"beside,omitempty"`
	// Saved is a tar archive of the products as they were before.
	Saved host.Hash `json:"saved,omitempty"`
}

func (g *Git) title() string {
	switch {
	case g == nil:
		return "git (no checkout given)"
	case g.Rev != "":
		return "check out " + g.Rev + " in " + g.Dir
	}
	return "commit to " + g.Dir + ": " + g.message()
}

func (g *Git) message() string {
	if g.Message == "" {
		return "Change under test by Kasoku"
	}
	first, _, _ := strings.Cut(g.Message, "\n")
	return first
}

// gitAct commits, builds, and goes back.
type gitAct struct{ work }

var gitRev = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

func (a *gitAct) prepare(ctx context.Context) ([][]byte, error) {
	g := a.c.Git
	if g == nil || !filepath.IsAbs(g.Dir) || filepath.Clean(g.Dir) != g.Dir || (len(g.Patch) == 0 && g.PatchHash == "") == (g.Rev == "") || g.Rev != "" && !gitRev.MatchString(g.Rev) {
		return nil, fmt.Errorf("%s: it needs the absolute path of a checkout, and either a patch or a revision", g.title())
	}
	n := *g
	g, a.c.Git = &n, &n
	g.Before, g.Ref, g.After, g.Branch, g.Saved, g.Beside = "", "", "", "", "", nil
	if err := properProducts(g.title(), g.Products); err != nil {
		return nil, err
	}
	var blobs [][]byte
	if g.Rev == "" {
		if err := a.loadPatch(); err != nil {
			return nil, err
		}
		blobs = append(blobs, g.Patch)
	}
	if g.Built != "" {
		built, err := a.x.journal.loadBlob(g.Built)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.title(), err)
		}
		blobs = append(blobs, built)
	}
	if err := a.owner(ctx); err != nil {
		return nil, err
	}
	if err := a.clean(ctx); err != nil {
		return nil, err
	}
	if err := a.plan(ctx); err != nil {
		return nil, err
	}
	saved, err := a.products().tar(ctx)
	if err != nil {
		return nil, err
	}
	g.Saved = host.HashOf(saved)
	g.Patch = nil
	return append(blobs, saved), nil
}

// loadPatch takes the patch from the plan or from the journal.
func (a *gitAct) loadPatch() error {
	g := a.c.Git
	if g.Patch == nil {
		b, err := a.x.journal.loadBlob(g.PatchHash)
		if err != nil {
			return fmt.Errorf("%s: %w", g.title(), err)
		}
		g.Patch = b
	}
	if h := host.HashOf(g.Patch); g.PatchHash != "" && g.PatchHash != h {
		return fmt.Errorf("%s: the patch does not have the plan's hash", g.title())
	} else {
		g.PatchHash = h
	}
	return nil
}

// clean refuses a checkout in which there is someone's work, and takes down
// what is checked out.
func (a *gitAct) clean(ctx context.Context) error {
	g := a.c.Git
	top, err := a.git(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if top != g.Dir {
		return fmt.Errorf("%s: %s is not the top of a checkout, that is %s", g.title(), g.Dir, top)
	}
	if g.Before, err = a.git(ctx, nil, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return err
	}
	if g.Ref, err = a.ref(ctx); err != nil {
		return err
	}
	dirty, err := a.dirty(ctx, "all")
	if err != nil {
		return err
	}
	if g.Beside, err = a.held(ctx, dirty); err != nil {
		return err
	}
	if untracked := a.unexpected(dirty); len(untracked) > 0 {
		return fmt.Errorf("%s: %w: its files are not as committed: %s; commit, stash or ignore them first", g.title(), ErrChanged, some(untracked))
	}
	g.Beside = slices.Compact(slices.Sorted(slices.Values(append(g.Beside, a.edited()...))))
	begun, err := a.gitPaths(ctx, "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "index.lock")
	if err != nil {
		return err
	}
	for _, file := range begun {
		if _, err := a.h.Stat(ctx, file); err == nil {
			return fmt.Errorf("%s: %w: someone is in the middle of something there: %s exists; finish that first", g.title(), ErrChanged, file)
		}
	}
	if len(g.Products) == 0 {
		return nil
	}
	tracked, err := a.git(ctx, nil, append([]string{"ls-files", "--"}, g.Products...)...)
	if err == nil && tracked != "" {
		err = fmt.Errorf("%s: products must not be tracked by git, but these are: %s", g.title(), some(strings.Split(tracked, "\n")))
	}
	return err
}

// some names a few of many files.
func some(files []string) string {
	const most = 8
	if len(files) > most {
		return strings.Join(files[:most], ", ") + fmt.Sprintf(" and %d more", len(files)-most)
	}
	return strings.Join(files, ", ")
}

// plan makes the commit in a store that is thrown away, to see that the patch
// fits and what the commit will be called.
func (a *gitAct) plan(ctx context.Context) error {
	g := a.c.Git
	g.When = time.Now().UTC().Truncate(time.Second)
	var err error
	diff := ""
	if g.Rev != "" {
		if g.After, err = a.git(ctx, nil, "rev-parse", "--verify", g.Rev+"^{commit}"); err == nil {
			diff, err = a.git(ctx, nil, append(strings.Fields(diffNames), g.Before, g.After)...)
		}
	} else if g.After, err = a.commit(ctx, true); err == nil {
		g.After, diff, _ = strings.Cut(g.After, "\n")
	}
	if err != nil {
		return err
	}
	if g.After == g.Before && len(g.Build) == 0 && g.Built == "" {
		return fmt.Errorf("%s: %w: it is checked out already", g.title(), ErrChanged)
	}
	g.Branch = "refs/heads/kasoku/" + g.After[:12]
	if branches, err := a.git(ctx, nil, "for-each-ref", "--format=%(refname)", g.Branch, "refs/heads/kasoku"); err != nil {
		return err
	} else if branches == "refs/heads/kasoku" || slices.Contains(strings.Fields(branches), g.Branch) {
		return fmt.Errorf("%s: %w: there is a branch %s already; delete or rename it", g.title(), ErrChanged, strings.TrimPrefix(branches, "refs/heads/"))
	}
	return a.attributes(ctx, diff)
}

func (a *gitAct) look(ctx context.Context) (sight, error) {
	g := a.c.Git
	now, err := a.standing(ctx)
	if err != nil {
		return sight{}, err
	}
	s := sight{got: now.String()}
	clean := len(a.unexpected(now.dirty)) == 0 && len(now.locks) == 0
	s.after = clean && now.head == g.After && now.ref == g.Branch
	if clean && now.head == g.Before && now.ref == g.Ref && now.branch == "" {
		same, err := a.sameProducts(ctx)
		if err != nil {
			return s, err
		}
		attributes, err := a.stat(ctx)
		if err != nil {
			return s, err
		}
		s.before = same && attributes == g.Attributes
		if !same {
			s.got += ", with other build products"
		} else if !s.before {
			s.got += ", with other modes, owners or times of files"
		}
	}
	return s, nil
}

func (a *gitAct) products() productSet { return productSet{&a.work, a.c.Git.Dir, a.c.Git.Products} }

// sameProducts compares the products with those that were saved.
func (a *gitAct) sameProducts(ctx context.Context) (bool, error) {
	if len(a.c.Git.Products) == 0 {
		return true, nil
	}
	b, err := a.products().tar(ctx)
	return host.HashOf(b) == a.c.Git.Saved, err
}

// claim: a kill in the middle of a checkout, of the build, or of going back.
// What is there is Kasoku's if HEAD is one of the two commits and every file
// that differs is one that the commit changes, with bytes of either side.
func (a *gitAct) claim(ctx context.Context, s sight) (sight, error) {
	if err := a.endLeftovers(ctx); err != nil {
		return s, err
	}
	g := a.c.Git
	now, err := a.standing(ctx)
	if err != nil {
		return s, err
	}
	ours := (now.head == g.Before || now.head == g.After) && (now.ref == g.Ref || now.ref == g.Branch)
	if !ours {
		return s, nil
	}
	foreign, err := a.foreign(ctx, a.unexpected(now.dirty))
	if err == nil {
		s.after = len(foreign) == 0
	}
	if len(foreign) > 0 {
		s.got = now.String() + "; these are someone's: " + some(foreign)
	}
	return s, err
}

func (a *gitAct) sweep(ctx context.Context) error { return a.endLeftovers(ctx) }

func (a *gitAct) write(ctx context.Context) (string, error) {
	g := a.c.Git
	if g.Rev == "" {
		if err := a.loadPatch(); err != nil {
			return "", err
		}
		made, err := a.commit(ctx, false)
		if err != nil {
			return "", err
		}
		if made != g.After {
			return "", fmt.Errorf("%s: git made commit %s, the plan said %s", g.title(), made, g.After)
		}
	}
	// Someone may have committed since the look; a checkout would take that away.
	head, err := a.git(ctx, nil, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return "", err
	}
	if head != g.Before {
		return "", fmt.Errorf("%s: %w: it is now at %s", a.subject(), ErrChanged, short(head))
	}
	if err := a.gitWrites(ctx, "checkout", "--quiet", "-b", strings.TrimPrefix(g.Branch, "refs/heads/"), g.After); err != nil {
		return "", err
	}
	if err := a.keepAttributes(ctx, false); err != nil {
		return "", err
	}
	if g.Built != "" {
		return g.After, a.products().unpack(ctx, g.Built)
	}
	if len(g.Build) == 0 {
		return g.After, nil
	}
	before, err := a.unknown(ctx)
	if err != nil {
		return "", err
	}
	if err := a.build(ctx); err != nil {
		return "", err
	}
	after, err := a.unknown(ctx)
	if err != nil {
		return "", err
	}
	if more := a.unexpected(slices.DeleteFunc(after, func(f string) bool { return slices.Contains(before, f) })); len(more) > 0 {
		a.x.say("%s: since the build began there are files that undo will leave, because they are not named as its products: %s", a.subject(), some(more))
	}
	return g.After, nil
}

// build runs the build command as the owner.
func (a *gitAct) build(ctx context.Context) error {
	g := a.c.Git
	limit := g.Timeout
	if limit <= 0 {
		limit = execTimeout
	}
	r, err := a.h.Run(ctx, host.Command{Argv: a.asOwner(g.Build), Dir: g.Dir, Env: a.env(), Timeout: limit, Keep: 1 << 20, EndGroup: true})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("exit status %d: %s", r.ExitCode, tail(r))
	}
	if err != nil {
		return fmt.Errorf("%s: build with %s: %w", a.subject(), commandLine(g.Build), err)
	}
	return nil
}

func (a *gitAct) conflict(s sight) *ConflictError {
	g := a.c.Git
	return a.differs(standing{head: g.Before, ref: g.Ref}.String(), standing{head: g.After, ref: g.Branch}.String(), s.got)
}
