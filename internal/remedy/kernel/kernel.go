package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/sysctl"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/remedy/planning"
)

// errSet means that the kernel is set so already.
var errSet = errors.New("the kernel is set so already")

// target is the host that a finding is about, with what is known of its kernel.
type target struct {
	in       planning.Input
	host     string
	sys      *evidence.System
	settings map[string]evidence.KernelSetting
}

func targetOf(in planning.Input, f diagnose.Finding) (*target, error) {
	t := &target{in: in, host: f.Host}
	if t.host == "" {
		if svc := in.Stack.Service(f.Service); svc != nil {
			t.host = planning.HostOf(svc)
		} else {
			t.host = in.Stack.FrontHost()
		}
	}
	if t.sys = in.Evidence.On(t.host); t.sys == nil {
		return nil, fmt.Errorf("the run did not read host %s", t.host)
	}
	if t.settings = in.Snapshot.Kernel[t.host]; len(t.settings) == 0 {
		return nil, fmt.Errorf("the kernel's settings of %s were not read", t.host)
	}
	return t, nil
}

// set is one setting's new value.
type set struct{ key, to string }

// changes plans settings at run time and for the next boot. What is set so
// already is left out; what cannot be set here is an error before anything is
// written.
func (t *target) changes(sets []set, why string) ([]change.Change, error) {
	var now []change.Change
	var keep []set
	for _, s := range sets {
		have, ok := t.settings[s.key]
		switch {
		case !ok:
			return nil, fmt.Errorf("the kernel of %s has no %s, or its network namespace has none", t.host, s.key)
		case have.Value == s.to:
			continue
		case !have.Writable:
			return nil, fmt.Errorf("%s cannot be set on %s: it is read-only for Kasoku's user there (a container, or not root); set it on the machine itself: %s", s.key, t.host, command(s))
		}
		keep = append(keep, s)
		now = append(now, change.Change{Kind: change.KindSysctl, Host: t.host, Variable: s.key, BeforeValue: have.Value, AfterValue: s.to,
			Why: why, Command: command(s)})
	}
	if len(now) == 0 {
		return nil, errSet
	}
	files, err := t.files(keep, why)
	return append(files, now...), err
}

// command is what a person would type.
func command(s set) string {
	if strings.HasPrefix(s.key, "/") {
		return "echo " + s.to + " > " + s.key
	}
	return fmt.Sprintf("sysctl -w %s='%s'", s.key, s.to)
}

// files makes the settings permanent.
func (t *target) files(sets []set, why string) ([]change.Change, error) {
	changed := map[string][]byte{}
	conf, err := sysctl.Load(sysctl.Systemd, t.read, t.glob)
	if err != nil {
		return nil, err
	}
	boot, err := t.read(change.TmpfilesFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, s := range sets {
		if strings.HasPrefix(s.key, "/") {
			boot = withLine(boot, s)
			changed[change.TmpfilesFile] = boot
			continue
		}
		if _, err := conf.Set(s.key, s.to, change.SysctlFile); err != nil {
			return nil, err
		}
	}
	for p, b := range conf.Changed() {
		changed[p] = b
	}
	var out []change.Change
	for p, b := range changed {
		c := change.Change{Kind: change.KindFile, Host: t.host, Path: p, Why: why,
			After: &change.FileState{Hash: host.HashOf(b), Content: b, Mode: 0o644}}
		if f, ok := t.in.Snapshot.Files[t.host][p]; ok && f.Hash != "" {
			c.Before = &change.FileState{Hash: host.HashOf(f.Content), Content: f.Content, Mode: fs.FileMode(f.Mode), UID: f.UID, GID: f.GID, ModTime: f.ModTime}
			c.After.Mode, c.After.UID, c.After.GID = c.Before.Mode, f.UID, f.GID
		}
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// withLine is a tmpfiles.d file in which one line writes a setting (tmpfiles.d(5)):
// type, path, mode, user, group, age, what is written.
func withLine(text []byte, s set) []byte {
	line := "w " + s.key + " - - - - " + s.to + "\n"
	var b strings.Builder
	there := false
	for old := range strings.Lines(string(text)) {
		if f := strings.Fields(old); len(f) > 1 && f[0] == "w" && f[1] == s.key {
			old, there = line, true
		}
		b.WriteString(old)
	}
	if !there {
		b.WriteString(line)
	}
	return []byte(b.String())
}

// read and glob are the host's files as the editor of sysctl.d wants them.
func (t *target) read(p string) ([]byte, error) {
	if f, ok := t.in.Snapshot.Files[t.host][path.Clean(p)]; ok {
		return f.Content, nil
	}
	return nil, fmt.Errorf("%s: %w", p, fs.ErrNotExist)
}

func (t *target) glob(pattern string) ([]string, error) {
	var out []string
	for p := range t.in.Snapshot.Files[t.host] {
		if ok, err := path.Match(pattern, p); err != nil {
			return nil, err
		} else if ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out, nil
}

// describe names settings with their old and new values.
func (t *target) describe(cs []change.Change) string {
	var out []string
	for _, c := range cs {
		if c.Kind == change.KindSysctl {
			out = append(out, fmt.Sprintf("%s %s → %s", c.Variable, c.BeforeValue, c.AfterValue))
		}
	}
	return strings.Join(out, ", ")
}
