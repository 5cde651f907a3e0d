package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/ui"
)

func TestPiped(t *testing.T) {
	defer heedPipes()()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out := piped(w, cancel)
	if _, err := io.WriteString(out, "read\n"); err != nil || ctx.Err() != nil {
		t.Fatalf("%v, %v", err, ctx.Err())
	}
	r.Close()
	for range 2 {
		if n, err := io.WriteString(out, "not read\n"); n != 9 || err != nil || ctx.Err() == nil {
			t.Errorf("%d, %v, %v", n, err, ctx.Err())
		}
	}
	if file, err := os.Create(filepath.Join(t.TempDir(), "x")); err != nil || piped(file, cancel) != io.Writer(file) {
		t.Errorf("a file is written by itself: %v", err)
	}
}

// A reader that goes away after the first line (head -1) ends a command as Ctrl-C
// does: nothing is left on the target but what was judged and kept, no transaction is open, no guard waits.
func TestReaderGoesAway(t *testing.T) {
	c := shareCase(t)
	c.shorten()
	c.fewPairs(0.1)
	c.quicken()
	found := c.state()
	cmd := exec.Command(c.kasoku, "tune", "--budget", "4m", "-d", "500ms")
	cmd.Dir, cmd.Stderr = c.dir, io.Discard
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !c.trying() { // it is read until a change is in place
	}
	out.Close()
	_ = cmd.Wait() // its code follows
	if code := cmd.ProcessState.ExitCode(); code != ui.Interrupted {
		t.Errorf("it ended with %d, want %d", code, ui.Interrupted)
	}
	txs, err := change.Read(filepath.Join(c.dir, ".kasoku"))
	if err != nil || len(txs) == 0 {
		t.Fatalf("%d transactions, %v", len(txs), err)
	}
	kept := false
	for _, tx := range txs {
		if tx.Pending() {
			t.Errorf("#%d is pending", tx.ID)
		}
		kept = kept || tx.InForce()
	}
	c.want(ui.OK, "verify")
	if kept { // the first word that nobody read was that it is kept
		c.want(ui.OK, "undo", "--all")
	}
	c.same(found, "after its reader went away")
}
