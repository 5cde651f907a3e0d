package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
)

// Time limits. A database server is unpacked and configured in a minute;
// another apt, e.g. unattended upgrades, may be at work for some.
const (
	aptTimeout  = 15 * time.Minute
	aptLockWait = 2 * time.Minute
)

// policyFile is asked by invoke-rc.d and deb-systemd-invoke whether a package
// may start a service; 101 is no (invoke-rc.d's policy interface).
const policyFile = "/usr/sbin/policy-rc.d"

var policy = []byte("#!/bin/sh\n# Kasoku's, while it installs packages: services are not started by them.\nexit 101\n")

// dpkg runs a program of apt or dpkg that only reads. Its exit status 1 says
// that nothing was found.
func (a *packageAct) dpkg(ctx context.Context, argv ...string) (host.Result, error) {
	r, err := a.h.Run(ctx, host.Command{Argv: argv, Env: []string{"LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"}, Timeout: aptTimeout})
	if err == nil && r.ExitCode > 1 {
		err = fmt.Errorf("%s: exit status %d: %s", commandLine(argv), r.ExitCode, tail(r))
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", a.subject(), err)
	}
	return r, nil
}

// packageNow is what dpkg says of a package.
type packageNow struct {
	version  string // "" = not installed
	whole    bool   // neither half installed nor half removed
	residual bool   // only its configuration files are there
}

func (n packageNow) String() string {
	switch {
	case !n.whole:
		return "half installed"
	case n.version == "":
		return "absent"
	}
	return n.version
}

// states asks dpkg about every package of the set.
func (a *packageAct) states(ctx context.Context) (map[string]packageNow, error) {
	out := map[string]packageNow{}
	argv := []string{"dpkg-query", "-W", "-f", "${db:Status-Status}\t${db:Status-Eflag}\t${Version}\t${Package}\t${Architecture}\n"}
	for _, p := range a.c.Package.Set {
		out[p.Name] = packageNow{whole: true}
		argv = append(argv, p.Name)
	}
	r, err := a.dpkg(ctx, argv...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(r.Stdout)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			continue
		}
		name := f[3]
		if _, ok := out[name]; !ok {
			name = f[3] + ":" + f[4]
		}
		if _, ok := out[name]; !ok {
			continue
		}
		n := packageNow{whole: f[1] == "ok"}
		switch f[0] {
		case "installed":
			n.version = f[2]
		case "config-files":
			n.residual = true
		case "not-installed":
		default: // half-installed, unpacked, half-configured, triggers-…
			n.whole = false
		}
		out[name] = n
	}
	return out, nil
}

// forward are the arguments of apt-get install that bring about what is wanted.
func (a *packageAct) forward() []string {
	if p := a.c.Package; p.Version != "" {
		return append([]string{p.Name + "=" + p.Version}, p.With...)
	}
	return []string{a.c.Package.Name + "-"}
}

// aptArgs are the options of every apt-get, simulated or not. What is asked
// for happens, nothing else: no recommendations, no removal of what is no
// longer needed.
var aptArgs = []string{"-y", "-q", "--no-install-recommends", "--allow-downgrades", "--no-auto-remove",
	"-o", "Dpkg::Options::=--force-confold", "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Use-Pty=0",
	"-o", fmt.Sprintf("DPkg::Lock::Timeout=%d", int(aptLockWait.Seconds())), "-o", "APT::Get::AutomaticRemove=false"}

// simulated is a line of apt-get -s: "Inst name [old] (new repository [arch])",
// "Remv name [old]", "Purg name [old]".
var simulated = regexp.MustCompile(`^(Inst|Remv|Purg) (\S+)(?: \[([^\]]+)\])?(?: \((\S+))?`)

// simulate returns what apt-get would do, sorted by name.
func (a *packageAct) simulate(ctx context.Context, args []string) ([]PackageState, error) {
	argv := append(append([]string{"apt-get", "-s"}, aptArgs...), append([]string{"install"}, args...)...)
	r, err := a.h.Run(ctx, host.Command{Argv: argv, Env: []string{"LC_ALL=C"}, Timeout: aptTimeout})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.subject(), err)
	}
	if r.ExitCode != 0 {
		return nil, fmt.Errorf("%s: apt-get cannot do that: %s", a.c.Package.title(), tail(host.Result{Stdout: r.Stderr, Stderr: r.Stderr}))
	}
	set := map[string]PackageState{}
	for line := range strings.Lines(string(r.Stdout)) {
		m := simulated.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		s := set[m[2]]
		s.Name = m[2]
		if m[3] != "" {
			s.Before = m[3]
		}
		s.After = ""
		if m[1] == "Inst" {
			s.After = m[4]
		}
		set[m[2]] = s
	}
	var out []PackageState
	for _, s := range set {
		out = append(out, s)
	}
	slices.SortFunc(out, func(p, q PackageState) int { return strings.Compare(p.Name, q.Name) })
	return out, nil
}

// marks notes which packages of the set apt holds for installed by need, and
// which left their configuration behind.
func (a *packageAct) marks(ctx context.Context) error {
	set := a.c.Package.Set
	argv := []string{"apt-mark", "showauto"}
	for _, p := range set {
		if p.Before != "" {
			argv = append(argv, p.Name)
		}
	}
	if len(argv) > 2 {
		r, err := a.dpkg(ctx, argv...)
		if err != nil {
			return err
		}
		auto := strings.Fields(string(r.Stdout))
		for i := range set {
			set[i].Auto = slices.Contains(auto, set[i].Name)
		}
	}
	now, err := a.states(ctx)
	for i := range set {
		set[i].Residual = now[set[i].Name].residual
	}
	return err
}

// saveDebs keeps the packages to which undo goes back: from apt's archive or
// its cache, else packed again from what is installed.
func (a *packageAct) saveDebs(ctx context.Context) ([][]byte, error) {
	var blobs [][]byte
	for i := range a.c.Package.Set {
		p := &a.c.Package.Set[i]
		if p.Before == "" {
			continue
		}
		b, err := a.saveDeb(ctx, p)
		if err != nil {
			return nil, err
		}
		p.Deb = host.HashOf(b)
		blobs = append(blobs, b)
	}
	return blobs, nil
}

// getDeb prints the package $1 of version $2. Of two ways to get it the first
// that works counts.
const getDeb = `d=$(mktemp -d /tmp/kasoku-deb-XXXXXX) && trap 'rm -rf "$d"' EXIT && chmod 755 "$d" && cd "$d" || exit
apt-get -q -o APT::Sandbox::User=root download "$1=$2" >&2 || { command -v dpkg-repack >/dev/null && rm -f ./*.deb && dpkg-repack "$1" >&2; } || exit
cat ./*.deb`

func (a *packageAct) saveDeb(ctx context.Context, p *PackageState) ([]byte, error) {
	r, err := a.h.Run(ctx, host.Command{Argv: []string{"sh", "-c", getDeb, "sh", p.Name, p.Before}, Env: []string{"LC_ALL=C"}, Timeout: aptTimeout})
	if err == nil && (r.ExitCode != 0 || len(r.Stdout) == 0) {
		err = errors.New(tail(host.Result{Stderr: r.Stderr}))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: there would be no way back: %s %s, which is installed, is neither in apt's archives nor can it be packed again; install dpkg-repack, or add the archive that has it: %w", a.c.Package.title(), p.Name, p.Before, err)
	}
	return r.Stdout, nil
}

// unlocked waits until no apt or dpkg is at work: neither another's, which
// holds a lock, nor what a killed Kasoku left.
func (a *packageAct) unlocked(ctx context.Context) error {
	if err := a.awaitLeftovers(ctx, "apt-get", "dpkg"); err != nil {
		return err
	}
	deadline := time.Now().Add(aptLockWait)
	for {
		pid, err := a.lockHolder(ctx)
		if err != nil || pid == "" {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: process %s has held dpkg's lock for %s; it is another apt or dpkg at work (unattended upgrades?): wait for its end, then try again", a.subject(), pid, aptLockWait)
		}
		a.x.say("%s: waiting for process %s, which holds dpkg's lock", a.subject(), pid)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: wait for dpkg's lock, which process %s holds: %w", a.subject(), pid, ctx.Err())
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// findLockHolder prints the process that holds apt's or dpkg's lock. Both take
// theirs with fcntl(2). The file is told by its path, because the inode numbers
// of /proc/locks are not those of stat(2) on an overlay, as containers have it.
// A line is "1: POSIX  ADVISORY  WRITE 812 fe:01:1234 0 EOF". A database has
// hundreds of locks and of open files: each process is looked at once, and none
// is started for a file.
const findLockHolder = `while read -r _ kind _ _ pid _; do
 [ "$kind" = POSIX ] || continue
 case " $* " in *" /proc/$pid/fd "*) ;; *) set -- "$@" "/proc/$pid/fd" ;; esac
done </proc/locks
[ $# = 0 ] || find "$@" \( -lname /var/lib/dpkg/lock -o -lname /var/lib/dpkg/lock-frontend \) 2>/dev/null | cut -d/ -f3 | head -n 1
exit 0`

// lockHolder is the process that holds one of dpkg's locks, "" if none does.
// It takes no lock itself.
func (a *packageAct) lockHolder(ctx context.Context) (string, error) {
	r, err := a.dpkg(ctx, "sh", "-c", findLockHolder)
	return strings.TrimSpace(string(r.Stdout)), err
}

// restore goes back in one call of apt-get: saved packages in, new ones out
// with their configuration. What a killed dpkg left is finished first.
func (a *packageAct) restore(ctx context.Context) error {
	if err := a.edited(ctx); err != nil {
		return err
	}
	for range 2 { // apt-get -f may unpack what dpkg must configure again
		if err := a.aptRun(ctx, false, "dpkg", "--configure", "-a", "--force-confold", "--force-confdef"); err == nil {
			break
		}
		// What cannot be configured may only lack what apt-get -f brings.
		if err := a.aptRun(ctx, false, append([]string{"apt-get"}, append(aptArgs, "-f", "install")...)...); err != nil {
			a.x.say("%s: %v", a.subject(), err)
		}
	}
	now, err := a.states(ctx)
	if err != nil {
		return err
	}
	args, clean, err := a.backward(ctx, now)
	defer clean()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		if err := a.onlyOurs(ctx, args); err != nil {
			return err
		}
		if err := a.aptGet(ctx, append([]string{"install"}, args...)...); err != nil {
			return err
		}
	}
	if err := a.purge(ctx); err != nil {
		return err
	}
	if err := a.restoreMarks(ctx); err != nil {
		return err
	}
	return a.restoreFiles(ctx)
}

// backward are the arguments of apt-get install for the way back, with the
// saved packages laid down on the host; clean removes them.
func (a *packageAct) backward(ctx context.Context, now map[string]packageNow) (args []string, clean func(), err error) {
	dir := ""
	clean = func() {
		if dir != "" {
			if err := a.h.RemoveDir(context.WithoutCancel(ctx), dir); err != nil {
				a.x.say("%s: %v", a.subject(), err)
			}
		}
	}
	for _, p := range a.c.Package.Set {
		n := now[p.Name]
		switch {
		case p.Before == "" && (n.version != "" || !n.whole):
			args = append(args, p.Name+"-")
		case p.Before != "" && (n.version != p.Before || !n.whole):
			b, err := a.x.journal.loadBlob(p.Deb)
			if err != nil {
				return nil, clean, err
			}
			if dir == "" {
				// apt reads packages as the user _apt, if it can.
				if err := a.h.MakeDir(ctx, a.debDir(), 0o755, -1, -1); err != nil && !errors.Is(err, fs.ErrExist) {
					return nil, clean, err
				}
				dir = a.debDir()
			}
			file := path.Join(dir, string(p.Deb)+".deb")
			if err := a.h.ReplaceFile(ctx, file, b, host.Replace{Mode: 0o644, UID: -1, GID: -1}); err != nil && !errors.Is(err, host.ErrChanged) {
				return nil, clean, err
			}
			args = append(args, file)
		}
	}
	return args, clean, nil
}

// debDir is where saved packages are laid down for the way back.
func (a *packageAct) debDir() string {
	return path.Join("/var/cache/apt", strings.ReplaceAll(a.x.lockName(), ".", "-"))
}
