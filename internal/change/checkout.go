package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// standing is where a checkout stands.
type standing struct {
	head, ref string
	branch    string   // commit of Kasoku's branch, "" if it does not exist
	dirty     []string // files that are not as committed
	locks     []string // of git, that are there
}

func (s standing) String() string {
	out := "at " + s.head[:min(12, len(s.head))]
	if s.ref != "" {
		out += " on " + strings.TrimPrefix(s.ref, "refs/heads/")
	}
	if len(s.dirty) > 0 {
		out += ", with uncommitted " + some(s.dirty)
	}
	if len(s.locks) > 0 {
		out += ", with " + path.Base(s.locks[0])
	}
	return out
}

// owner finds who owns the checkout: git and the build run as that user, so
// that all files stay theirs.
func (a *gitAct) owner(ctx context.Context) error {
	g := a.c.Git
	info, err := a.h.Stat(ctx, g.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w", g.title(), err)
	}
	if !info.Mode.IsDir() {
		return fmt.Errorf("%s: %s is no directory", g.title(), g.Dir)
	}
	g.UID, g.GID, g.Home = info.UID, info.GID, ""
	me, err := a.h.Run(ctx, host.Command{Argv: []string{"id", "-u"}})
	if err != nil {
		return fmt.Errorf("%s: %w", g.title(), err)
	}
	if id := strings.TrimSpace(string(me.Stdout)); id == strconv.Itoa(g.UID) {
		g.UID = -1 // no change of user is needed
		return nil
	} else if id != "0" {
		return fmt.Errorf("%s: the checkout belongs to user %d and Kasoku runs as user %s; run it as that user or as root", g.title(), g.UID, id)
	}
	r, err := a.h.Run(ctx, host.Command{Argv: []string{"getent", "passwd", strconv.Itoa(g.UID)}})
	if f := strings.Split(string(r.Stdout), ":"); err == nil && len(f) > 5 {
		g.Home = f[5]
	}
	return err
}

// asOwner puts a command into the owner's hands.
func (a *gitAct) asOwner(argv []string) []string {
	g := a.c.Git
	// Kasoku itself may have been started by git.
	argv = append([]string{"env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "-u", "GIT_OBJECT_DIRECTORY"}, argv...)
	if g.UID < 0 {
		return argv
	}
	return append([]string{"setpriv", "--reuid", strconv.Itoa(g.UID), "--regid", strconv.Itoa(g.GID), "--clear-groups", "--"}, argv...)
}

func (a *gitAct) env() []string {
	g := a.c.Git
	when := fmt.Sprintf("%d +0000", g.When.Unix())
	env := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", a.mark(),
		"GIT_AUTHOR_NAME=Kasoku", "GIT_AUTHOR_EMAIL=kasoku@localhost", "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=Kasoku", "GIT_COMMITTER_EMAIL=kasoku@localhost", "GIT_COMMITTER_DATE=" + when}
	if g.UID >= 0 && g.Home != "" {
		env = append(env, "HOME="+g.Home)
	}
	return env
}

// gitOptions: the checkout's hooks do not run, and file names are printed as
// they are. A folder whose .git belongs to someone else is not refused: Kasoku
// was told to work there.
func (a *gitAct) gitOptions() []string {
	return []string{"-c", "safe.directory=" + a.c.Git.Dir, "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "advice.detachedHead=false"}
}

// git runs git in the checkout and returns what it printed without its last
// newline.
func (a *gitAct) git(ctx context.Context, stdin []byte, args ...string) (string, error) {
	argv := a.asOwner(append(append([]string{"git"}, a.gitOptions()...), args...))
	r, err := a.h.Run(ctx, host.Command{Argv: argv, Dir: a.c.Git.Dir, Stdin: stdin, Env: a.env(), Timeout: execTimeout})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("git %s: exit status %d: %s", commandLine(args), r.ExitCode, tail(r))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", a.subject(), err)
	}
	return strings.TrimRight(string(r.Stdout), "\n"), nil
}

// gitWrites is git for what takes locks: it goes on to its end, because one that
// is killed leaves them behind, and nothing can be put back until they are gone.
func (a *gitAct) gitWrites(ctx context.Context, args ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := a.git(context.WithoutCancel(ctx), nil, args...)
	return errors.Join(err, ctx.Err())
}

// ref is the branch that is checked out, "" if HEAD is detached.
func (a *gitAct) ref(ctx context.Context) (string, error) {
	ref, err := a.git(ctx, nil, "rev-parse", "--symbolic-full-name", "HEAD")
	return refOf(ref), err
}

// refOf is the branch that git rev-parse --symbolic-full-name HEAD tells: it prints
// HEAD if that is no symbolic reference.
func refOf(printed string) string {
	if printed == "HEAD" {
		return ""
	}
	return printed
}

// gitPaths are where git keeps files of its own.
func (a *gitAct) gitPaths(ctx context.Context, names ...string) ([]string, error) {
	out, err := a.git(ctx, nil, append([]string{"rev-parse"}, pathsOf(names)...)...)
	if err != nil {
		return nil, err
	}
	return a.inCheckout(strings.Split(out, "\n")), nil
}

// pathsOf are the arguments by which git rev-parse prints where the files are, one
// a line.
func pathsOf(names []string) []string {
	var args []string
	for _, name := range names {
		args = append(args, "--git-path", name)
	}
	return args
}

// inCheckout makes paths absolute that git printed.
func (a *gitAct) inCheckout(paths []string) []string {
	for i, p := range paths {
		if !path.IsAbs(p) {
			paths[i] = path.Join(a.c.Git.Dir, p)
		}
	}
	return paths
}

// dirty lists files that are not as committed; untracked is git status's
// --untracked-files (all or no).
func (a *gitAct) dirty(ctx context.Context, untracked string) ([]string, error) {
	out, err := a.git(ctx, nil, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files="+untracked)
	return statusFiles(out), err
}

// unknown lists untracked and ignored files, a wholly ignored folder as one.
func (a *gitAct) unknown(ctx context.Context) ([]string, error) {
	out, err := a.git(ctx, nil, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching")
	return statusFiles(out), err
}

// statusFiles takes the names out of git status --porcelain=v1 -z --no-renames:
// two letters and a blank before each.
func statusFiles(out string) []string {
	var files []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 {
			files = append(files, strings.TrimSuffix(entry[3:], "/"))
		}
	}
	return files
}

func (a *gitAct) standing(ctx context.Context) (standing, error) {
	var s standing
	// One git tells all: over SSH each is a round trip, and there are many looks.
	out, err := a.git(ctx, nil, append([]string{"rev-parse", "HEAD", "--symbolic-full-name", "HEAD"}, pathsOf(a.lockNames())...)...)
	if err != nil {
		return s, err
	}
	lines := strings.Split(out, "\n")
	if len(lines) < 3 {
		return s, fmt.Errorf("%s: git rev-parse printed %q", a.subject(), out)
	}
	s.head, s.ref = lines[0], refOf(lines[1])
	if s.locks, err = a.there(ctx, a.inCheckout(lines[2:])); err != nil {
		return s, err
	}
	if s.branch, err = a.git(ctx, nil, "for-each-ref", "--format=%(objectname)", a.c.Git.Branch); err != nil {
		return s, err
	}
	s.dirty, err = a.dirty(ctx, "all")
	return s, err
}

// lockNames are git's locks: what a checkout or a removed branch writes under.
func (a *gitAct) lockNames() []string {
	return []string{"index.lock", "HEAD.lock", "packed-refs.lock", a.c.Git.Branch + ".lock"}
}

// locks lists those that are there.
func (a *gitAct) locks(ctx context.Context) ([]string, error) {
	paths, err := a.gitPaths(ctx, a.lockNames()...)
	if err != nil {
		return nil, err
	}
	return a.there(ctx, paths)
}

// there lists those of the files that exist.
func (a *gitAct) there(ctx context.Context, paths []string) ([]string, error) {
	var there []string
	for _, p := range paths {
		switch _, err := a.h.Stat(ctx, p); {
		case err == nil:
			there = append(there, p)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return there, nil
}

// diffNames lists what two commits differ in: a letter and a name each, all
// ended by zeros.
const diffNames = ` diff-tree -r -z --no-renames --name-status `

// commit makes the commit of the patch and prints it; dry leaves no trace of
// it and prints the names of the files that it changes, too.
func (a *gitAct) commit(ctx context.Context, dry bool) (string, error) {
	g := a.c.Git
	git := "git"
	for _, o := range a.gitOptions() {
		git += " " + commandLine([]string{o})
	}
	script := "set -e\numask 022\nt=$(mktemp -d /tmp/kasoku-git-XXXXXX); trap 'rm -rf \"$t\"' EXIT\nexport GIT_INDEX_FILE=\"$t/index\"\n"
	if dry {
		script += "o=$(cd \"$(" + git + " rev-parse --git-path objects)\" && pwd)\nmkdir \"$t/objects\"\nexport GIT_OBJECT_DIRECTORY=\"$t/objects\" GIT_ALTERNATE_OBJECT_DIRECTORIES=\"$o\"\n"
	}
	script += git + " read-tree \"$1\"\n" + git + " apply --cached --whitespace=nowarn -\n" +
		"tree=$(" + git + " write-tree)\nnew=$(" + git + " commit-tree \"$tree\" -p \"$1\" -m \"$2\")\necho \"$new\"\n"
	if dry {
		script += git + diffNames + "\"$1\" \"$new\"\n"
	}
	message := g.Message
	if message == "" {
		message = g.message()
	}
	r, err := a.h.Run(ctx, host.Command{Argv: a.asOwner([]string{"sh", "-c", script, "sh", g.Before, message}), Dir: g.Dir, Stdin: g.Patch, Env: a.env(), Timeout: execTimeout})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("the patch cannot be committed on top of %.12s: %s", g.Before, tail(r))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", a.subject(), err)
	}
	return strings.TrimSpace(string(r.Stdout)), nil
}

// others lists git processes at work in the checkout, as "pid command".
const others = `for c in /proc/[0-9]*/cwd; do
 d=$(readlink "$c" 2>/dev/null) || continue
 case $d/ in "$1"/*) p=${c%/cwd}; read -r name <"$p/comm" 2>/dev/null && [ "$name" = git ] && echo "${p#/proc/} $name" ;; esac
done
exit 0`

// unlock removes the locks that a killed git left. Someone else's stay: who
// is at work there is asked for first.
func (a *gitAct) unlock(ctx context.Context) error {
	locks, err := a.locks(ctx)
	if err != nil || len(locks) == 0 {
		return err
	}
	r, err := a.h.Run(ctx, host.Command{Argv: []string{"sh", "-c", others, "sh", a.c.Git.Dir}})
	if err == nil && len(r.Stdout) > 0 {
		err = fmt.Errorf("someone else's git is at work there (process %s); wait for its end, then recover again", strings.TrimSpace(string(r.Stdout)))
	}
	if err == nil {
		r, err = a.h.Run(ctx, host.Command{Argv: append([]string{"rm", "-f", "--"}, locks...)})
	}
	if err == nil && r.ExitCode != 0 {
		err = errors.New(tail(r))
	}
	if err != nil {
		return fmt.Errorf("%s: remove %s: %w", a.subject(), some(locks), err)
	}
	return nil
}
