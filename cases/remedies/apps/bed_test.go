// Package apps_test shows the remedies of application servers on the real
// programs: a Go service with MariaDB, Gunicorn, Uvicorn, uWSGI, Puma, Unicorn, Starman,
// supervisor.
package apps_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
)

// supervised begins a configuration of supervisord; programs follow.
const supervised = `[supervisord]
logfile=%DIR%/supervisord.log
pidfile=%DIR%/supervisord.pid
[unix_http_server]
file=%DIR%/supervisor.sock
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://%DIR%/supervisor.sock
`

// write puts a file into the folder, with %PORT% as given.
func write(t *testing.T, dir, name, content string, port int) {
	t.Helper()
	bed.Write(t, dir, name, strings.ReplaceAll(content, "%PORT%", fmt.Sprint(port)))
}

// copied puts a file of testdata into the folder.
func copied(t *testing.T, dir, from, to string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", from))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// run starts a command in the folder with an environment of its own, as an
// operator would have, and waits until it answers.
func run(t *testing.T, dir, name string, port int, argv ...string) {
	t.Helper()
	stopAtPort(t, dir, port)
	bed.Start(t, dir, name, append([]string{"env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin", "HOME=/"}, argv...)...)
	bed.Await(t, fmt.Sprintf("127.0.0.1:%d", port))
}

// stopAtPort ends, after the test, what Kasoku started in the folder and left
// running: those of its processes whose folder or command is there.
func stopAtPort(t *testing.T, dir string, port int) {
	t.Helper()
	t.Cleanup(func() {
		all, err := filepath.Glob("/proc/[0-9]*/cwd")
		if err != nil {
			return
		}
		for _, link := range all {
			if to, err := os.Readlink(link); err != nil || to != dir && !strings.HasPrefix(to, dir+"/") {
				continue
			}
			var pid int
			if _, err := fmt.Sscanf(link, "/proc/%d/cwd", &pid); err == nil && pid != os.Getpid() {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
		}
		await.For(t, "the application to end", func() bool { return !accepts(port) })
	})
}

func accepts(port int) bool {
	res, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
	if err == nil {
		res.Body.Close()
	}
	return err == nil
}

// get is the body of an answer.
func get(t *testing.T, port int, path string) string {
	t.Helper()
	res, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// need skips nothing: a program that is missing is named.
func need(t *testing.T, program string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers; run without -short")
	}
	p, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%v; run `make deps-test`", err)
	}
	return p
}

// scenario is one request with its right answer, again as soon as it came.
func scenario(t *testing.T, dir, request, contains string) {
	t.Helper()
	asked(t, dir, "", request, contains)
}

// calm is scenario with users who pause, for where nothing needs a busy server.
func calm(t *testing.T, dir, request, contains string) {
	t.Helper()
	asked(t, dir, bed.Pause(), request, contains)
}

func asked(t *testing.T, dir, pause, request, contains string) {
	t.Helper()
	bed.Write(t, dir, "scenario.yaml", "version: 1\nname: apps\nworkload: 6\nsessions:\n  - name: s\n    steps:\n      - {"+pause+"request: "+request+", expect: {status: 200, contains: \""+contains+"\"}}\n")
}

// children are the direct child processes of the one that listens.
func children(t *testing.T, b *bed.Bed) int {
	t.Helper()
	return snapshot(t, b).Apps["app"].Children
}
