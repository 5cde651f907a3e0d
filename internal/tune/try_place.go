package tune

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/stack"
)

// place says on which host a proposal's folder is and its absolute path there.
func (t *Tuner) place(p Proposal) (hostName, dir string, err error) {
	hostName = p.Host
	if hostName == "" {
		if hostName, err = t.hostOf(p.Dir); err != nil {
			return "", "", err
		}
	}
	if t.Bench.Hosts[hostName] == nil {
		return "", "", fmt.Errorf("try: no service of %s is on a host %q", t.Stack.Path, hostName)
	}
	if hostName == stack.LocalHost {
		dir, err = filepath.Abs(p.Dir) // "" is the working folder
		return hostName, dir, err
	}
	if !filepath.IsAbs(p.Dir) {
		return "", "", fmt.Errorf("try: --dir %s is relative to nothing on host %s; name the folder there by its absolute path", p.Dir, hostName)
	}
	return hostName, filepath.Clean(p.Dir), nil
}

// hostOf finds the host of a folder: the only one, or that of the apps whose
// root holds it.
func (t *Tuner) hostOf(dir string) (string, error) {
	names := t.Stack.HostNames()
	if len(names) == 1 {
		return names[0], nil
	}
	var found []string
	for _, app := range t.Stack.OfKind(stack.App) {
		if rel, err := filepath.Rel(app.Root, dir); app.Root != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			found = append(found, app.HostName())
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) == 1 {
		return found[0], nil
	}
	return "", fmt.Errorf("try: it is not known on which host %s is; say it with --host (%s)", dir, strings.Join(names, ", "))
}
