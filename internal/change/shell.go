package change

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Shell returns the commands that a person would type, as root, to bring a
// change of kind sysctl, unit, process, package, git or ready about, and to take it back; nil
// for other kinds. Patches and saved bytes are read from the folder blobs, where
// they have their hashes for names; in the journal's folder that is "blobs". Of a
// change that the executor has not looked at yet it is not known what leads back:
// there is no undo, as half of one would destroy.
func (c *Change) Shell(blobs string) (do, undo []string) {
	switch {
	case c.Kind == KindSysctl:
		return []string{setKernel(c.Variable, c.AfterValue)}, c.sysctlUndo()
	case c.Kind == KindUnit && c.Unit != nil:
		return c.Unit.shell(c.Unit.Before, c.Unit.After), c.Unit.shell(c.Unit.After, c.Unit.Before)
	case c.Kind == KindProcess && c.Process != nil:
		return c.Process.shell()
	case c.Kind == KindPackage && c.Package != nil:
		return c.Package.shell()
	case c.Kind == KindGit && c.Git != nil:
		return c.Git.shell(blobs)
	case c.Kind == KindReady && c.Ready != nil:
		return c.Ready.shell(blobs)
	}
	return nil, nil
}

func (c *Change) sysctlUndo() []string {
	for _, twin := range slices.Sorted(maps.Keys(c.Also)) {
		if was := c.Also[twin]; was != "0" {
			return []string{commandLine([]string{"sysctl", "-w", twin + "=" + was})}
		}
	}
	return []string{setKernel(c.Variable, strings.Join(strings.Fields(c.BeforeValue), " "))}
}

// shell leads from one state of a unit to another.
func (u *Unit) shell(from, to UnitState) []string {
	ctl := func(verb string) string {
		if u.Supervisor != "" {
			return commandLine([]string{"supervisorctl", "-c", u.Supervisor, verb, u.Name})
		}
		return commandLine([]string{"systemctl", verb, u.Name})
	}
	var out []string
	if to.Active == "inactive" && from.Active != "inactive" {
		out = append(out, ctl("stop"))
	}
	if from.Enabled == "masked" && to.Enabled != "masked" && to.Enabled != "" {
		out = append(out, ctl("unmask"))
	}
	if verb := map[string]string{"enabled": "enable", "disabled": "disable", "masked": "mask"}[to.Enabled]; verb != "" && to.Enabled != from.Enabled {
		out = append(out, ctl(verb))
	}
	if to.Active == "active" && from.Active != "active" {
		out = append(out, ctl("start"))
	}
	return out
}

func (p *Package) shell() (do, undo []string) {
	what := p.Name + "=" + p.Version
	switch p.Version {
	case "":
		what = p.Name + "-"
	case "candidate":
		what = p.Name
	}
	do = []string{commandLine(append([]string{"apt-get", "install", "-y", "--no-install-recommends", "--allow-downgrades", what}, p.With...))}
	if len(p.Set) == 0 {
		return do, nil
	}
	back := []string{"apt-get", "install", "-y", "--purge", "--allow-downgrades"}
	for _, s := range p.Set {
		if s.Before == "" {
			back = append(back, s.Name+"-")
		} else {
			back = append(back, s.Name+"="+s.Before)
		}
	}
	return do, []string{commandLine(back)}
}

func (g *Git) shell(blobs string) (do, undo []string) {
	in := func(args ...string) string { return commandLine(append([]string{"git", "-C", g.Dir}, args...)) }
	branch, at := strings.TrimPrefix(g.Branch, "refs/heads/"), g.Rev
	if branch == "" {
		branch = "kasoku/change"
	}
	if g.Rev == "" {
		patch := path.Join(blobs, string(g.PatchHash))
		if g.PatchHash == "" {
			patch = "change.patch" // the bytes that follow
		}
		do = append(do, in("checkout", "-b", branch),
			in("apply", "--index", "-")+" < "+commandLine([]string{patch}), in("-c", "user.name=Kasoku", "-c", "user.email=kasoku@localhost", "commit", "-q", "-m", g.message()))
	} else {
		do = append(do, in("checkout", "-b", branch, at))
	}
	if len(g.Build) > 0 {
		do = append(do, "("+commandLine([]string{"cd", g.Dir})+" && "+commandLine(g.Build)+")")
	}
	if g.Before == "" {
		return do, nil
	}
	back := strings.TrimPrefix(g.Ref, "refs/heads/")
	if back == "" {
		back = g.Before
	}
	undo = append(undo, in("checkout", back), in("branch", "-D", branch))
	if len(g.Products) > 0 {
		undo = append(undo, unpackShell(g.Dir, g.Products, path.Join(blobs, string(g.Saved)))...)
	}
	return do, undo
}

// shellDiff shows such a change.
func shellDiff(c Change) string {
	var out strings.Builder
	do, undo := c.Shell("blobs")
	for _, line := range do {
		fmt.Fprintln(&out, line)
	}
	if p := c.Package; p != nil {
		for _, s := range p.Set {
			fmt.Fprintf(&out, "#   %s: %s -> %s\n", s.Name, short(s.Before), short(s.After))
		}
	}
	for _, line := range undo {
		fmt.Fprintf(&out, "# undo: %s\n", line)
	}
	if len(do) > 0 && len(undo) == 0 {
		fmt.Fprintln(&out, "# undo: kasoku undo, once it is in place")
	}
	if c.Git != nil && len(c.Git.Patch) > 0 {
		out.Write(c.Git.Patch)
	}
	return out.String()
}
