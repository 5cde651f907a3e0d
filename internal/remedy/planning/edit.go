package planning

import (
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"sort"
	"strconv"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// HostOf is the name of a service's host: "local" if it has none.
func HostOf(s *stack.Service) string {
	if s.Host == "" {
		return "local"
	}
	return s.Host
}

// MachineOf is what the host of a service has and may.
func MachineOf(in Input, svc *stack.Service) evidence.Machine { return in.Snapshot.On(HostOf(svc)) }

// CPUsOf is the number of CPUs of a service's host, at least 1.
func CPUsOf(in Input, service string) int {
	if svc := in.Stack.Service(service); svc != nil {
		return max(MachineOf(in, svc).CPUs, 1)
	}
	return max(in.Snapshot.CPUs, 1)
}

// SpareMemory is what the service's host has left beyond the regulation's
// headroom, bytes; negative if there is too little. 0 if the run did not read it.
func SpareMemory(in Input, svc *stack.Service) int64 {
	sys := in.Evidence.On(HostOf(svc))
	if sys == nil {
		return 0
	}
	return sys.MemoryAvailable - MachineOf(in, svc).Memory*int64(in.Stack.Regulation.Headroom())/100
}

// FileChange replaces one file that the snapshot holds.
func FileChange(snap *evidence.Snapshot, svc *stack.Service, path string, content []byte, act change.Activation, why string) (change.Change, error) {
	f, ok := snap.Files[HostOf(svc)][path]
	if !ok {
		return change.Change{}, fmt.Errorf("%s is not among the configuration files of %s", path, svc.Name)
	}
	if !f.Writable {
		return change.Change{}, fmt.Errorf("write %s: %w; `kasoku check` tells what grants it", path, fs.ErrPermission)
	}
	attrs := change.FileState{Mode: fs.FileMode(f.Mode), UID: f.UID, GID: f.GID}
	before, after := attrs, attrs
	before.Hash, before.Content, before.ModTime = host.HashOf(f.Content), f.Content, f.ModTime
	after.Hash, after.Content = host.HashOf(content), content
	return change.Change{Kind: change.KindFile, Host: HostOf(svc), Service: svc.Name, Activate: act,
		Path: path, Before: &before, After: &after, Why: why}, nil
}

// FileChanges turns an editor's changed files into changes, sorted by path.
func FileChanges(snap *evidence.Snapshot, svc *stack.Service, changed map[string][]byte, act change.Activation, why string) ([]change.Change, error) {
	paths := make([]string, 0, len(changed))
	for p := range changed {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	var out []change.Change
	for _, p := range paths {
		c, err := FileChange(snap, svc, p, changed[p], act, why)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// NameOr is a user's or group's name, or its number where it has none.
func NameOr(name string, id int) string {
	if name != "" {
		return name
	}
	return strconv.Itoa(id)
}

// FrontAddress is where load.url points, "host:port"; "" if it is no URL.
func FrontAddress(st *stack.Stack) string {
	u, err := url.Parse(st.Load.URL)
	if err != nil {
		return ""
	}
	if u.Port() == "" {
		return u.Host + ":" + diagnose.FrontPort(st)
	}
	return u.Host
}

// WithChanges is the snapshot with the files as the changes leave them.
func WithChanges(snap *evidence.Snapshot, changes []change.Change) *evidence.Snapshot {
	out := *snap
	out.Files = maps.Clone(snap.Files)
	for _, c := range changes {
		if db := out.Databases[c.Service]; c.Kind == change.KindVariable && db != nil {
			copied := *db
			copied.Variables = maps.Clone(db.Variables)
			copied.Variables[c.Variable] = c.AfterValue
			out.Databases = maps.Clone(out.Databases)
			out.Databases[c.Service] = &copied
		}
		if c.Kind != change.KindFile {
			continue
		}
		files := maps.Clone(out.Files[c.Host])
		f := files[c.Path]
		f.Content, f.Hash = c.After.Content, string(c.After.Hash)
		files[c.Path] = f
		out.Files[c.Host] = files
	}
	return &out
}
