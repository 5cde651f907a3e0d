package evidence

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// Package is a Debian package that services run from.
type Package struct {
	Name    string `json:"name"`
	Source  string `json:"source"` // packages of one source belong together
	Version string `json:"version"`
	// Candidate is the version that apt would install from the sources that
	// the host has, as it last fetched their lists; equal to Version if there
	// is no newer one, "" if apt knows of none.
	Candidate string `json:"candidate"`
	// Programs and Libraries are the services that run a program of it, and
	// those that only use a library of it.
	Programs  []string `json:"programs,omitempty"`
	Libraries []string `json:"libraries,omitempty"`
}

// packages asks each host which packages its services run from. It reads what
// dpkg and apt know and fetches nothing. It is only asked where packages may be
// installed: apt takes half a second of CPU to answer.
func (t *taker) packages() {
	if !t.st.Regulation.Install {
		return
	}
	for _, name := range t.st.HostNames() {
		h := t.hosts[name]
		if h == nil || t.snap.Files[name] == nil {
			continue
		}
		found, err := packagesOf(t.ctx, h, t.mapped(name, h))
		if err != nil {
			t.good("packages of "+name, "not judged: "+err.Error())
			continue
		}
		if t.snap.Packages == nil {
			t.snap.Packages = map[string][]Package{}
		}
		t.snap.Packages[name] = found
		newer := 0
		for _, p := range found {
			if p.Candidate != "" && p.Candidate != p.Version {
				newer++
			}
		}
		t.good("packages of "+name, fmt.Sprintf("%d packages, %d with another version to install", len(found), newer))
	}
}

// usedFile is a program or library of services.
type usedFile struct{ programs, libraries []string }

// mapped lists the files that the services' main processes run.
func (t *taker) mapped(name string, h host.Host) map[string]*usedFile {
	out := map[string]*usedFile{}
	for i := range t.st.Services {
		svc := &t.st.Services[i]
		if svc.HostName() != name || svc.RunsIn != "" {
			continue
		}
		pids, err := servicePIDs(t.ctx, h, t.st, svc)
		if err != nil || len(pids) == 0 {
			continue
		}
		data, err := h.ReadFile(t.ctx, fmt.Sprintf("/proc/%d/maps", slices.Min(pids)))
		if err != nil {
			continue // another user's
		}
		program, libraries := parseMaps(data)
		for _, f := range libraries {
			use(out, f).libraries = append(use(out, f).libraries, svc.Name)
		}
		if svc.Kind != stack.App && svc.Binary != "" {
			program = svc.Binary
		}
		if program != "" {
			use(out, program).programs = append(use(out, program).programs, svc.Name)
		}
	}
	return out
}

func use(m map[string]*usedFile, path string) *usedFile {
	if m[path] == nil {
		m[path] = &usedFile{}
	}
	return m[path]
}

// parseMaps reads /proc/PID/maps (proc_pid_maps(5)): the program is the first
// file, libraries are the others with ".so" in their names.
func parseMaps(data []byte) (program string, libraries []string) {
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		i := bytes.IndexByte(line, '/')
		if i < 0 || bytes.HasSuffix(bytes.TrimSpace(line), []byte(" (deleted)")) {
			continue
		}
		p := strings.TrimSpace(string(line[i:]))
		if seen[p] || !strings.HasPrefix(p, "/usr/") && !strings.HasPrefix(p, "/lib") && !strings.HasPrefix(p, "/opt/") {
			continue
		}
		seen[p] = true
		if strings.Contains(path.Base(p), ".so") {
			libraries = append(libraries, p)
		} else if program == "" {
			program = p
		}
	}
	return program, libraries
}

// packagesOf finds the packages of files and the versions that apt has of them.
func packagesOf(ctx context.Context, h host.Host, files map[string]*usedFile) ([]Package, error) {
	if len(files) == 0 {
		return []Package{}, nil
	}
	ask := func(argv ...string) ([]byte, error) {
		r, err := h.Run(ctx, host.Command{Argv: argv, Env: []string{"LC_ALL=C"}, Timeout: 20 * time.Second})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", argv[0], err)
		}
		return r.Stdout, nil // dpkg ends with 1 for a file of no package
	}
	argv := []string{"dpkg", "-S"}
	for _, f := range sortedKeys(files) {
		argv = append(argv, f)
		// With /lib a link to /usr/lib, dpkg has the name that the package has.
		if short, ok := strings.CutPrefix(f, "/usr"); ok {
			argv = append(argv, short)
		}
	}
	out, err := ask(argv...)
	if err != nil {
		return nil, err
	}
	owners := parseOwners(out)
	have := map[string]*Package{}
	for f, u := range files {
		name := owners[f]
		if name == "" {
			name = owners[strings.TrimPrefix(f, "/usr")]
		}
		if name == "" {
			continue
		}
		if have[name] == nil {
			have[name] = &Package{Name: name}
		}
		have[name].Programs = append(have[name].Programs, u.programs...)
		have[name].Libraries = append(have[name].Libraries, u.libraries...)
	}
	if len(have) == 0 {
		return []Package{}, nil
	}
	names := sortedKeys(have)
	if out, err = ask(append([]string{"dpkg-query", "-W", "-f", "${Package}\t${source:Package}\t${Version}\n"}, names...)...); err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 && have[f[0]] != nil {
			have[f[0]].Source, have[f[0]].Version = f[1], f[2]
		}
	}
	if out, err = ask(append([]string{"apt-cache", "policy"}, names...)...); err != nil {
		return nil, err
	}
	for name, v := range parseCandidates(out) {
		if have[name] != nil {
			have[name].Candidate = v
		}
	}
	var list []Package
	for _, n := range names {
		p := *have[n]
		slices.Sort(p.Programs)
		slices.Sort(p.Libraries)
		p.Programs, p.Libraries = slices.Compact(p.Programs), slices.Compact(p.Libraries)
		p.Libraries = slices.DeleteFunc(p.Libraries, func(s string) bool { return slices.Contains(p.Programs, s) })
		list = append(list, p)
	}
	return list, nil
}

// parseOwners reads `dpkg -S`: "libz1, other:amd64: /path". Of several owners
// the first counts; lines about diversions are passed over.
func parseOwners(data []byte) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(data)) {
		owner, file, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(owner, "diversion ") {
			continue
		}
		owner, _, _ = strings.Cut(owner, ",")
		owner, _, _ = strings.Cut(owner, ":")
		out[file] = owner
	}
	return out
}

// parseCandidates reads `apt-cache policy`.
func parseCandidates(data []byte) map[string]string {
	out := map[string]string{}
	name := ""
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, " ") {
			name, _, _ = strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ":"), ":")
			continue
		}
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "Candidate: "); ok && v != "(none)" {
			out[name] = v
		}
	}
	return out
}
