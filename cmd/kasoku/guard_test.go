package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/ui"
)

// TestHostPutsItselfBack: the session is killed and nobody recovers. The host
// puts itself back with the program's own copy, and the next command knows.
func TestHostPutsItselfBack(t *testing.T) {
	c := shareCase(t)
	c.shorten()
	c.quicken()
	yaml := filepath.Join(c.dir, "kasoku.yaml")
	b, err := os.ReadFile(yaml)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte("tune: {"), []byte("tune: {revert_after: 2s, "), 1)
	if err := os.WriteFile(yaml, b, 0o644); err != nil {
		t.Fatal(err)
	}
	found := c.state()
	cmd := exec.Command(c.kasoku, "tune", "--budget", "4m", "-d", "500ms", "--quiet")
	cmd.Dir = c.dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.For(t, "the first experiment", c.trying)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	killed := time.Now()
	await.For(t, "the host as it was found", func() bool {
		states, _ := filepath.Glob(filepath.Join(os.Getenv(stateDirEnv), "*", "guard", "state.json")) // the pattern is well-formed
		for _, s := range states {
			if b, err := os.ReadFile(s); err == nil && strings.Contains(string(b), `"put back"`) {
				return true
			}
		}
		return false
	})
	t.Logf("back %s after the kill", time.Since(killed).Round(time.Millisecond))
	c.same(found, "after the host put itself back")
	_, errs := c.want(ui.OK, "recover")
	if !strings.Contains(errs, "by itself") {
		t.Errorf("recover does not tell what the host did:\n%s", errs)
	}
	txs, err := change.Read(filepath.Join(c.dir, ".kasoku"))
	if err != nil || len(txs) == 0 || !strings.Contains(txs[len(txs)-1].Error, "host local put itself back at") {
		t.Errorf("the journal's last entry does not tell it: %v, %v", txs, err)
	}
	for _, tx := range txs {
		if tx.Pending() {
			t.Errorf("#%d is pending", tx.ID)
		}
	}
	// The guard had the password in its memory only.
	secrets, err := os.ReadFile(filepath.Join(c.dir, "secrets", "db_admin"))
	if err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command("grep", "-rlF", strings.TrimSpace(string(secrets)), os.Getenv(stateDirEnv), filepath.Join(c.dir, ".kasoku")).Output() // 1: not found
	if len(out) > 0 {
		t.Errorf("the password is in:\n%s", out)
	}
}
