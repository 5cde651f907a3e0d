package evidence

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kasoku/internal/stack"
)

// churn allocates while it is sent lines, and answers each when it is done.
const churn = `package main

import (
	"bufio"
	"fmt"
	"os"
)

var kept = make([][]byte, 4096)

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		for i := range 400000 {
			kept[i%len(kept)] = make([]byte, 1024)
		}
		fmt.Println("done")
	}
}
`

// worker is a program that answers each line.
type worker struct {
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func working(t *testing.T, program string) *worker {
	t.Helper()
	w := &worker{cmd: exec.Command(program)}
	in, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.in, w.out = in, bufio.NewScanner(out)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); w.cmd.Wait() })
	return w
}

func (w *worker) once(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(w.in, "go\n"); err != nil || !w.out.Scan() {
		t.Fatalf("it does not answer: %v, %v", err, w.out.Err())
	}
}

// collected is what findCollectors tells of a load on a process.
func collected(t *testing.T, pid int, load func()) (float64, *Evidence) {
	t.Helper()
	sources, health := findCollectors(t.Context(), setFor(stack.Service{Name: "app", Kind: stack.App, Host: "local"}, pid))
	ev := &Evidence{Health: health, Services: map[string]ServiceUse{"app": {CPU: 1}}}
	for _, x := range sources {
		x.start(t.Context())
		load()
		x.end(t.Context())
		x.tell(t.Context(), ev)
	}
	return ev.Services["app"].GC, ev
}

// The collector's time of a process that has no profiler and tells nothing is
// read in its memory, and only that of the window counts.
func TestCollectorOfGo(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"main.go": churn, "go.mod": "module churn\n\ngo 1.22\n"})
	build := func(flags ...string) {
		t.Helper()
		cmd := exec.Command("go", append([]string{"build", "-o", "churn"}, flags...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
	build()
	w := working(t, filepath.Join(dir, "churn"))
	w.once(t)
	if used, ev := collected(t, w.cmd.Process.Pid, func() {}); used != 0 || !ev.told("0.00 CPU seconds, by the counters of its runtime") {
		t.Errorf("%g s without a load; %+v", used, ev.Health)
	}
	if used, ev := collected(t, w.cmd.Process.Pid, func() { w.once(t) }); used <= 0 {
		t.Errorf("%g s; %+v", used, ev.Health)
	}
	build("-ldflags=-s -w")
	w = working(t, filepath.Join(dir, "churn"))
	if used, ev := collected(t, w.cmd.Process.Pid, func() { w.once(t) }); used != 0 || !ev.told("not judged: symbols of the program") {
		t.Errorf("%g s of a program without symbols; %+v", used, ev.Health)
	}
	sh := exec.Command("sleep", "60")
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sh.Process.Kill(); sh.Wait() })
	if _, ev := collected(t, sh.Process.Pid, func() {}); len(ev.Health) > 0 {
		t.Errorf("of a program that is not Go's: %+v", ev.Health)
	}
}
