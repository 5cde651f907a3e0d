package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// BranchPrefix is what the names of branches of patches begin with.
const BranchPrefix = "kasoku/"

// Repo is the git repository that a program is in.
type Repo struct {
	Top  string // folder of the checkout
	Head string // commit that is checked out

	owner *owner
}

// OpenRepo finds the repository of a program. Errors say what to do otherwise.
func OpenRepo(ctx context.Context, p *Program) (*Repo, error) {
	r := &Repo{Top: p.Dir, owner: ownerOf(p.Dir)}
	top, err := r.git(ctx, nil, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%s is in no git repository: %w", p.Dir, err)
	}
	r.Top = top
	if r.Head, err = r.git(ctx, nil, nil, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return nil, fmt.Errorf("%s has no commit yet: %w", top, err)
	}
	return r, nil
}

// Clean is an error if work on the program is not committed: what was looked at would not
// be what the commit stands on. Files that Kasoku itself has changed, held, are nobody's
// work.
func (r *Repo) Clean(ctx context.Context, p *Program, held ...string) error {
	out, err := r.git(ctx, nil, nil, "status", "--porcelain", "--untracked-files=all", "--", p.Dir)
	if err != nil {
		return err
	}
	var open []string
	for _, line := range strings.Split(out, "\n") {
		if len(line) > 3 && slices.Contains(held, filepath.Join(r.Top, strings.TrimSpace(line[2:]))) {
			continue
		}
		if len(line) > 3 && (!strings.HasPrefix(line, "??") || strings.HasSuffix(line, ".go") || strings.HasSuffix(line, "go.mod") || p.php != nil && slices.Contains(phpSuffixes, filepath.Ext(line))) {
			open = append(open, strings.TrimSpace(line[2:]))
		}
	}
	if len(open) > 0 {
		more := ""
		if len(open) > 3 {
			more = fmt.Sprintf(" and %d more", len(open)-3)
		}
		return fmt.Errorf("%s%s in %s: work that is not committed", strings.Join(open[:min(len(open), 3)], ", "), more, r.Top)
	}
	return nil
}

// Commits makes one commit for each patch of the places, the first on what is checked out, and returns
// the last. Neither the checkout nor its index is touched, and no branch is moved.
func (r *Repo) Commits(ctx context.Context, places []*Place) (string, error) {
	env, end, err := r.ownIndex(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	parent := r.Head
	places = Leads(places)
	for i, at := range places {
		files, err := Files(places[:i+1])
		if err != nil {
			return "", err
		}
		if err := r.stage(ctx, env, places[:i+1], files); err != nil {
			return "", err
		}
		tree, err := r.git(ctx, env, nil, "write-tree")
		if err != nil {
			return "", err
		}
		if parent, err = r.git(ctx, env, []byte(at.Message()), "commit-tree", tree, "-p", parent, "-F", "-"); err != nil {
			return "", err
		}
	}
	return parent, nil
}

// ownIndex makes an index of its own with what is checked out in it, and is the environment
// of git that works on it, as somebody if the machine names nobody. end removes it.
func (r *Repo) ownIndex(ctx context.Context) (env []string, end func(), err error) {
	index, err := r.owner.folder()
	if err != nil {
		return nil, nil, err
	}
	end = func() { _ = os.RemoveAll(index) } // a folder for a moment, which is the system's to clean
	env = []string{"GIT_INDEX_FILE=" + filepath.Join(index, "index")}
	if _, err := r.git(ctx, env, nil, "var", "GIT_COMMITTER_IDENT"); err != nil {
		env = append(env, "GIT_AUTHOR_NAME=Kasoku", "GIT_AUTHOR_EMAIL=kasoku@localhost", "GIT_COMMITTER_NAME=Kasoku", "GIT_COMMITTER_EMAIL=kasoku@localhost")
	}
	if _, err := r.git(ctx, env, nil, "read-tree", r.Head); err != nil {
		end()
		return nil, nil, err
	}
	return env, end, nil
}

// stage puts files into the index of env.
func (r *Repo) stage(ctx context.Context, env []string, places []*Place, files map[string][]byte) error {
	parts := partsOf(places)
	for name, src := range files {
		i := slices.IndexFunc(parts, func(p *Place) bool { return p.File == name })
		path, err := filepath.Rel(r.Top, parts[i].absolute())
		if err != nil {
			return err
		}
		entry, err := r.git(ctx, env, nil, "ls-files", "--stage", "--full-name", "--", path)
		fields := strings.Fields(entry)
		if err != nil || len(fields) < 4 || fields[0] != "100644" && fields[0] != "100755" {
			return errors.Join(fmt.Errorf("%s is no file of the commit %s", path, r.Head), err)
		}
		blob, err := r.git(ctx, env, src, "hash-object", "-w", "--stdin")
		if err != nil {
			return err
		}
		if _, err := r.git(ctx, env, nil, "update-index", "--cacheinfo", fields[0]+","+blob+","+filepath.ToSlash(path)); err != nil {
			return err
		}
	}
	return nil
}

// Branch makes a new branch at a commit; it is an error if there is one of that name.
func (r *Repo) Branch(ctx context.Context, name, commit string) error {
	if !strings.HasPrefix(name, BranchPrefix) {
		return fmt.Errorf("the branch %q does not begin with %s", name, BranchPrefix)
	}
	if _, err := r.git(ctx, nil, nil, "check-ref-format", "--branch", name); err != nil {
		return fmt.Errorf("%q is no name of a branch", name)
	}
	if _, err := r.git(ctx, nil, nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+name); err == nil {
		return fmt.Errorf("there is a branch %s already", name)
	}
	_, err := r.git(ctx, nil, nil, "update-ref", "-m", "kasoku patch", "refs/heads/"+name, commit, strings.Repeat("0", len(commit)))
	return err
}

// Export writes the commits up to one as a series of mails (git format-patch) into a
// folder, and returns the files.
func (r *Repo) Export(ctx context.Context, dir, commit string) ([]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	made, err := r.owner.folder()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(made)
	if _, err = r.git(ctx, nil, nil, "format-patch", "--quiet", "--no-signature", "-o", made, r.Head+".."+commit); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(made, "*.patch"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	for i, name := range names {
		mail, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		names[i] = filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(names[i], mail, 0o666); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// git runs git in the checkout and returns what it prints.
func (r *Repo) git(ctx context.Context, env []string, in []byte, args ...string) (string, error) {
	// Hooks do not run. A folder whose .git belongs to someone else is not refused: Kasoku
	// was told to work there.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir, cmd.Env = r.Top, append(os.Environ(), env...)
	r.owner.does(cmd)
	cmd.Stdin = bytes.NewReader(in)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
