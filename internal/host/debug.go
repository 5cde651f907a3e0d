package host

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"kasoku/internal/redact"
)

// debugging is told what is done on hosts; nil: nobody is.
var debugging atomic.Pointer[slog.Logger]

// saidMost is how much of what a command said on standard error is told, bytes.
const saidMost = 400

// Debug has l told each command that is run on a host from now on, with its time and exit,
// and each file that is written, at slog.LevelDebug; nil ends that. Secrets are masked as in
// reports (package redact); what goes into a command and comes out of it is not told, but
// for the beginning of an error's text.
func Debug(l *slog.Logger) { debugging.Store(l) }

// Ran tells of a command that was run on a host, if somebody listens (Debug).
func Ran(ctx context.Context, name string, c Command, r Result, err error) {
	l := debugging.Load()
	if l == nil {
		return
	}
	attrs := []slog.Attr{slog.String("host", name), slog.String("command", Masked(c.Argv)), slog.Duration("took", r.Took.Round(10*time.Microsecond)), slog.Int("exit", r.ExitCode)}
	if c.Dir != "" {
		attrs = append(attrs, slog.String("dir", c.Dir))
	}
	if len(c.Env) > 0 {
		var names []string
		for _, e := range c.Env {
			key, _, _ := strings.Cut(e, "=")
			names = append(names, key)
		}
		attrs = append(attrs, slog.String("env", strings.Join(names, " ")))
	}
	if r.ExitCode != 0 {
		if said := strings.TrimSpace(string(r.Stderr[:min(len(r.Stderr), saidMost)])); said != "" {
			attrs = append(attrs, slog.String("stderr", redact.Line(said)))
		}
	}
	l.LogAttrs(ctx, slog.LevelDebug, "run", withError(attrs, err)...)
}

// Wrote tells of a change of a host's file or folder, if somebody listens (Debug). act is
// what was done, e.g. "replace".
func Wrote(ctx context.Context, name, act, path string, bytes int, err error) {
	l := debugging.Load()
	if l == nil {
		return
	}
	attrs := []slog.Attr{slog.String("host", name), slog.String("path", path)}
	if bytes >= 0 {
		attrs = append(attrs, slog.Int("bytes", bytes))
	}
	l.LogAttrs(ctx, slog.LevelDebug, act, withError(attrs, err)...)
}

func withError(attrs []slog.Attr, err error) []slog.Attr {
	if err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", redact.Line(err.Error())))
}

// Masked is a command's line for people to see: its words, those with blanks in quotes, and
// without secrets.
func Masked(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		if i > 0 && strings.HasPrefix(argv[i-1], "-") && redact.IsSecretName(strings.TrimLeft(argv[i-1], "-")) {
			w = redact.Mask
		}
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`;&|<>()") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words[i] = w
	}
	return redact.Line(strings.Join(words, " "))
}
