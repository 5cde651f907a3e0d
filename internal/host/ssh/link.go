package ssh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kasoku/internal/host/agent"
)

// link is one ssh process with Kasoku's helper at its other end.
type link struct {
	client *agent.Client
	cmd    *exec.Cmd
	in     io.WriteCloser // ssh's standard input
	out    io.ReadCloser
	reader *bufio.Reader // of out
	stderr *tail
	ended  chan struct{} // closed when ssh has ended
	err    error         // of its end; read after ended
}

// arguments of ssh. The user's configuration says who and how; what is set
// here is what a program without a terminal needs. Host keys are always
// checked, whatever the configuration says.
func (o Options) arguments() []string {
	args := []string{"-T", "-x", "-a", "-e", "none"}
	if o.ConfigFile != "" {
		args = append(args, "-F", o.ConfigFile)
	}
	alive := max(1, int(o.Silence.Seconds())/3)
	for _, s := range []string{
		"BatchMode=yes",
		"StrictHostKeyChecking=yes",
		"ConnectTimeout=" + strconv.Itoa(max(1, int(o.ConnectTimeout.Seconds()))),
		"ServerAliveInterval=" + strconv.Itoa(alive), "ServerAliveCountMax=3",
		"ClearAllForwardings=yes", "PermitLocalCommand=no", "RemoteCommand=none",
		// The user's own shared connection is used if there is one, but none is
		// begun that others would then depend on.
		"ControlMaster=no", "ControlPersist=no",
		"LogLevel=ERROR",
	} {
		args = append(args, "-o", s)
	}
	return append(args, "--", o.Destination, "/bin/sh")
}

// dial starts ssh and the helper. after is the helper of a lost connection.
func (h *Host) dial(ctx context.Context, after *agent.Process) (*link, error) {
	l := &link{stderr: &tail{}, ended: make(chan struct{})}
	if err := l.start(h.options.arguments()); err != nil {
		return nil, fmt.Errorf("%s: start ssh: %w; is the package openssh-client installed?", stageLogin, err)
	}
	d := &dialogue{nonce: h.nonce, in: l.reader, out: l.in}
	// Login and greeting are bounded by ssh's own time limits and signs of
	// life; what hangs behind them ends with ctx.
	stop := context.AfterFunc(ctx, l.end)
	hello, err := d.start(ctx, h, after)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, l.failed(ctx, h.options.Destination, d.stage, err)
	}
	if l.client, err = agent.NewClient(l, hello, h.options.Silence); err != nil {
		l.end()
		return nil, err
	}
	go func() {
		<-l.client.Lost()
		l.end()
	}()
	if want := h.options.Version; want != "" && hello.Version != want {
		_ = l.client.Bye(ctx) // removes the program; the connection ends anyway
		return nil, fmt.Errorf("%s: %w: the program for the target is version %s, this program %s; build both from one source", stageStart, ErrProgram, hello.Version, want)
	}
	return l, nil
}

// failed ends ssh and says why there is no helper.
func (l *link) failed(ctx context.Context, destination, stage string, err error) error {
	if cause := ctx.Err(); cause != nil {
		l.end()
		return fmt.Errorf("%s: %w%s", stage, cause, l.said())
	}
	var r refusal
	if errors.As(err, &r) {
		l.end()
		return fmt.Errorf("%s: %w%s", stage, r.error, l.said())
	}
	// ssh ends by itself and tells its reason.
	select {
	case <-l.ended:
	case <-time.After(2 * time.Second):
		l.end()
	}
	exit := l.err
	if exit == nil {
		exit = err
	}
	err = explain(destination, stage, l.stderr.String(), exit)
	var status *exec.ExitError
	if stage == stageStart && errors.As(exit, &status) && (status.ExitCode() == 127 || strings.Contains(err.Error(), agent.Vanished)) {
		err = fmt.Errorf("%w (%w)", err, errVanished)
	}
	return err
}

// errVanished: between the script's look and the helper's start, the last
// helper of another Kasoku removed the program that both use.
var errVanished = errors.New("the program was removed meanwhile")

// said is ssh's last words as a part of an error.
func (l *link) said() string {
	if s := l.stderr.String(); s != "" {
		return "\n  ssh said: " + s
	}
	return ""
}

// start runs ssh in a session of its own: Ctrl-C in the terminal does not cut
// the connection which putting things back needs, and neither ssh nor one that
// it starts for a jump host can ask questions there. It dies with Kasoku.
func (l *link) start(args []string) error {
	l.cmd = exec.Command("ssh", args...)
	l.cmd.Env = append(os.Environ(), "LC_ALL=C", "SSH_ASKPASS_REQUIRE=never")
	l.cmd.Stderr = l.stderr
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	// What ssh's children (ProxyCommand) hold open must not make Wait wait.
	l.cmd.WaitDelay = time.Second
	var err error
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		return err
	}
	out, w, err := os.Pipe()
	if err != nil {
		return err
	}
	l.cmd.Stdout, l.out, l.reader = w, out, bufio.NewReaderSize(out, 64<<10)
	started := make(chan error)
	go func() {
		// The thread must live as long as ssh: prctl(2), PR_SET_PDEATHSIG.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := l.cmd.Start()
		w.Close()
		started <- err
		if err == nil {
			l.err = l.cmd.Wait()
			close(l.ended)
		}
	}()
	if err := <-started; err != nil {
		out.Close()
		l.in.Close()
		return err
	}
	return nil
}

// end makes ssh end, first by the end of its standard input.
func (l *link) end() {
	l.Close()
	select {
	case <-l.ended:
		return
	case <-time.After(500 * time.Millisecond):
	}
	_ = syscall.Kill(-l.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-l.ended:
	case <-time.After(time.Second):
		_ = syscall.Kill(-l.cmd.Process.Pid, syscall.SIGKILL)
		<-l.ended
	}
}

// Read, Write and Close make the link what agent.Client speaks through.
func (l *link) Read(p []byte) (int, error)  { return l.reader.Read(p) }
func (l *link) Write(p []byte) (int, error) { return l.in.Write(p) }

// Close ends ssh's standard input, and reads that wait.
func (l *link) Close() error { return errors.Join(l.in.Close(), l.out.Close()) }
