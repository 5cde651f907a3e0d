package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// barePackages make a minimal Debian a host: its own systemd and network, SSH,
// and the tools by which Kasoku looks at a host.
var barePackages = []string{"systemd", "systemd-sysv", "dbus", "libpam-systemd", "openssh-server", "iproute2", "procps", "curl", "ca-certificates", "sudo"}

// noise are units that would use the machine at times of their own.
var noise = []string{"apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer", "man-db.timer", "logrotate.timer"}

// bootstrap makes the bare system.
func (b *build) bootstrap(ctx context.Context, root string) error {
	args := []string{"--variant=minbase", "--arch=" + b.src.Arch, "--cache-dir=" + b.cache, "--components=" + strings.Join(b.src.Sections, ","),
		"--include=" + strings.Join(barePackages, ",")}
	script := append([]string{"debootstrap"}, append(args, b.src.Codename, root, b.src.Mirror)...)
	if err := b.apart(ctx, script...); err != nil {
		return err
	}
	return b.finish(root)
}

// install copies the bare system and adds the packages.
func (b *build) install(ctx context.Context, root string) error {
	b.progress("copying the bare system")
	if _, err := run(ctx, "cp", "-a", "--reflink=auto", filepath.Join(b.from, "root")+"/.", root); err != nil {
		return err
	}
	for file, text := range map[string]string{
		"etc/apt/sources.list":            strings.Join(b.src.Lines, "\n") + "\n",
		"etc/apt/apt.conf.d/90machine":    strings.Join(b.src.Conf, "\n") + "\n",
		"usr/sbin/policy-rc.d":            "#!/bin/sh\nexit 101\n", // no daemon starts while it is installed
		"etc/dpkg/dpkg.cfg.d/90unsafe-io": "force-unsafe-io\n",     // the whole tree is synced at the end
	} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o755); err != nil {
			return fmt.Errorf("prepare the base for apt: %w", err)
		}
	}
	if err := b.copyKeys(root); err != nil {
		return err
	}
	if err := b.apart(ctx, append([]string{"sh", "-c", installScript, "apt-get", root, b.cache}, b.packages...)...); err != nil {
		return err
	}
	for _, file := range []string{"usr/sbin/policy-rc.d", "etc/dpkg/dpkg.cfg.d/90unsafe-io", "etc/resolv.conf"} {
		if err := os.Remove(filepath.Join(root, file)); err != nil {
			return fmt.Errorf("tidy the base: %w", err)
		}
	}
	return b.finish(root)
}

// copyKeys gives the base what apt needs to fetch as the machine does: the
// resolver, and the keys that the machine trusts.
func (b *build) copyKeys(root string) error {
	files, err := filepath.Glob("/etc/apt/trusted.gpg.d/*")
	if err != nil {
		return err
	}
	for _, file := range append(files, "/etc/resolv.conf") {
		data, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		to := filepath.Join(root, file)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("copy %s into the base: %w", file, err)
		}
	}
	return nil
}

// installScript gets the root, the folder of downloads, and the packages.
const installScript = `set -e
root=$1 debs=$2; shift 2
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
mount --bind "$debs" "$root/var/cache/apt/archives"
mkdir -p "$root/var/cache/apt/archives/partial"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
chroot "$root" apt-get -q update
chroot "$root" apt-get -q -y --no-install-recommends -o APT::Keep-Downloaded-Packages=true install "$@"
rm -rf "$root"/var/lib/apt/lists/*
`

// apart runs a program in a mount and PID namespace of its own, so that nothing
// stays mounted or running when it ends, however it ends.
func (b *build) apart(ctx context.Context, args ...string) error {
	path, err := lookPath("unshare")
	if err != nil {
		return err
	}
	name := args[0]
	if name == "sh" {
		name = args[3] // the script's own name
	}
	return b.stream(exec.CommandContext(ctx, path, append([]string{"--mount", "--pid", "--fork", "--kill-child"}, args...)...), name)
}

// finish takes out what must differ between hosts and what would disturb
// measurements, and lets the user ops use sudo.
func (b *build) finish(root string) error {
	in := func(name string) string { return filepath.Join(root, name) }
	keys, err := filepath.Glob(in("etc/ssh/ssh_host_*"))
	if err != nil {
		return err
	}
	for _, f := range append(keys, in("var/lib/dbus/machine-id")) {
		if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.WriteFile(in("etc/machine-id"), nil, 0o444); err != nil {
		return err
	}
	links := [][2]string{{"/lib/systemd/system/systemd-networkd.service", "multi-user.target.wants/systemd-networkd.service"}}
	for _, unit := range noise {
		links = append(links, [2]string{"/dev/null", unit})
	}
	for _, l := range links {
		name := in("etc/systemd/system/" + l[1])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(l[0], name); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if b.from != "" {
		return nil
	}
	if _, err := run(context.Background(), "chroot", root, "useradd", "--create-home", "--shell", "/bin/bash", "ops"); err != nil {
		return err
	}
	return os.WriteFile(in("etc/sudoers.d/ops"), []byte("ops ALL=(ALL) NOPASSWD: ALL\n"), 0o440)
}

// stream runs a program for as long as it takes and tells its last line as progress.
func (b *build) stream(cmd *exec.Cmd, name string) error {
	// A group of its own, so that the whole of it ends when the context does;
	// standard input is empty.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	if proxy := b.src.proxy(); proxy != "" && os.Getenv("http_proxy") == "" {
		cmd.Env = append(cmd.Env, "http_proxy="+proxy)
	}
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	last := make(chan string)
	go func() {
		var lines []string
		for scan := bufio.NewScanner(r); scan.Scan(); {
			if text := strings.TrimSpace(scan.Text()); text != "" {
				lines = append(lines[max(0, len(lines)-5):], text)
				b.progress(name + ": " + text)
			}
		}
		io.Copy(io.Discard, r)
		last <- strings.Join(lines, "\n")
	}()
	err := cmd.Run()
	w.Close()
	if text := <-last; err != nil {
		return fmt.Errorf("%s: %w%s", name, err, tail(text))
	}
	return nil
}

// proxy is apt's for HTTP, for programs that only know the environment.
func (s *sources) proxy() string {
	for _, line := range s.Conf {
		if rest, ok := strings.CutPrefix(line, `Acquire::http::Proxy "`); ok {
			return strings.TrimSuffix(rest, `";`)
		}
	}
	return ""
}
