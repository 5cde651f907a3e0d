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

// TestHelp checks that every target of the Makefile explains itself.
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
		if !ok || target == "" || strings.ContainsAny(target, " \t.=#@") || strings.HasPrefix(strings.TrimPrefix(line, target+":"), "=") {
			continue
		}
		if !strings.Contains(string(out), "make "+target+" ") {
			t.Errorf("make help does not tell of %s", target)
		}
	}
}
