package stack

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/host"
)

// outputLines bounds how much of a program's own words an error repeats.
const outputLines = 10

// run executes a command and makes a non-zero exit an error that carries the
// last lines of what the program said.
func run(ctx context.Context, h host.Host, dir string, timeout time.Duration, argv ...string) (host.Result, error) {
	res, err := h.Run(ctx, host.Command{Argv: argv, Dir: dir, Timeout: timeout})
	if err != nil {
		return res, fmt.Errorf("run %s: %w", strings.Join(argv, " "), err)
	}
	if res.ExitCode != 0 {
		return res, fmt.Errorf("run %s: exit status %d%s", strings.Join(argv, " "), res.ExitCode, said(string(res.Stdout)+string(res.Stderr)))
	}
	return res, nil
}

// said formats the last lines of an output as an indented tail of an error;
// "" if there are none.
func said(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	if len(lines) > outputLines {
		lines = lines[len(lines)-outputLines:]
	}
	for i, l := range lines {
		if len(l) > 400 {
			lines[i] = strings.ToValidUTF8(l[:400], "") + "…"
		}
	}
	return ":\n  " + strings.Join(lines, "\n  ")
}

// hostGlob expands a shell pattern on a host, as glob(7) does for nginx's and
// php-fpm's include: sorted, hidden files only if the pattern says so.
func hostGlob(ctx context.Context, h host.Host) func(pattern string) ([]string, error) {
	return func(pattern string) ([]string, error) {
		found := []string{"/"}
		for part := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
			var next []string
			for _, dir := range found {
				if !strings.ContainsAny(part, `*?[\`) {
					next = append(next, path.Join(dir, part))
					continue
				}
				entries, err := h.List(ctx, dir)
				if err != nil {
					continue // absent or not a folder: matches nothing
				}
				for _, e := range entries {
					name := filepath.Base(e.Path)
					ok, err := path.Match(part, name)
					if err != nil {
						return nil, fmt.Errorf("expand %s: %w", pattern, err)
					}
					if ok && (name[0] != '.' || part[0] == '.') {
						next = append(next, path.Join(dir, name))
					}
				}
			}
			found = next
		}
		var out []string
		for _, f := range found {
			if _, err := h.Stat(ctx, f); err == nil {
				out = append(out, f)
			}
		}
		return out, nil
	}
}

// hostRead reads files for the configuration editors.
func hostRead(ctx context.Context, h host.Host) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) { return h.ReadFile(ctx, path) }
}

// exists reports whether something is at the path.
func exists(ctx context.Context, h host.Host, path string) bool {
	_, err := h.Stat(ctx, path)
	return err == nil
}
