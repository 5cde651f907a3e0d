package goapp

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// garbage makes some, says what its runtime thinks that collecting it took, and
// waits to be looked at.
const garbage = `package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
)

var kept [][]byte

func main() {
	for i := range 200000 {
		b := make([]byte, 512)
		if i%20 == 0 {
			kept = append(kept, b)
		}
	}
	runtime.GC()
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(s)
	fmt.Println(s[0].Value.Float64() - s[1].Value.Float64())
	os.Stdin.Read(make([]byte, 1))
}
`

func build(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": garbage, "go.mod": "module garbage\n\ngo 1.22\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", append([]string{"build", "-o", "garbage"}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Join(dir, "garbage")
}

// What is read in the memory of another process is what that process says of
// itself (runtime/metrics).
func TestCounters(t *testing.T) {
	exe := build(t)
	f, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := FindCounters(f)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	want, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	if err != nil || want <= 0 {
		t.Fatalf("%q: %v", line, err)
	}
	mem, err := os.Open("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	from, count := c.Range()
	piece := make([]byte, 8*count)
	if _, err := mem.ReadAt(piece, int64(from)); err != nil {
		t.Fatal(err)
	}
	got, err := c.Used(piece)
	if err != nil {
		t.Fatal(err)
	}
	if diff := got.Seconds() - want; diff < -1e-6 || diff > 1e-6 {
		t.Errorf("%s in the memory of the process, %g s by its own account", got, want)
	}
}

// What cannot be read says why.
func TestNoCounters(t *testing.T) {
	stripped, err := os.ReadFile(build(t, "-ldflags=-s -w"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		exe  []byte
		want string
	}{
		{stripped, "-ldflags=-s"},
		{[]byte("#!/bin/sh\n"), "read the program"},
		{nil, "read the program"},
		{stripped[:4096], "the program"},
	} {
		if _, err := FindCounters(bytes.NewReader(c.exe)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d bytes: %v", len(c.exe), err)
		}
	}
}

func TestUsed(t *testing.T) {
	c := Counters{Total: 0x1018, Idle: 0x1008}
	if from, count := c.Range(); from != 0x1008 || count != 3 {
		t.Fatalf("%#x, %d", from, count)
	}
	piece := func(idle, total time.Duration) []byte {
		b := binary.LittleEndian.AppendUint64(nil, uint64(idle))
		b = binary.LittleEndian.AppendUint64(b, 7)
		return binary.LittleEndian.AppendUint64(b, uint64(total))
	}
	if d, err := c.Used(piece(time.Second, 3*time.Second)); err != nil || d != 2*time.Second {
		t.Errorf("%s, %v", d, err)
	}
	for _, b := range [][]byte{nil, piece(0, 0)[:16], piece(time.Second, 0), piece(-1, time.Second)} {
		if d, err := c.Used(b); err == nil {
			t.Errorf("%x is %s", b, d)
		}
	}
}
