package change

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

func init() {
	for name, plan := range map[string]Change{"pkginstall": install("kapp", "candidate"), "pkgupgrade": install("ktool", "candidate"), "pkgremove": install("klib0", "")} {
		setups[name] = func(l lab, o *Options) {
			h := overlayIn(l.dir)
			o.Hosts = map[string]host.Host{"target": h}
		}
		plans[name] = func(lab) []Change { return []Change{plan} }
	}
}

func install(name, version string) Change {
	return Change{Kind: KindPackage, Host: "target", Package: &Package{Name: name, Version: version}}
}

// makeRepository builds packages and an archive of them, and makes it the
// overlay's only one:
//
//	klib0 1         installed, with /etc/klib.conf, as installed by need
//	ktool 1 and 2   1 installed, needs klib0; its /etc/ktool/a.conf is changed
//	                by 2 and edited by hand, b.conf only changed by 2; its
//	                script is slow, and starts a service
//	kapp 1          needs kdep, which is not installed, and recommends kextra
//	klate 1         needs kdep
//
// Of the machine's own packages only dpkg is left, which apt asks for what it
// can: all of them are read anew by each call.
const makeRepository = `
awk 'BEGIN { RS = ""; ORS = "\n\n" } /^Package: dpkg\n/' /var/lib/dpkg/status | grep -vE '^(Pre-Depends|Depends|Breaks|Replaces):' >/tmp/status
rm -rf /var/lib/dpkg/info /var/lib/apt/lists /var/lib/apt/extended_states /var/lib/dpkg/triggers /var/lib/dpkg/status-old
mkdir -p /var/lib/dpkg/info /var/lib/dpkg/triggers /var/lib/apt/lists/partial
echo 1 >/var/lib/dpkg/info/format; touch /var/lib/dpkg/info/dpkg.list /var/lib/dpkg/info/dpkg.md5sums
cat /tmp/status >/var/lib/dpkg/status; : >/var/lib/dpkg/diversions; : >/var/lib/dpkg/statoverride
mkdir -p /repo && cd /repo
deb() { # name version depends; files are in ./$1_$2
 d=$1_$2; mkdir -p $d/DEBIAN $d/usr/share/$1; echo $2 >$d/usr/share/$1/version
 printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@localhost>\nDescription: for a test\n' $1 $2 >$d/DEBIAN/control
 [ -z "$3" ] || printf '%s\n' "$3" >>$d/DEBIAN/control
 [ ! -d $d/etc ] || (cd $d && find etc -type f -printf '/%p\n' >DEBIAN/conffiles)
 dpkg-deb --build --root-owner-group $d >/dev/null; rm -r $d
}
mkdir -p klib0_1/etc ktool_1/etc/ktool ktool_2/etc/ktool kdep_1/etc ktool_2/DEBIAN ktool_1/DEBIAN
echo lib >klib0_1/etc/klib.conf; echo dep >kdep_1/etc/kdep.conf
echo 'a 1' >ktool_1/etc/ktool/a.conf; echo 'b 1' >ktool_1/etc/ktool/b.conf
echo 'a 2' >ktool_2/etc/ktool/a.conf; echo 'b 2' >ktool_2/etc/ktool/b.conf
for v in 1 2; do
 printf '#!/bin/sh\nsleep 0.4\n/usr/sbin/policy-rc.d ktool start 2>/dev/null; [ $? = 101 ] || echo started $1 >>/var/log/ktool\n' >ktool_$v/DEBIAN/postinst
 chmod 755 ktool_$v/DEBIAN/postinst
done
deb klib0 1; deb ktool 1 'Depends: klib0'; deb ktool 2 'Depends: klib0'
deb kdep 1; deb kextra 1; deb klate 1 'Depends: kdep'
printf 'Depends: kdep\nRecommends: kextra\n' >/tmp/d; deb kapp 1 "$(cat /tmp/d)"
dpkg-scanpackages -m . >Packages 2>/dev/null || apt-ftparchive packages . >Packages
find /etc/apt -name '*.list' -delete -o -name '*.sources' -delete
echo 'deb [trusted=yes] file:/repo ./' >/etc/apt/sources.list
apt-get update -qq -o APT::Sandbox::User=root
apt-get install -y -qq --no-install-recommends ktool=1 >/dev/null
apt-mark manual ktool >/dev/null
rm -f /var/log/ktool
echo 'a edited by hand' >/etc/ktool/a.conf; chmod 640 /etc/ktool/a.conf; touch -d '2011-11-11 11:11:11' /etc/ktool/*.conf /etc/klib.conf
`

// packageBase is the folder of the overlay in which makeRepository ran; those of
// the tests lie above it. TestMain removes it.
var packageBase string

// packageLab is an overlay with that archive.
func packageLab(t *testing.T) (lab, overlay) {
	t.Helper()
	for _, program := range []string{"apt-get", "dpkg-deb", "dpkg-scanpackages"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%s is not installed: run `make deps-test`", program)
		}
	}
	if packageBase == "" {
		dir, err := os.MkdirTemp(memory(), "kpb")
		must(t, err)
		t.Cleanup(func() {
			if packageBase == "" {
				os.RemoveAll(dir)
			}
		})
		base := newOverlay(t, dir)
		base.sh(t, makeRepository)
		base.unmount(t)
		packageBase = dir
	}
	dir, err := os.MkdirTemp(memory(), "kpk")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return lab{dir}, newOverlay(t, dir, overlayIn(packageBase).upper())
}

// seenPackages is what must come back: what dpkg and apt know of the packages,
// their files, and that no service was started.
func (o overlay) seenPackages(t *testing.T) string {
	t.Helper()
	out := o.sh(t, `dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n' | grep '^k[a-z0-9]* ' | grep -E '^(klib0|ktool|kapp|kdep|kextra|klate) ' || true
apt-mark showauto klib0 ktool kapp kdep 2>/dev/null
find /usr/share/k*/version /etc/klib.conf* /etc/kdep.conf* /etc/ktool -type f -exec stat -c '%n %a %u:%g %s' {} + -o -exec stat -c '%n %a %u:%g' {} + 2>/dev/null | sort || true
stat -c '%n %y' /etc/klib.conf* /etc/kdep.conf* /etc/ktool/* 2>/dev/null || true
cat /etc/ktool/* /usr/share/k*/version 2>/dev/null || true
ls /usr/sbin/policy-rc.d /var/log/ktool /var/cache/apt/kasoku* /tmp/kasoku* 2>/dev/null || true
dpkg --audit`)
	return out
}

func (o overlay) executor(t *testing.T, l lab) *Executor {
	t.Helper()
	opts := l.options(l.project(t))
	opts.Hosts = map[string]host.Host{"target": o}
	x, err := Open(t.Context(), opts)
	must(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

func TestPackages(t *testing.T) {
	await.SkipShort(t)
	l, o := packageLab(t)
	x := o.executor(t, l)
	before := o.seenPackages(t)
	for _, c := range []struct {
		name   string
		change Change
		set    string
		says   []string // what is seen after
	}{
		{"install with what it needs, without what it recommends", install("kapp", "candidate"), "kapp  1, kdep  1", []string{"kapp 1 ii", "kdep 1 ii", "/etc/kdep.conf"}},
		{"several at once", Change{Kind: KindPackage, Host: "target", Package: &Package{Name: "klate", Version: "candidate", With: []string{"kapp", "ktool"}}}, "kapp  1, kdep  1, klate  1, ktool 1 2", []string{"klate 1 ii", "kapp 1 ii", "ktool 2 ii"}},
		{"upgrade keeps an edited file and takes a new one", install("ktool", "2"), "ktool 1 2", []string{"ktool 2 ii", "a edited by hand", "b 2"}},
		{"removal with what needs it", install("klib0", ""), "klib0 1 , ktool 1 ", []string{"klib0 1 rc", "ktool 1 rc", "a edited by hand"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx, err := x.Apply(t.Context(), Intent{Title: c.name, Changes: []Change{c.change}})
			must(t, err)
			var set []string
			for _, p := range tx.Changes[0].Package.Set {
				set = append(set, p.Name+" "+p.Before+" "+p.After)
			}
			wantEqual(t, "set", strings.Join(set, ", "), c.set)
			now := o.seenPackages(t)
			for _, s := range c.says {
				if !strings.Contains(now, s) {
					t.Fatalf("after it, %q is not in:\n%s", s, now)
				}
			}
			for _, s := range []string{"kextra", policyFile, "/var/log/ktool", "/tmp/kasoku"} {
				if strings.Contains(now, s) {
					t.Fatalf("after it, %q is in:\n%s", s, now)
				}
			}
			drift, err := x.Verify(t.Context())
			if err != nil || len(drift) > 0 {
				t.Fatalf("drift %v, %v", drift, err)
			}
			must(t, x.Revert(t.Context(), tx.ID))
			wantEqual(t, "reverted", o.seenPackages(t), before)
		})
	}
}

// TestPackageWayBack: undo needs no archive, goes down as well as up, and a
// plan without a way back is refused before anything is touched.
func TestPackageWayBack(t *testing.T) {
	await.SkipShort(t)
	l, o := packageLab(t)
	x := o.executor(t, l)
	o.sh(t, "apt-get install -y -qq -o Dpkg::Options::=--force-confold ktool=2 >/dev/null; rm -f /var/log/ktool")
	before := o.seenPackages(t)
	tx, err := x.Apply(t.Context(), Intent{Title: "down", Changes: []Change{install("ktool", "1")}})
	must(t, err)
	o.sh(t, "mv /repo /repo.away; rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb")
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "reverted without an archive", o.seenPackages(t), before)

	n := len(x.History())
	_, err = x.Apply(t.Context(), Intent{Title: "gone", Changes: []Change{install("ktool", "1")}})
	wantText(t, err, "apt-get cannot do that", "ktool")
	if _, err := exec.LookPath("dpkg-repack"); err != nil {
		_, err = x.Apply(t.Context(), Intent{Title: "no way back", Changes: []Change{install("ktool", "")}})
		wantText(t, err, "no way back", "ktool 2", "dpkg-repack")
	}
	if len(x.History()) != n {
		t.Fatal("a refused plan is in the journal")
	}
	wantEqual(t, "refused", o.seenPackages(t), before)
}

func TestPackageRefusals(t *testing.T) {
	await.SkipShort(t)
	l, o := packageLab(t)
	x := o.executor(t, l)
	for _, c := range []struct {
		change Change
		says   string
	}{
		{install("no-such-package", "candidate"), "no version"},
		{install("ktool", "9"), "apt-get cannot do that"},
		{install("ktool", "1"), "is so already"},
		{install("kapp", ""), "is so already"},
		{install("Bad Name", "1"), "needs a package's name"},
		{install("ktool", "1; rm"), "needs a package's name"},
	} {
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c.change}})
		wantText(t, err, c.says)
	}
	if len(x.History()) > 0 {
		t.Fatal("a refused plan is in the journal")
	}

	// Someone installs on top of what Kasoku brought: it is not taken away.
	tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{install("kapp", "1")}})
	must(t, err)
	o.sh(t, "apt-get install -y -qq klate >/dev/null")
	err = x.Revert(t.Context(), tx.ID)
	wantText(t, err, "klate", "came later")
	o.sh(t, "apt-get remove -y -qq klate >/dev/null; dpkg --purge klate >/dev/null")
	_, err = x.Recover(t.Context())
	must(t, err)

	// Someone edits a configuration file that the upgrade brought.
	tx, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{install("ktool", "2")}})
	must(t, err)
	o.sh(t, "echo mine >>/etc/ktool/b.conf")
	var conflict *ConflictError
	if err := x.Revert(t.Context(), tx.ID); !errors.As(err, &conflict) || conflict.Object != "target:/etc/ktool/b.conf" {
		t.Fatalf("error %v", err)
	}
	wantEqual(t, "version", o.sh(t, "cat /usr/share/ktool/version"), "2")
}

// TestPackageLock: another apt's lock is waited for, and named.
func TestPackageLock(t *testing.T) {
	await.SkipShort(t)
	l, o := packageLab(t)
	opts := l.options(l.project(t))
	opts.Hosts = map[string]host.Host{"target": o}
	waited := make(chan string, 100)
	opts.Progress = func(s string) {
		if strings.Contains(s, "holds dpkg's lock") {
			waited <- s
		}
	}
	x, err := Open(t.Context(), opts)
	must(t, err)
	defer x.Close()
	// A process of its own, because a process does not wait for its own lock.
	c := exec.Command("chroot", o.root, "perl", "-MFcntl", "-e", `open my $f, ">>", "/var/lib/dpkg/lock-frontend"; my $l = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0); fcntl($f, F_SETLK, $l) or die; $| = 1; print "held\n"; sleep 600`)
	pipe, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	defer func() { c.Process.Kill(); c.Wait() }()
	if n, _ := pipe.Read(make([]byte, 5)); n == 0 {
		t.Fatal("the lock was not taken")
	}
	done := make(chan error, 1)
	go func() {
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{install("kapp", "1")}})
		done <- err
	}()
	select {
	case s := <-waited:
		if !strings.Contains(s, "process "+itoa(c.Process.Pid)) {
			t.Fatalf("it says %q, the holder is %d", s, c.Process.Pid)
		}
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(limit):
		t.Fatal("it does not say that it waits")
	}
	c.Process.Kill()
	must(t, <-done)
}

// TestPackageKilledAtEveryStep kills Kasoku before every step.
func TestPackageKilledAtEveryStep(t *testing.T) {
	if !everyStep() {
		t.Skip("apt takes two minutes for it")
	}
	l, o := packageLab(t)
	for _, job := range []string{"pkginstall-apply", "pkgupgrade-apply", "pkgremove-revert"} {
		killedEverywhere(t, l, job, func() string { return o.seenPackages(t) })
	}
}

// TestPackageKilledInDpkg kills Kasoku, and in half of the cases dpkg too,
// while dpkg is at work.
func TestPackageKilledInDpkg(t *testing.T) {
	await.SkipShort(t)
	l, o := packageLab(t)
	before := o.seenPackages(t)
	broken := 0
	for _, job := range []string{"pkgupgrade-apply", "pkgupgrade-revert"} {
		for _, hard := range []bool{false, true} {
			dir := l.project(t)
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "KASOKU_TEST_VICTIM="+job, "KASOKU_TEST_LAB="+l.dir, "KASOKU_TEST_DIR="+dir)
			must(t, c.Start())
			wanted := 1
			if job == "pkgupgrade-revert" {
				wanted = 2
			}
			// The second postinst is that of the way back.
			must(t, await.Until(func() error { return o.configuring(dir, wanted) }))
			must(t, c.Process.Kill())
			c.Wait()
			if hard {
				o.killDpkg(t)
				if o.sh(t, "dpkg --audit") != "" {
					broken++
				}
			}
			opts := l.options(dir)
			opts.Hosts = map[string]host.Host{"target": o}
			x, err := Open(t.Context(), opts)
			must(t, err)
			if _, err := x.Recover(t.Context()); err != nil {
				t.Fatalf("%s, dpkg killed: %v: %v", job, hard, err)
			}
			must(t, x.Close())
			wantEqual(t, job, o.seenPackages(t), before)
		}
	}
	if broken == 0 {
		t.Fatal("dpkg was never killed half way; this test shows nothing")
	}
}

// configuring is nil once the package's script runs for the nth time of the
// transaction in dir.
func (o overlay) configuring(dir string, n int) error {
	version := "2"
	if n == 2 {
		version = "1"
		b, err := os.ReadFile(filepath.Join(JournalDir(dir), journalFile))
		if err != nil || !strings.Contains(string(b), `"op":"reverting"`) {
			return errors.Join(errors.New("it is not on its way back yet"), err)
		}
	}
	b, err := os.ReadFile(o.at("/usr/share/ktool/version"))
	if err != nil || strings.TrimSpace(string(b)) != version {
		return errors.Join(errors.New("not unpacked"), err)
	}
	for _, p := range o.dpkgs() {
		if p.script {
			return nil
		}
	}
	return errors.New("not configuring")
}

// dpkgProcess is dpkg or one of its scripts.
type dpkgProcess struct {
	pid    int
	script bool
}

// dpkgs are the processes of dpkg in the overlay.
func (o overlay) dpkgs() []dpkgProcess {
	var out []dpkgProcess
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		var pid int
		if pid = atoi(e.Name()); pid == 0 {
			continue
		}
		root, _ := os.Readlink("/proc/" + e.Name() + "/root")
		cmd, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if root == o.root && (strings.Contains(string(cmd), "dpkg") || strings.Contains(string(cmd), "postinst")) {
			out = append(out, dpkgProcess{pid, strings.Contains(string(cmd), "postinst")})
		}
	}
	return out
}

func (o overlay) killDpkg(t *testing.T) {
	t.Helper()
	must(t, await.Until(func() error {
		left := o.dpkgs()
		for _, p := range left {
			syscall.Kill(p.pid, unix.SIGKILL)
		}
		if len(left) > 0 {
			return errors.New("dpkg still runs")
		}
		return nil
	}))
}

func atoi(s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
