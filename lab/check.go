package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// CannotError says that this machine cannot do what was asked, and what would
// make it able to.
type CannotError struct {
	What string // what is missing
	Do   string // what to do about it
}

func (e *CannotError) Error() string { return e.What }

// Hint is what to do.
func (e *CannotError) Hint() string { return e.Do }

// plain is the way that is left where there can be no lab.
const plain = "without a lab, cases and tests run their services as plain processes (docs/how-to/use-disposable-hosts.md)"

// program is one that the lab runs, and the Debian package it is in.
type program struct{ name, pkg string }

var runPrograms = []program{{"systemd-nspawn", "systemd-container"}, {"ip", "iproute2"}, {"tc", "iproute2"},
	{"ssh", "openssh-client"}, {"ssh-keygen", "openssh-client"}}

var buildPrograms = []program{{"debootstrap", "debootstrap"}, {"apt-get", "apt"}, {"chroot", "coreutils"}, {"unshare", "util-linux"}}

// Check reports with a *CannotError why there can be no lab on this machine,
// nil if there can be one.
func Check() error {
	if runtime.GOOS != "linux" {
		return &CannotError{"disposable hosts need Linux", plain}
	}
	if os.Geteuid() != 0 {
		return &CannotError{"disposable hosts need root: namespaces, mounts and cgroups", "run it with sudo; " + plain}
	}
	if err := need(runPrograms); err != nil {
		return err
	}
	if types, err := os.ReadFile("/proc/filesystems"); err != nil || !strings.Contains(string(types), "\toverlay\n") {
		return &CannotError{"the kernel has no overlay file system", "modprobe overlay; " + plain}
	}
	if err := canUnshare(); err != nil {
		return &CannotError{fmt.Sprintf("make a network and a mount namespace: %v", err), "this looks like a container without CAP_SYS_ADMIN; " + plain}
	}
	if _, err := hierarchies(); err != nil {
		return err
	}
	return nil
}

// need reports programs that are not installed.
func need(programs []program) error {
	var names, pkgs []string
	for _, p := range programs {
		if _, err := lookPath(p.name); err != nil {
			names, pkgs = append(names, p.name), append(pkgs, p.pkg)
		}
	}
	if names == nil {
		return nil
	}
	return &CannotError{"disposable hosts need " + strings.Join(names, ", "), "apt-get install " + strings.Join(pkgs, " ") + "; " + plain}
}

// lookPath finds a program also in the sbin folders, which an ordinary PATH leaves out.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if err == nil {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, name))
	}
	return path, err
}

// canUnshare tries it with a process of its own.
func canUnshare() error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	return cmd.Run()
}

// hostMemory is what a host with nginx and MariaDB idle takes (92 MB), with
// room for the boot.
const hostMemory = 150 << 20

// checkMemory refuses hosts that would push the machine out of memory.
func checkMemory(count int, each int64) error {
	if each == 0 || each > hostMemory {
		each = hostMemory // a cap is not a reservation
	}
	have, err := availableMemory()
	if err != nil {
		return err
	}
	if want := each * int64(count); want > have {
		return &CannotError{fmt.Sprintf("%d hosts need about %d MB of memory, and %d MB are available", count, want>>20, have>>20),
			"ask for fewer hosts (-n), or free memory; " + plain}
	}
	return nil
}

// availableMemory is MemAvailable of /proc/meminfo in bytes.
func availableMemory() (int64, error) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("read how much memory is available: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemAvailable:" {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("/proc/meminfo has no MemAvailable")
}
