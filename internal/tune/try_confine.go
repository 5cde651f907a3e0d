package tune

import (
	"fmt"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// confined refuses files outside the applications and the services'
// configuration: who may propose patches but no commands is not to write where
// other programs take commands from.
func (t *Tuner) confined(snap *evidence.Snapshot, changes []change.Change) error {
	for _, c := range changes {
		if c.Kind != change.KindFile {
			continue
		}
		hostName := c.Host
		if hostName == "" {
			hostName = stack.LocalHost
		}
		if _, read := snap.Files[hostName][c.Path]; read || t.inApplication(hostName, c.Path) {
			continue
		}
		return fmt.Errorf("try: %s on %s lies in no application's folder (services[].root, build.dir) and is no configuration file that a service of %s reads", c.Path, hostName, t.Stack.Path)
	}
	return nil
}

func (t *Tuner) inApplication(hostName, path string) bool {
	for _, app := range t.Stack.OfKind(stack.App) {
		if app.HostName() != hostName {
			continue
		}
		dirs := []string{app.Root}
		if app.Build != nil {
			dirs = append(dirs, app.Build.Dir)
		}
		for _, dir := range dirs {
			if dir == "" {
				continue
			}
			if onThisMachine(hostName) { // a link may lead out of it
				if within(resolved(path), resolved(dir)) {
					return true
				}
			} else if within(path, dir) {
				return true
			}
		}
	}
	return false
}
