// Package scripts holds the shell scripts behind make's targets; its tests run
// them with stand-ins for the programs that would change the machine.
package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// program writes an executable shell script.
func program(t *testing.T, name, body string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func run(t *testing.T, script string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(script)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// TestGoPicks gives go.sh stand-ins of several versions.
func TestGoPicks(t *testing.T) {
	tests := []struct {
		version, toolchain string
		take               bool
	}{
		{"1.19.8", "local", false}, {"1.21.0", "local", false}, {"1.21.0", "auto", true}, {"1.20.1", "auto", false},
		{"1.26.0", "local", true}, {"1.26.12", "local", true}, {"1.100.0", "local", true}, {"2.0", "local", true},
	}
	for _, tt := range tests {
		fake := program(t, filepath.Join(t.TempDir(), "go"), fmt.Sprintf(`case $1 in version) echo "go version go%s linux/amd64";; env) echo %s;; esac`, tt.version, tt.toolchain))
		out, err := run(t, "./go.sh", "GO="+fake)
		if (out == fake) != tt.take {
			t.Errorf("Go %s with GOTOOLCHAIN=%s: go.sh says %q (%v), taken should be %v", tt.version, tt.toolchain, out, err, tt.take)
		}
	}
	broken := program(t, filepath.Join(t.TempDir(), "go"), "exit 1")
	if out, _ := run(t, "./go.sh", "GO="+broken); out == broken {
		t.Errorf("go.sh takes a go that does not run")
	}
}

// TestDepsDoesNothing runs deps.sh where all is installed: apt is not called.
func TestDepsDoesNothing(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	for _, name := range []string{"apt-get", "apt-cache"} {
		program(t, filepath.Join(dir, name), "echo "+name+" \"$@\" >>"+log)
	}
	out, err := run(t, "./deps.sh", "PATH="+dir+":"+os.Getenv("PATH"))
	if err != nil || out != "" {
		t.Errorf("deps.sh: %v\n%s\nif something is missing here, run make deps", err, out)
	}
	if calls, err := os.ReadFile(log); err == nil {
		t.Errorf("deps.sh called apt although nothing is missing:\n%s", calls)
	}
}

// TestDepsNeedsRoot runs a copy of deps.sh that misses a program, as somebody
// who is not root.
func TestDepsNeedsRoot(t *testing.T) {
	dir := t.TempDir()
	src, err := os.ReadFile("deps.sh")
	if err != nil {
		t.Fatal(err)
	}
	more := strings.Replace(string(src), "ps=procps;", "ps=procps no-such-program=no-such-package;", 1)
	if more == string(src) {
		t.Fatal("the copy of deps.sh misses nothing")
	}
	script := program(t, filepath.Join(dir, "scripts", "deps.sh"), "")
	if err := os.WriteFile(script, []byte(more), 0o755); err != nil {
		t.Fatal(err)
	}
	program(t, filepath.Join(dir, "bin", "id"), "echo 1000")
	program(t, filepath.Join(dir, "bin", "apt-get"), "echo apt-get was called")
	out, err := run(t, script, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	if err == nil || out != "deps.sh: missing: no-such-package; installing needs root: sudo make deps" {
		t.Errorf("deps.sh: %v\n%s", err, out)
	}
}

// aptStandIn is an apt with one archive: the folder suites has a file for each
// suite, with the golang-1.N-go that it offers. It logs what changes something.
const aptStandIn = `
suite=own simulate=
for a in "$@"; do
	case $a in
	Dir::Etc::sourcelist=*) suite=$(awk '{ print $(NF-1) }' "${a#*sourcelist=}"); grep -q ' mirror://archive ' "${a#*=}" || exit 9;;
	-s) simulate=1;;
	esac
done
case $* in
*indextargets*)
	echo "Debian Debian bookworm contrib mirror://elsewhere/"
	echo "Debian Debian-Security bookworm main mirror://security/"
	echo "Debian Debian bookworm main cdrom:[disk]/"
	echo "Debian Debian bookworm main mirror://archive/";;
*search*) for n in $(cat "$DIR/suites/$suite"); do echo "golang-1.$n-go - Go"; done;;
*madison*) echo "$*";;
*update*) echo "update $suite" >>"$DIR/log"; test -e "$DIR/suites/$suite";;
*install*)
	for last in "$@"; do :; done
	if [ -n "$simulate" ]; then
		echo "Inst ${last%-go}-src (1 x [all])"; echo "Inst $last (1 x [amd64])"; cat "$DIR/more" 2>/dev/null
		exit 0
	fi
	echo "install $last from $suite" >>"$DIR/log"
	echo "$last" >"$DIR/installed";;
esac
exit`

// TestDepsInstallsGo gives a copy of deps.sh, as root, an apt of several kinds.
func TestDepsInstallsGo(t *testing.T) {
	await.SkipShort(t)
	const own, bpo, stable = "own", "bookworm-backports", "stable-backports"
	const looked = "update own\nupdate bookworm-backports"
	const both = looked + "\nupdate stable-backports"
	tests := []struct {
		name, id, toolchain string
		suites              map[string]string
		more                string
		log                 string
		fails               bool
		user                int
	}{
		{name: "not root", id: "debian", toolchain: "auto", suites: map[string]string{own: "26"}, fails: true, user: 1000},
		{name: "own suites have it", id: "debian", toolchain: "local", suites: map[string]string{own: "19 26 27"},
			log: "update own\ninstall golang-1.26-go from own"},
		{name: "only a later one", id: "ubuntu", toolchain: "local", suites: map[string]string{own: "19 100"},
			log: "update own\ninstall golang-1.100-go from own"},
		{name: "own backports", id: "debian", toolchain: "auto", suites: map[string]string{own: "19", bpo: "23 26 27", stable: "27"},
			log: looked + "\ninstall golang-1.26-go from bookworm-backports"},
		{name: "bookworm", id: "debian", toolchain: "local", suites: map[string]string{own: "19", bpo: "21 23", stable: "25 26 27"},
			log: both + "\ninstall golang-1.26-go from stable-backports"},
		{name: "needs more than itself", id: "debian", toolchain: "local", suites: map[string]string{own: "19", bpo: "23", stable: "26"},
			more: "Inst libc6 (2.41 x [amd64])", log: both, fails: true},
		{name: "takes something away", id: "debian", toolchain: "local", suites: map[string]string{own: "19", bpo: "23", stable: "26"},
			more: "Remv golang-1.26-go", log: both, fails: true},
		{name: "one that fetches", id: "debian", toolchain: "auto", suites: map[string]string{own: "19", bpo: "21 23"},
			log: both + "\ninstall golang-1.23-go from bookworm-backports"},
		{name: "none may fetch", id: "debian", toolchain: "local", suites: map[string]string{own: "24", bpo: "21 23"}, log: both, fails: true},
		{name: "own one that fetches", id: "debian", toolchain: "auto", suites: map[string]string{own: "24", bpo: "23"},
			log: both + "\ninstall golang-1.24-go from own"},
		{name: "not Debian", id: "ubuntu", toolchain: "auto", suites: map[string]string{own: "18", bpo: "26", stable: "26"}, log: "update own", fails: true},
	}
	src, err := os.ReadFile("deps.sh")
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(src), "\nmissing\nif ")
	if !ok {
		t.Fatal("deps.sh has no place to cut")
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("go.mod", "module x\n\ngo 1.26.0\n")
			write("os-release", "ID="+tt.id+"\nVERSION_CODENAME=bookworm\n")
			write("more", tt.more)
			if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
				t.Fatal(err)
			}
			for suite, gos := range tt.suites {
				write("suites/"+suite, gos)
			}
			program(t, filepath.Join(dir, "scripts", "go.sh"), `n=$(sed -n 's/^golang-1\.\(.*\)-go$/\1/p' "$DIR/installed") || exit 1
[ "$n" -ge 26 ] || { [ "$n" -ge 21 ] && [ "$GOTOOLCHAIN" != local ]; }`)
			program(t, filepath.Join(dir, "bin", "id"), fmt.Sprintf("echo %d", tt.user))
			program(t, filepath.Join(dir, "bin", "apt-get"), aptStandIn)
			program(t, filepath.Join(dir, "bin", "apt-cache"), aptStandIn)
			script := program(t, filepath.Join(dir, "scripts", "deps.sh"), "")
			copied := strings.NewReplacer("/etc/os-release", filepath.Join(dir, "os-release"), "/usr/sbin/policy-rc.d", filepath.Join(dir, "policy")).Replace(head)
			write("scripts/deps.sh", copied+"\ninstall_go\n")

			out, err := run(t, script, "DIR="+dir, "TMPDIR="+filepath.Join(dir, "tmp"), "GOTOOLCHAIN="+tt.toolchain,
				"PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
			if (err != nil) != tt.fails || tt.fails && !strings.Contains(out, "Kasoku needs Go 1.26.0 or later") {
				t.Errorf("deps.sh: %v\n%s", err, out)
			}
			if (tt.user != 0) != strings.HasSuffix(out, "needs root: sudo make deps") {
				t.Errorf("deps.sh as user %d: %s", tt.user, out)
			}
			log, _ := os.ReadFile(filepath.Join(dir, "log")) // none if apt was not asked
			if got := strings.TrimSpace(string(log)); got != tt.log {
				t.Errorf("apt was asked for\n%s\nwant\n%s\ndeps.sh said\n%s", got, tt.log, out)
			}
			if strings.Contains(tt.log, "-go from "+stable) && !strings.Contains(out, "installing golang-1.26-go from stable-backports") {
				t.Errorf("deps.sh does not tell where Go comes from:\n%s", out)
			}
			left, err := filepath.Glob(filepath.Join(dir, "tmp", "*"))
			if _, e := os.Stat(filepath.Join(dir, "policy")); err != nil || len(left) > 0 || e == nil {
				t.Errorf("deps.sh leaves %v, policy-rc.d: %v", left, e)
			}
		})
	}
}

// TestHelp checks that every target of the Makefile explains itself; what make fills
// in (one target for each application of the field) is told with the one before it.
func TestHelp(t *testing.T) {
	src, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("make", "-s", "-C", "..", "help").CombinedOutput()
	if err != nil {
		t.Fatalf("make help: %v\n%s", err, out)
	}
	for _, line := range strings.Split(string(src), "\n") {
		target, _, ok := strings.Cut(line, ":")
		if !ok || target == "" || strings.ContainsAny(target, " \t.=#@$") || strings.HasPrefix(strings.TrimPrefix(line, target+":"), "=") {
			continue
		}
		if !strings.Contains(string(out), "make "+target+" ") {
			t.Errorf("make help does not tell of %s", target)
		}
	}
}
