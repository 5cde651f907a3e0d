package hosttest

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// supervisorctlSocket names, to what the tests start, the socket of the Python that
// is kept.
const supervisorctlSocket = "KASOKU_TEST_SUPERVISORCTL"

// keptSupervisorctl reads the real supervisorctl once and becomes it again for each call:
// a process of its own with the caller's files, folder, environment and arguments. It ends
// with the pipe that the tests hold.
const keptSupervisorctl = `
import json, os, select, signal, socket, sys, traceback
from supervisor import supervisorctl
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(64)
os.write(1, b"ready\n")
while True:
    if 0 in select.select([0, server], [], [])[0]:
        os._exit(0)
    call, _ = server.accept()
    if os.fork():
        call.close()
        continue
    server.close()
    text, files, _, _ = socket.recv_fds(call, 1 << 20, 3)
    for i, f in enumerate(files):
        os.dup2(f, i)
        os.close(f)
    asked = json.loads(text)
    os.chdir(asked["dir"])
    os.environ.clear()
    os.environ.update(e.split("=", 1) for e in asked["env"] if "=" in e)
    sys.argv = asked["argv"]
    status = 0
    try:
        supervisorctl.main()
    except SystemExit as e:
        status = e.code if isinstance(e.code, int) else int(e.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    call.send(bytes([status]))
    os._exit(status)
`

// asked is one call of supervisorctl.
type asked struct {
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
	Argv []string `json:"argv"`
}

// Supervisorctl runs tests which, with all that they start, find a supervisorctl in PATH
// that takes a tenth of the real one's time: that one starts Python and reads its modules
// for each call, 0.3 s of CPU; this one is the same program, read once. Call it from TestMain;
// what is returned is for
// os.Exit. Short tests, and those on a machine without supervisor, run as they are.
func Supervisorctl(run func() int) int {
	if filepath.Base(os.Args[0]) == "supervisorctl" {
		status, err := askSupervisorctl()
		if err != nil {
			fmt.Fprintln(os.Stderr, "ask the supervisorctl that is kept:", err)
			return 1
		}
		return status
	}
	if flag.Parse(); testing.Short() {
		return run()
	}
	end, err := keepSupervisorctl()
	if err != nil {
		fmt.Fprintln(os.Stderr, "keep a supervisorctl:", err)
		return 1
	}
	defer end()
	return run()
}

// keepSupervisorctl starts the Python and puts the program that asks it into PATH.
func keepSupervisorctl() (end func(), err error) {
	python, ok := interpreter("supervisorctl")
	if !ok {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "kctl")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "supervisorctl"))
	}
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(python, "-c", keptSupervisorctl, socket)
	cmd.Stderr = os.Stderr
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("%s says %q: %w", python, line, err)
	}
	os.Setenv(supervisorctlSocket, socket)
	os.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() {
		hold.Close()
		_ = cmd.Wait() // its status tells nothing
		os.RemoveAll(dir)
	}, nil
}

// interpreter is the Python that a script in PATH names in its first line.
func interpreter(script string) (path string, ok bool) {
	file, err := exec.LookPath(script)
	if err != nil {
		return "", false
	}
	f, err := os.Open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadString('\n')
	path, ok = strings.CutPrefix(strings.TrimSpace(line), "#!")
	return path, ok && strings.HasPrefix(filepath.Base(path), "python")
}

// askSupervisorctl hands this process's call over and returns its exit status.
func askSupervisorctl() (int, error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	text, err := json.Marshal(asked{dir, os.Environ(), os.Args})
	if err != nil {
		return 0, err
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: os.Getenv(supervisorctlSocket), Net: "unix"})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if _, _, err := c.WriteMsgUnix(text, unix.UnixRights(0, 1, 2), nil); err != nil {
		return 0, err
	}
	status, err := io.ReadAll(c)
	if err != nil || len(status) != 1 {
		return 0, fmt.Errorf("it ended with %v: %w", status, err)
	}
	return int(status[0]), nil
}
