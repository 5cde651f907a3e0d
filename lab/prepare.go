package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mount lays the host's overlay on the base, unless it is there.
func (h *Host) mount() error {
	if mounts, err := mountsUnder(h.Root); err != nil || len(mounts) > 0 {
		return err
	}
	for _, dir := range []string{h.Root, h.file("upper"), h.file("work")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	options := "lowerdir=" + h.lab.Base + ",upperdir=" + h.file("upper") + ",workdir=" + h.file("work")
	if err := unix.Mount("overlay", h.Root, "overlay", 0, options); err != nil {
		return fmt.Errorf("mount the overlay of host %s (%s): %w", h.Name, options, err)
	}
	return nil
}

// prepare makes the host's file system: the base and what is its own, without the links
// that start the services off.
func (h *Host) prepare(ctx context.Context, s Settings, off []string) error {
	if err := os.MkdirAll(h.dir(), 0o755); err != nil {
		return err
	}
	if err := writeJSON(h.file("settings.json"), s); err != nil {
		return err
	}
	if err := h.mount(); err != nil {
		return err
	}
	names := "127.0.0.1 localhost\n"
	for _, o := range h.lab.Hosts {
		names += o.Address + " " + o.Name + "\n"
	}
	// IPv6 is left out: an address of it would be waited for at each boot.
	network := fmt.Sprintf("[Match]\nName=host0\n\n[Link]\nRequiredForOnline=yes\n\n[Network]\nAddress=%s/%d\nLinkLocalAddressing=no\nIPv6AcceptRA=no\nDHCP=no\n", h.Address, prefix)
	for name, text := range map[string]string{
		"etc/hostname": h.Name + "\n",
		"etc/hosts":    names,
		// It comes before the 80-container-host0.network of systemd.
		"etc/systemd/network/10-host0.network": network,
	} {
		if err := h.put(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, service := range off {
		if err := h.disable(service); err != nil {
			return err
		}
	}
	return h.putKeys(ctx)
}

// disable takes the links away that start a service when a host boots that is off.
func (h *Host) disable(service string) error {
	links, err := filepath.Glob(filepath.Join(h.Root, "etc/systemd/system/*.wants", service+".service"))
	if err != nil || len(links) == 0 {
		return wrong("service %s: no boot of the host starts it, so it cannot be left out", service)
	}
	for _, link := range links {
		if err := os.Remove(link); err != nil {
			return fmt.Errorf("leave service %s out of boots: %w", service, err)
		}
	}
	return nil
}

// put writes a file of a host that is off.
func (h *Host) put(name string, data []byte, mode os.FileMode) error {
	path := filepath.Join(h.Root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// putKeys gives the host an SSH key of its own, and lets the lab's key in as
// root and, if the base has that user, as ops.
func (h *Host) putKeys(ctx context.Context) error {
	key := filepath.Join(h.Root, "etc/ssh/ssh_host_ed25519_key")
	if err := errors.Join(os.MkdirAll(filepath.Dir(key), 0o755), ignoreMissing(os.Remove(key)), ignoreMissing(os.Remove(key+".pub"))); err != nil {
		return err
	}
	if _, err := run(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", h.Name, "-f", key); err != nil {
		return fmt.Errorf("make an SSH host key: %w", err)
	}
	allowed, err := os.ReadFile(h.lab.key() + ".pub")
	if err != nil {
		return err
	}
	passwd, err := os.ReadFile(filepath.Join(h.Root, "etc/passwd"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(passwd)) {
		f := strings.Split(line, ":") // passwd(5)
		if len(f) < 6 || f[0] != "root" && f[0] != "ops" {
			continue
		}
		uid, uerr := strconv.Atoi(f[2])
		gid, gerr := strconv.Atoi(f[3])
		if err := errors.Join(uerr, gerr); err != nil {
			return fmt.Errorf("read etc/passwd: %w", err)
		}
		// The user's own systemd stays. Else each SSH command would start and end
		// one, which takes longer than most commands and disturbs measurements.
		if err := h.put("var/lib/systemd/linger/"+f[0], nil, 0o644); err != nil {
			return err
		}
		dir := filepath.Join(f[5], ".ssh")
		if err := h.put(filepath.Join(dir, "authorized_keys"), allowed, 0o600); err != nil {
			return err
		}
		for _, name := range []string{dir, filepath.Join(dir, "authorized_keys")} {
			if err := os.Chown(filepath.Join(h.Root, name), uid, gid); err != nil {
				return err
			}
		}
		if err := os.Chmod(filepath.Join(h.Root, dir), 0o700); err != nil {
			return err
		}
	}
	return nil
}
