package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
)

// sources is where this machine gets its packages: the base gets its own from
// the same place, so that it works behind the same mirror and proxy.
type sources struct {
	Codename string // "bookworm"
	Arch     string // "amd64"
	Mirror   string // of the release itself
	Sections []string
	Lines    []string // of the base's sources.list
	Conf     []string // of the base's apt.conf: what the machine says on fetching
}

// suites are the parts of a release that a base may use, by what follows the codename.
var suites = []string{"", "-updates", "-security"}

// readRelease says what this machine runs, which its bases are of, too.
func readRelease(ctx context.Context) (*sources, error) {
	codename, err := osCodename()
	if err != nil {
		return nil, err
	}
	arch, err := run(ctx, "dpkg", "--print-architecture")
	if err != nil {
		return nil, fmt.Errorf("%w; a base can be built only where there is dpkg: name a root file system with --base", err)
	}
	return &sources{Codename: codename, Arch: strings.TrimSpace(arch)}, nil
}

// readArchive asks apt where it gets the release from, and how.
func (s *sources) readArchive(ctx context.Context) error {
	// One line per index: what apt would fetch, whatever the format of its files.
	targets, err := run(ctx, "apt-get", "indextargets", "--format", "$(RELEASE)|$(COMPONENT)|$(REPO_URI)", "Identifier: Packages")
	if err != nil {
		return err
	}
	if err := s.parseTargets(targets); err != nil {
		return err
	}
	conf, err := run(ctx, "apt-config", "dump")
	if err != nil {
		return err
	}
	for line := range strings.Lines(conf) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Acquire::") && !strings.HasPrefix(line, "Acquire::IndexTargets") && strings.Contains(line, ` "`) {
			s.Conf = append(s.Conf, line)
		}
	}
	return nil
}

// parseTargets reads apt-get's list: RELEASE|COMPONENT|REPO_URI.
func (s *sources) parseTargets(targets string) error {
	codename := s.Codename
	type suite struct{ release, uri string }
	sections := map[suite][]string{}
	var order []suite
	for line := range strings.Lines(targets) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 || !slices.Contains(suites, strings.TrimPrefix(f[0], codename)) || !strings.HasPrefix(f[0], codename) || strings.HasPrefix(f[2], "cdrom:") {
			continue
		}
		k := suite{f[0], strings.TrimSuffix(f[2], "/")}
		if sections[k] == nil {
			order = append(order, k)
		}
		if !slices.Contains(sections[k], f[1]) {
			sections[k] = append(sections[k], f[1])
		}
	}
	for _, k := range order {
		sort.Strings(sections[k])
		if k.release == codename && s.Mirror == "" && slices.Contains(sections[k], "main") {
			s.Mirror, s.Sections = k.uri, sections[k]
		}
		s.Lines = append(s.Lines, fmt.Sprintf("deb %s %s %s", k.uri, k.release, strings.Join(sections[k], " ")))
	}
	if s.Mirror == "" {
		return fmt.Errorf("apt on this machine has no archive for %s main; add one to its sources, or name a root file system with --base", codename)
	}
	return nil
}

// osCodename is the release that this machine runs.
func osCodename() (string, error) {
	f, err := os.Open("/etc/os-release")
	if err != nil {
		return "", fmt.Errorf("read which release this machine runs: %w", err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "VERSION_CODENAME="); ok && name != "" {
			return strings.Trim(name, `"`), nil
		}
	}
	return "", errors.New("/etc/os-release names no release (VERSION_CODENAME); name a root file system with --base")
}
