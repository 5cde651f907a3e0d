package stack

import (
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/foreign"
)

// Reset is how the data come back before each run: a program with its arguments, or
// SnapshotReset alone.
type Reset []string

// SnapshotReset stands for Kasoku's own way (load.reset: snapshot).
const SnapshotReset = "snapshot"

// Snapshot reports whether Kasoku itself puts the data back.
func (r Reset) Snapshot() bool { return len(r) == 1 && r[0] == SnapshotReset }

// Set reports whether anything brings the data back.
func (r Reset) Set() bool { return len(r) > 0 }

// Command is the program that brings the data back; none where Kasoku does.
func (r Reset) Command() []string {
	if r.Snapshot() {
		return nil
	}
	return r
}

// UnmarshalYAML takes the word, a list, or a text that is split as a shell splits it.
func (r *Reset) UnmarshalYAML(unmarshal func(any) error) error {
	var argv foreign.Argv
	err := unmarshal(&argv)
	*r = Reset(argv)
	return err
}

// MarshalYAML writes the word, or the list.
func (r Reset) MarshalYAML() (any, error) {
	if r.Snapshot() {
		return SnapshotReset, nil
	}
	return []string(r), nil
}

// validateReset checks load.reset and load.snapshot.
func (s *Stack) validateReset(d *document) {
	l, snapshot := s.Load, s.Load.Snapshot
	switch {
	case l.Reset != nil && (len(l.Reset) == 0 || l.Reset[0] == ""):
		d.report("load.reset", "is empty; write [program, argument, …], or snapshot")
	case len(l.Reset) == 1 && !l.Reset.Snapshot() && nearest(l.Reset[0], []string{SnapshotReset}) != "":
		d.report("load.reset", "did you mean %q? A program of that name is [%s]", SnapshotReset, "./"+filepath.Base(l.Reset[0]))
	case !l.Reset.Snapshot() && (len(snapshot.Databases)+len(snapshot.Except)+len(snapshot.Folders) > 0 || snapshot.Shared):
		d.report("load.snapshot", `is read with "reset: snapshot" only; write that, or remove it`)
	case l.Reset.Snapshot() && s.Regulation.Production:
		d.report("load.reset", "snapshot would take back what visitors write, and the regulation says production: true; measure on another system, or name a command")
	}
	for i, where := range snapshot.Folders {
		at := where
		if name, path, ok := strings.Cut(where, ":"); ok && s.hasHost(name) {
			at = path
		}
		if !filepath.IsAbs(at) || filepath.Clean(at) == "/" {
			d.report(join("load.snapshot", "folders"), "%q (%d) is not the absolute path of a folder; write /PATH, or HOST:/PATH with one of hosts", where, i+1)
		}
	}
}

// hasHost reports whether a host has the name.
func (s *Stack) hasHost(name string) bool {
	if _, ok := s.Hosts[name]; ok {
		return true
	}
	return name == LocalHost || slices.ContainsFunc(s.Services, func(svc Service) bool { return svc.HostName() == name })
}
