package lab

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// run runs a program of the machine and returns its output. Its error holds
// the end of what it printed.
func run(ctx context.Context, name string, args ...string) (string, error) {
	path, err := lookPath(name)
	if err != nil {
		return "", fmt.Errorf("run %s: %w", name, err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return stdout.String(), fmt.Errorf("run %s %s: %w%s", name, strings.Join(args, " "), err, tail(stderr.String()+stdout.String()))
	}
	return stdout.String(), nil
}

// tail is the end of a program's output, to be put behind an error.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if n := len(lines); n > 6 {
		lines = lines[n-6:]
	}
	if text = strings.TrimSpace(strings.Join(lines, "\n")); text == "" {
		return ""
	}
	return ": " + text
}
