package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// helps says that this process's program can be started as a helper.
var helps bool

// Helper lets a program be the lab's: its supervisors and ssh's ProxyCommand
// start it as `PROGRAM lab host DIR` and `PROGRAM lab connect DIR HOST`. Call it
// first in main, or in a test package's TestMain, with the arguments after the
// program's name; if ok, exit with the status it returns.
//
//	func TestMain(m *testing.M) {
//		if status, ok := lab.Helper(os.Args[1:]); ok {
//			os.Exit(status)
//		}
//		os.Exit(m.Run())
//	}
func Helper(args []string) (status int, ok bool) {
	helps = true
	if len(args) < 3 || args[0] != "lab" {
		return 0, false
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case args[1] == "host" && len(args) == 3:
		err = RunHost(ctx, args[2])
	case args[1] == "connect" && len(args) == 4:
		err = Connect(ctx, args[2], args[3], os.Stdin, os.Stdout)
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// helperProgram is the program that supervises. A program that does not call
// Helper would do something else altogether when it is started as one.
func helperProgram(named string) (string, error) {
	if named != "" {
		path, err := filepath.Abs(named)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return "", fmt.Errorf("find the program that supervises hosts: %w; make build makes bin/kasoku", err)
		}
		return path, nil
	}
	if !helps {
		return "", errors.New("no program supervises the hosts: call lab.Helper first in main or TestMain, or set Options.Program to a built kasoku")
	}
	return os.Executable()
}

// Connect joins in and out with SSH's port of a host of the lab in dir: ssh's
// ProxyCommand.
func Connect(ctx context.Context, dir, host string, in io.Reader, out io.Writer) error {
	l, err := openDir(dir)
	if err != nil {
		return err
	}
	h, err := l.Host(host)
	if err != nil {
		return err
	}
	conn, err := l.Dial(ctx, "tcp", fmt.Sprintf("%s:%d", h.Address, sshPort))
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() {
		// ssh closes its end last; then there is nothing more to send.
		_, err := io.Copy(conn, in)
		if w, ok := conn.(interface{ CloseWrite() error }); ok && err == nil {
			w.CloseWrite()
		}
	}()
	_, err = io.Copy(out, conn)
	return err
}
