package evidence

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/host"
)

// TestServiceIO: what a service and a process that it waited for write to the
// disk is the service's.
func TestServiceIO(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "kasoku-io-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	writes := func(name string) string {
		return fmt.Sprintf("dd if=/dev/zero of=%s bs=1M count=8 conv=fsync 2>/dev/null", filepath.Join(dir, name))
	}
	probe := exec.Command("sh", "-c", writes("probe")+"; cat /proc/self/io /proc/$$/io")
	counted, err := probe.Output()
	if err != nil {
		t.Skipf("/proc/PID/io: %v", err)
	}
	if _, written := parseProcessIO(counted); written < 8<<20 {
		t.Skip("the kernel does not count what is written to " + dir)
	}
	cmd := exec.Command("sh", "-c", "read x; "+writes("a")+"; echo done; read x")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	ctx, h := context.Background(), host.NewLocal()
	roots := map[string][]int{"db": {cmd.Process.Pid}, "idle": {os.Getpid()}}
	take := func() *reading {
		t.Helper()
		table, err := readProcesses(ctx, h)
		if err != nil {
			t.Fatal(err)
		}
		return &reading{at: time.Now(), table: table, io: readIO(ctx, h, table, roots)}
	}
	begin := take()
	fmt.Fprintln(in, "go")
	if _, err := io.ReadFull(out, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	end := take()
	uses := map[string]ServiceUse{"db": {}, "idle": {}}
	ioUses(begin, end, uses)
	// A rate times its span is the count but for the last bit of a float.
	bytes := math.Round(uses["db"].DiskWritten * span(begin, end).Seconds())
	if bytes < 8<<20 || bytes > 12<<20 {
		t.Errorf("db wrote %.0f bytes, %+v", bytes, uses)
	}
	if uses["idle"].DiskWritten*span(begin, end).Seconds() > 4<<20 {
		t.Errorf("idle wrote, too: %+v", uses["idle"])
	}
}

// TestIOOfEndedProcesses: what they had done before the window is not in it.
func TestIOOfEndedProcesses(t *testing.T) {
	at := time.Now()
	begin := &reading{at: at, io: map[int]processIO{1: {"php", 5, 100, 1000}, 2: {"php", 7, 40, 400}, 9: {"db", 1, 0, 50}}}
	end := &reading{at: at.Add(2 * time.Second), io: map[int]processIO{
		1: {"php", 5, 160, 1600},               // has waited for 2, which did 10 and 100 more in the window
		2: {"php", 99, 6, 60},                  // another with its number
		9: {"db", 1, 0, 30}, 3: {"x", 2, 5, 5}, // fell, by what was deleted unwritten; of no service
	}}
	uses := map[string]ServiceUse{"php": {}, "db": {}}
	ioUses(begin, end, uses)
	if got := uses["php"]; got.DiskRead != 13 || got.DiskWritten != 130 {
		t.Errorf("%+v", got)
	}
	if got := uses["db"]; got.DiskWritten != 0 || len(uses) != 2 {
		t.Errorf("%+v", uses)
	}
	text := "rchar: 7\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 4096\n"
	if r, w := parseProcessIO([]byte(text)); r != 4096 || w != 4096 {
		t.Errorf("%d, %d", r, w)
	}
}
