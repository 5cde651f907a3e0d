package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/ui"
)

// A password is asked for on the terminal, without echo, once.
func TestAskPassword(t *testing.T) {
	await.SkipShort(t)
	script, err := exec.LookPath("script")
	if err != nil {
		t.Fatal("script is not installed (Debian: bsdutils)")
	}
	program, err := exec.LookPath("kasoku") // this one (TestMain)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	yaml := "version: 1\nname: x\nservices:\n  - {name: db, kind: mariadb, config: my.cnf, listen: [\"127.0.0.1:1\"], login: {user: kasoku, ask: true}}\nload: {scenario: s.yaml, url: \"http://127.0.0.1:1\"}\n"
	for name, text := range map[string]string{"kasoku.yaml": yaml, "my.cnf": "[mysqld]\n", "s.yaml": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(script, "-qefc", program+" check", "/dev/null")
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader("typed-s3cret-word\n")
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != ui.Target {
		t.Errorf("ended with %d, %v", cmd.ProcessState.ExitCode(), err)
	}
	text := string(out)
	if strings.Count(text, "Password of kasoku at db:") != 1 || !strings.Contains(text, "login db") || strings.Contains(text, "nobody was asked") {
		t.Errorf("it was not asked for once, or not used:\n%s", text)
	}
	// What is typed before the question is echoed by the terminal itself, so
	// only what stands behind it counts.
	if _, after, _ := strings.Cut(text, "Password of"); strings.Contains(after, "s3cret") {
		t.Errorf("it was echoed:\n%s", text)
	}

	// Without a terminal it says what to do instead.
	cmd = exec.Command(program, "check")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err = cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != ui.BadInput || !strings.Contains(string(out), "password_env") {
		t.Errorf("ended with %d:\n%s", cmd.ProcessState.ExitCode(), out)
	}
}
