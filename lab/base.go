package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// DefaultPackages is the base that cases and tests share.
var DefaultPackages = []string{"nginx-light", "mariadb-server", "php-fpm", "php-mysql", "memcached", "redis-server", "supervisor", "git"}

// recipe is part of a base's key: a base that was built in another way is
// another base. Raise it when the build changes what is in it.
const recipe = "1"

// BaseInfo is what a base's base.json says.
type BaseInfo struct {
	Root     string    `json:"root"` // its root file system
	Release  string    `json:"release"`
	Packages []string  `json:"packages"`
	Built    time.Time `json:"built"`
	Seconds  float64   `json:"seconds"` // how long the build took; 0 if it was there
}

// Base returns the root file system with the packages (nil: DefaultPackages),
// after building it if the state folder dir does not have it ("": see DefaultDir).
// A build takes minutes and needs the machine's package archive; progress is
// told what goes on. Two processes that want the same base build it once. An
// interrupted build leaves downloads and the bare system behind, which the
// next one uses.
func Base(ctx context.Context, dir string, packages []string, progress func(string)) (*BaseInfo, error) {
	if packages == nil {
		packages = DefaultPackages
	}
	if progress == nil {
		progress = func(string) {}
	}
	if err := checkPackages(packages); err != nil {
		return nil, err
	}
	src, err := readRelease(ctx)
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(stateDir(dir), "base")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of bases: %w", err)
	}
	bare := &build{src: src, dir: filepath.Join(dir, baseKey(src, nil)), cache: filepath.Join(dir, "debs"), progress: progress}
	full := &build{src: src, dir: filepath.Join(dir, baseKey(src, packages)), cache: bare.cache, progress: progress, packages: packages, from: bare.dir}
	if info, err := full.ready(); err == nil {
		return info, nil
	}
	if err := need(buildPrograms); err != nil {
		return nil, err
	}
	if err := src.readArchive(ctx); err != nil {
		return nil, err
	}
	if _, err := bare.once(ctx, bare.bootstrap); err != nil {
		return nil, err
	}
	if len(packages) == 0 {
		return bare.ready()
	}
	return full.once(ctx, full.install)
}

// checkPackages keeps options and shell words out of apt's command line.
func checkPackages(packages []string) error {
	for _, p := range packages {
		if p == "" || strings.Trim(p, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" || strings.HasPrefix(p, "-") {
			return fmt.Errorf("%q is not the name of a Debian package", p)
		}
	}
	return nil
}

// baseKey names a base's folder after what is in it; the order of packages does not matter.
func baseKey(src *sources, packages []string) string {
	sorted := slices.Clone(packages)
	slices.Sort(sorted)
	sum := sha256.Sum256([]byte(strings.Join(append([]string{recipe, src.Codename, src.Arch}, slices.Compact(sorted)...), " ")))
	return src.Codename + "-" + src.Arch + "-" + hex.EncodeToString(sum[:6])
}

// build makes one base folder: base.json, which is written last, and root.
type build struct {
	src      *sources
	dir      string
	cache    string // downloaded packages
	packages []string
	from     string // the base to start from, "" = none
	progress func(string)
}

func (b *build) root() string { return filepath.Join(b.dir, "root") }

// ready reads what a finished build wrote.
func (b *build) ready() (*BaseInfo, error) {
	info := &BaseInfo{}
	err := readJSON(filepath.Join(b.dir, "base.json"), info)
	info.Root = b.root()
	return info, err
}

// once runs make in a new folder and gives it its name when it is complete.
func (b *build) once(ctx context.Context, make func(ctx context.Context, root string) error) (*BaseInfo, error) {
	held, err := b.wait(ctx)
	if err != nil {
		return nil, err
	}
	defer held.Close()
	if info, err := b.ready(); err == nil {
		return info, nil
	}
	start := time.Now()
	tmp := b.dir + ".building"
	if err := errors.Join(removeTree(tmp), os.RemoveAll(b.dir), os.MkdirAll(filepath.Join(tmp, "root"), 0o755), os.MkdirAll(b.cache, 0o755)); err != nil {
		return nil, fmt.Errorf("clear the folder of an earlier build: %w", err)
	}
	if err := make(ctx, filepath.Join(tmp, "root")); err != nil {
		return nil, errors.Join(fmt.Errorf("build the base %s: %w", filepath.Base(b.dir), err), removeTree(tmp))
	}
	info := &BaseInfo{Release: b.src.Codename, Packages: b.packages, Built: start.UTC(), Seconds: time.Since(start).Seconds()}
	if err := writeJSON(filepath.Join(tmp, "base.json"), info); err != nil {
		return nil, err
	}
	if err := syncFS(tmp); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp, b.dir); err != nil {
		return nil, fmt.Errorf("name the finished base: %w", err)
	}
	info.Root = b.root()
	return info, nil
}

// wait takes the base's lock; somebody who builds it has it.
func (b *build) wait(ctx context.Context) (*os.File, error) {
	for {
		held, err := lock(b.dir+".lock", false)
		if err != unix.EWOULDBLOCK {
			return held, err
		}
		b.progress("another kasoku builds this base; waiting for it")
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// syncFS makes a base survive a power loss before it gets its name.
func syncFS(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// removeTree removes a folder after unmounting what a killed build left mounted in it.
func removeTree(dir string) error {
	mounts, err := mountsUnder(dir)
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(mounts) {
		if err := unix.Unmount(m, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w", m, err)
		}
	}
	return os.RemoveAll(dir)
}

// mountsUnder lists mount points in dir, outer ones first.
func mountsUnder(dir string) ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		at := unescapeMount(f[4])
		if at == dir || strings.HasPrefix(at, dir+"/") {
			out = append(out, at)
		}
	}
	return out, nil
}

// unescapeMount undoes the octal escapes of proc_pid_mountinfo(5).
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
