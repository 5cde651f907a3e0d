package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Down ends the lab and removes all of it: processes, also those that Exec
// started, mounts, cgroups, network and files. The base stays. It takes a lab
// in any state, also one whose supervisors were killed or whose Up was, and
// may be called again.
func (l *Lab) Down(ctx context.Context) error {
	err := l.each(func(h *Host) error {
		if err := h.stop(); err != nil {
			return err
		}
		if err := unmount(h.Root); err != nil {
			return err
		}
		// systemd-nspawn makes it for machinectl bind, and leaves it.
		if err := os.RemoveAll(filepath.Join("/run/systemd/nspawn/propagate", h.Machine)); err != nil {
			return fmt.Errorf("remove what systemd-nspawn left: %w", err)
		}
		return h.removeCgroups()
	})
	err = errors.Join(err, l.removeNetwork(ctx), removeGroup())
	if err != nil {
		return fmt.Errorf("take lab %s down: %w; call it again, its files are still in %s", l.Name, err, l.Dir)
	}
	// Through a mount that is left, this would empty the base.
	if mounts, err := mountsUnder(l.Dir); err != nil || len(mounts) > 0 {
		return errors.Join(err, fmt.Errorf("take lab %s down: still mounted: %v", l.Name, mounts))
	}
	if err := os.RemoveAll(l.Dir); err != nil {
		return fmt.Errorf("remove the files of lab %s: %w", l.Name, err)
	}
	return nil
}

// unmount unmounts what is mounted at and in a folder.
func unmount(dir string) error {
	mounts, err := mountsUnder(dir)
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(mounts) {
		if err := unix.Unmount(m, 0); err != nil && err != unix.EINVAL {
			// A shell of somebody stands in it: it goes from the tree now, and
			// is freed when the shell leaves.
			if err := unix.Unmount(m, unix.MNT_DETACH); err != nil {
				return fmt.Errorf("unmount %s: %w", m, err)
			}
		}
	}
	return nil
}
