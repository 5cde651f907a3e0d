package patch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RepoOf finds the repository that a folder is in, as OpenRepo does for a program.
func RepoOf(ctx context.Context, dir string) (*Repo, error) { return OpenRepo(ctx, &Program{Dir: dir}) }

// CleanBelow is Clean for a folder of Go source.
func (r *Repo) CleanBelow(ctx context.Context, dir string) error {
	return r.Clean(ctx, &Program{Dir: dir})
}

// CommitFiles makes a commit of files, by their paths on this machine, on what is checked out, and
// returns it. New files are added; one that is there has to be a file of the commit.
// Neither the checkout nor its index is touched, and no branch is moved.
func (r *Repo) CommitFiles(ctx context.Context, files map[string][]byte, message string) (string, error) {
	env, end, err := r.ownIndex(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := r.add(ctx, env, name, files[name]); err != nil {
			return "", err
		}
	}
	tree, err := r.git(ctx, env, nil, "write-tree")
	if err != nil {
		return "", err
	}
	return r.git(ctx, env, []byte(message), "commit-tree", tree, "-p", r.Head, "-F", "-")
}

// add puts a file into the index of env.
func (r *Repo) add(ctx context.Context, env []string, name string, text []byte) error {
	path, err := filepath.Rel(r.Top, name)
	if err != nil || !filepath.IsLocal(path) {
		return errors.Join(fmt.Errorf("%s is not below %s", name, r.Top), err)
	}
	mode := "100644"
	entry, err := r.git(ctx, env, nil, "ls-files", "--stage", "--full-name", "--", path)
	if err != nil {
		return err
	}
	if fields := strings.Fields(entry); len(fields) > 0 {
		if mode = fields[0]; mode != "100644" && mode != "100755" {
			return fmt.Errorf("%s is no file of the commit %s", path, r.Head)
		}
	} else if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s is there, and no file of the commit %s", path, r.Head)
	}
	blob, err := r.git(ctx, env, text, "hash-object", "-w", "--stdin")
	if err != nil {
		return err
	}
	_, err = r.git(ctx, env, nil, "update-index", "--add", "--cacheinfo", mode+","+blob+","+filepath.ToSlash(path))
	return err
}
