package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// watchProcesses samples the arguments and environments of all processes until
// ctx ends, and tells which held a secret. Kasoku's own environment, and that
// of this test's own clients, came from outside. Processes are looked at in the first
// samples after they were started, when they may still become another program, and all
// of them in every twentieth: to list them each time would take a good part of a CPU.
func watchProcesses(ctx context.Context, secrets map[string]planted) <-chan []string {
	done := make(chan []string, 1)
	go func() {
		w := processes{secrets: secrets, seen: map[string]bool{}}
		young, newest := map[int]int{}, 0 // samples that are left for a process, by its number
		for n := 0; ctx.Err() == nil; n++ {
			was := newest
			newest = newestProcess()
			if n%20 == 0 || newest < was {
				w.lookAtAll()
			}
			for pid := was + 1; n > 0 && pid <= newest; pid++ {
				young[pid] = 6
			}
			for pid := range young {
				w.look(strconv.Itoa(pid))
				if young[pid]--; young[pid] == 0 {
					delete(young, pid)
				}
			}
			time.Sleep(15 * time.Millisecond)
		}
		done <- w.found
	}()
	return done
}

// newestProcess is the highest number of a process or thread so far, until numbers
// begin again: the last word of /proc/loadavg (proc_loadavg(5)); 0 if it cannot be read.
func newestProcess() int {
	b, err := os.ReadFile("/proc/loadavg")
	words := strings.Fields(string(b))
	if err != nil || len(words) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(words[len(words)-1])
	return n
}

// processes tells which of them hold a secret, each once.
type processes struct {
	secrets map[string]planted
	seen    map[string]bool
	found   []string
}

func (w *processes) lookAtAll() {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' {
			w.look(name)
		}
	}
}

func (w *processes) look(pid string) {
	title, err := os.ReadFile("/proc/" + pid + "/cmdline")
	if err != nil || len(title) == 0 {
		return
	}
	environ, _ := os.ReadFile("/proc/" + pid + "/environ")
	name, _, _ := bytes.Cut(title, []byte{0})
	for _, s := range w.secrets {
		what := ""
		switch {
		case bytes.Contains(title, []byte(s.text)):
			what = "arguments"
		case bytes.Contains(environ, []byte(s.text)) && filepath.Base(string(name)) != "kasoku":
			what = "environment"
		}
		if key := what + s.where + string(name); what != "" && !w.seen[key] {
			w.seen[key] = true
			w.found = append(w.found, fmt.Sprintf("the %s of %q hold the %s", what, name, s.where))
		}
	}
}

// The watch of TestWholeStory finds a secret in the arguments of a program that was
// there before and of one that lives for a moment, and in an environment.
func TestWatchOfProcesses(t *testing.T) {
	await.SkipShort(t)
	secrets := map[string]planted{"a": {where: "old", text: "w4tched-old-1"}, "b": {where: "short", text: "w4tched-short-2"}, "c": {where: "inherited", text: "w4tched-env-3"}}
	start := func(argument, env string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", "read word", argument)
		cmd.Env = append(os.Environ(), env)
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd
	}
	start("w4tched-old-1", "A=b")
	ctx, stop := context.WithCancel(t.Context())
	found := watchProcesses(ctx, secrets)
	start("nothing", "A=w4tched-env-3")
	for range 5 {
		if err := exec.Command("sh", "-c", "sleep 0.1; true", "w4tched-short-2").Run(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	text := strings.Join(<-found, "\n")
	for _, want := range []string{`the arguments of "sh" hold the old`, `the arguments of "sh" hold the short`, `the environment of "sh" hold the inherited`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not among\n%s", want, text)
		}
	}
}
