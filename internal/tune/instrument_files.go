package tune

import (
	"maps"
	"slices"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// running: the service has processes. One that is off (a spare) is not started
// for an instrument.
func running(snap *evidence.Snapshot, svc *stack.Service) bool {
	_, known := snap.Users[svc.HostName()+"/"+svc.Name]
	return known
}

// editedFiles are the changes of a service's configuration that the service
// takes on by a reload.
func editedFiles(snap *evidence.Snapshot, svc *stack.Service, changed map[string][]byte, why string) ([]change.Change, error) {
	var out []change.Change
	for _, p := range slices.Sorted(maps.Keys(changed)) {
		c, err := replaceConfig(snap, svc, p, changed[p], why)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// withEdits is the snapshot after an instrument was put in place, so that the
// next one may edit the same files. They are taken away in the reverse order.
func withEdits(snap *evidence.Snapshot, changes []change.Change) *evidence.Snapshot {
	out := *snap
	out.Files = maps.Clone(snap.Files)
	for _, c := range changes {
		name := c.Host
		if name == "" {
			name = stack.LocalHost
		}
		f, known := out.Files[name][c.Path]
		if c.Kind != change.KindFile || !known || c.After == nil {
			continue
		}
		f.Content, f.Hash = c.After.Content, string(host.HashOf(c.After.Content))
		of := maps.Clone(out.Files[name])
		of[c.Path] = f
		out.Files[name] = of
	}
	return &out
}
