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
func (l *Local) Run(ctx context.Context, c Command) (r Result, err error) {
	defer func() { Ran(ctx, l.Name(), c, r, err) }()
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
	r, err = p.run(ctx)
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
	if p.command.Started != nil {
		p.command.Started(p.cmd.Process.Pid)
	}
	err = p.wait(ctx, ended)
	r := Result{Took: time.Since(started), Stdout: contents(p.stdout, p.command.Keep), Stderr: contents(p.stderr, p.command.Keep)}
	if s := p.cmd.ProcessState; s != nil {
		r.ExitCode, r.CPU = s.ExitCode(), s.UserTime()+s.SystemTime()
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
			p.endGroup()
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
			if keep := p.command.Keep; keep > 0 {
				forget(p.stdout, keep)
				forget(p.stderr, keep)
			} else if size(p.stdout) > maxOutput || size(p.stderr) > maxOutput {
				p.kill(ended)
				return fmt.Errorf("printed more than %d MiB, killed", maxOutput>>20)
			}
		}
	}
}

// endGroup waits for the command's end and kills the rest of its group, if
// that was asked for. The command is not reaped yet, so that its number cannot
// be another group's (waitid(2), WNOWAIT).
func (p *process) endGroup() {
	if !p.command.EndGroup {
		return
	}
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err == nil {
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		}
		return
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

// forget gives back the memory of what lies between the first and the last
// keep bytes. The size stays: the command goes on writing at its end.
func forget(f *os.File, keep int64) {
	if n := size(f) - 2*keep; n > 0 {
		_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, keep, n)
	}
}

// contents reads what the command wrote; with keep only its two ends.
func contents(f *os.File, keep int64) []byte {
	var b bytes.Buffer
	// From offset 0 with pread, because the child moves the shared offset.
	read := func(from, n int64) { _, _ = io.Copy(&b, io.NewSectionReader(f, from, n)) }
	all := size(f)
	if keep <= 0 || all <= 2*keep {
		read(0, min(all, maxOutput))
		return b.Bytes()
	}
	read(0, keep)
	fmt.Fprintf(&b, "\n… %d bytes left out …\n", all-2*keep)
	read(all-keep, keep)
	return b.Bytes()
}
