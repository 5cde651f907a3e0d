package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// defaultTimeout of a Command, as the contract says.
	defaultTimeout = 30 * time.Second
	// maxOutput of one stream. No command that Kasoku runs prints a tenth of
	// it; one that does is out of control and would eat the memory.
	maxOutput = 256 << 20
	// outputWatch is how often the size of the output is looked at.
	outputWatch = 100 * time.Millisecond
)

// Run runs a command in a process group of its own. If Kasoku itself is
// killed, the command is killed too. A daemon that the command leaves behind
// lives on and does not make Run wait; it should not write to its standard
// output, which is kept in memory as long as it holds it.
func (*Local) Run(ctx context.Context, c Command) (Result, error) {
	if len(c.Argv) == 0 {
		return Result{}, errors.New("run: no command given")
	}
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	p := &process{command: c, limit: c.Timeout}
	if p.limit <= 0 {
		p.limit = defaultTimeout
	}
	r, err := p.run(ctx)
	if err != nil {
		return r, fmt.Errorf("run %s: %w", strings.Join(c.Argv, " "), err)
	}
	return r, nil
}

// process is a Command under way.
type process struct {
	command        Command
	limit          time.Duration
	stdout, stderr *os.File
	cmd            *exec.Cmd
}

func (p *process) run(ctx context.Context) (Result, error) {
	var err error
	if p.stdout, err = memoryFile("kasoku-stdout"); err != nil {
		return Result{}, err
	}
	defer p.stdout.Close()
	if p.stderr, err = memoryFile("kasoku-stderr"); err != nil {
		return Result{}, err
	}
	defer p.stderr.Close()

	started := time.Now()
	ended, err := p.start()
	if err != nil {
		return Result{}, cause(err)
	}
	err = p.wait(ctx, ended)
	r := Result{Took: time.Since(started), Stdout: contents(p.stdout), Stderr: contents(p.stderr)}
	if p.cmd.ProcessState != nil {
		r.ExitCode = p.cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			r.ExitCode = 128 + int(s.Signal()) // as a shell reports it
		}
		return r, nil
	}
	return r, err
}

// start starts the command and returns where its end is told. The thread that
// forked must live as long as the child, because the kernel sends Pdeathsig
// when that thread ends (prctl(2), PR_SET_PDEATHSIG).
func (p *process) start() (<-chan error, error) {
	c := p.command
	p.cmd = exec.Command(c.Argv[0], c.Argv[1:]...)
	p.cmd.Dir = c.Dir
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if c.Stdin != nil {
		in, err := memoryFile("kasoku-stdin")
		if err != nil {
			return nil, err
		}
		defer in.Close()
		if _, err := in.Write(c.Stdin); err != nil {
			return nil, err
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		p.cmd.Stdin = in
	}
	started, ended := make(chan error), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			ended <- p.cmd.Wait()
		}
	}()
	return ended, <-started
}

// wait returns when the command has ended, and otherwise kills its group.
func (p *process) wait(ctx context.Context, ended <-chan error) error {
	timeout := time.NewTimer(p.limit)
	defer timeout.Stop()
	watch := time.NewTicker(outputWatch)
	defer watch.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			p.kill(ended)
			return ctx.Err()
		case <-timeout.C:
			p.kill(ended)
			return fmt.Errorf("no end after %s, killed: %w", p.limit, context.DeadlineExceeded)
		case <-watch.C:
			if size(p.stdout) > maxOutput || size(p.stderr) > maxOutput {
				p.kill(ended)
				return fmt.Errorf("printed more than %d MiB, killed", maxOutput>>20)
			}
		}
	}
}

// kill ends the whole process group and reaps the command.
func (p *process) kill(ended <-chan error) {
	// The group has the command's pid, which cannot be reused before Wait.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-ended
}

// memoryFile is a file without a disk: commands run when the disk is full, and
// a daemon that inherits it does not make Wait wait as a pipe would.
func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory for the command's output: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func size(f *os.File) int64 {
	if info, err := f.Stat(); err == nil {
		return info.Size()
	}
	return 0
}

func contents(f *os.File) []byte {
	var b bytes.Buffer
	// From offset 0 with pread, because the child moves the shared offset.
	_, _ = io.Copy(&b, io.NewSectionReader(f, 0, min(size(f), maxOutput)))
	return b.Bytes()
}
