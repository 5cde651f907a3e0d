package host

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

// Who debugs sees each command with its time and exit, each file that is written, and no
// secret.
func TestDebug(t *testing.T) {
	var out bytes.Buffer
	Debug(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer Debug(nil)
	ctx, l, dir := t.Context(), NewLocal(), t.TempDir()

	if _, err := l.Run(ctx, Command{Argv: []string{"sh", "-c", "echo answer; echo 'password=s3cret is wrong' >&2; exit 3", "curl", "-u", "me:s3cret"}, Dir: dir,
		Env: []string{"API_TOKEN=s3cret"}, Stdin: []byte("s3cret")}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(ctx, Command{Argv: []string{"true", "--password", "s3cret", "--db-password=s3cret", "mysql", "-ps3cret"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(ctx, Command{Argv: []string{filepath.Join(dir, "none")}}); err == nil {
		t.Fatal("a program that is not there ran")
	}
	file := filepath.Join(dir, "app.env")
	if err := l.ReplaceFile(ctx, file, []byte("KEY=s3cret\n"), Replace{Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if err := l.Remove(ctx, file, HashOf([]byte("another"))); !errors.Is(err, ErrChanged) {
		t.Fatal(err)
	}

	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range [][]string{
		{"msg=run", "host=local", "exit=3", "took=", "dir=" + dir, "env=API_TOKEN", "is wrong", "sh -c"},
		{"msg=run", "exit=0", "true --password"},
		{"msg=run", "error=", "no such file"},
		{"msg=replace", "path=" + file, "bytes=11"},
		{"msg=remove", "error=", "changed by someone else"},
	} {
		if i >= len(lines) {
			t.Fatalf("%d lines:\n%s", len(lines), out.String())
		}
		for _, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("line %d has no %q: %s", i+1, w, lines[i])
			}
		}
	}
	for _, never := range []string{"s3cret", "answer\n", "answer\""} {
		if strings.Contains(out.String(), never) {
			t.Errorf("%q is told:\n%s", never, out.String())
		}
	}

	out.Reset()
	Debug(nil)
	if _, err := l.Run(ctx, Command{Argv: []string{"true"}}); err != nil || out.Len() > 0 {
		t.Errorf("told when nobody listens: %v %s", err, out.String())
	}
}
