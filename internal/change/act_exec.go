package change

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/host"
)

// execAct runs a pair of commands. What they do cannot be seen, so undo runs
// whenever apply may have begun; both must be idempotent.
type execAct struct{ work }

// execTimeout of one command: building an application's code takes minutes.
const execTimeout = 10 * time.Minute

func (a *execAct) prepare(context.Context) ([][]byte, error) {
	if len(a.c.Apply) == 0 || len(a.c.Undo) == 0 {
		return nil, fmt.Errorf("%s: it needs a command to apply and one to undo", a.c.Title())
	}
	return nil, nil
}

func (a *execAct) look(context.Context) (sight, error) { return sight{blind: true}, nil }

func (a *execAct) write(ctx context.Context) (string, error) { return "", a.run(ctx, a.c.Apply) }

func (a *execAct) restore(ctx context.Context) error { return a.run(ctx, a.c.Undo) }

func (a *execAct) run(ctx context.Context, argv []string) error {
	r, err := a.h.Run(ctx, host.Command{Argv: argv, Dir: a.c.Dir, Timeout: execTimeout})
	if err != nil {
		return err
	}
	if r.ExitCode != 0 {
		return fmt.Errorf("%s: exit status %d: %s", commandLine(argv), r.ExitCode, tail(r))
	}
	return nil
}

// tail is the end of what a failed command said.
func tail(r host.Result) string {
	out := bytes.TrimSpace(r.Stderr)
	if len(out) == 0 {
		out = bytes.TrimSpace(r.Stdout)
	}
	if len(out) == 0 {
		return "it said nothing"
	}
	const most = 600 // a few lines; the last ones name the cause
	if len(out) > most {
		return "…" + Redact(strings.ToValidUTF8(string(out[len(out)-most:]), ""))
	}
	return Redact(string(out))
}

func (a *execAct) conflict(s sight) *ConflictError { return a.differs("", "", s.got) }

// commandLine prints a command as a person would type it.
func commandLine(argv []string) string {
	var out []string
	for _, arg := range argv {
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		out = append(out, arg)
	}
	return strings.Join(out, " ")
}

// restartAct changes nothing; the executor activates its service.
type restartAct struct{ work }

func (a *restartAct) prepare(context.Context) ([][]byte, error) {
	if a.c.Service == "" || a.c.Activate == None {
		return nil, fmt.Errorf("restart: it needs a service and an activation")
	}
	return nil, nil
}
func (a *restartAct) look(context.Context) (sight, error)   { return sight{blind: true}, nil }
func (a *restartAct) write(context.Context) (string, error) { return "", nil }
func (a *restartAct) restore(context.Context) error         { return nil }
func (a *restartAct) conflict(s sight) *ConflictError       { return a.differs("", "", s.got) }
