package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tracked lists the files of the repository: what git tracks and what is new
// and not ignored, or every file where root is not a git checkout.
func tracked(root string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, os.ErrNotExist) {
		return walk(root)
	}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w: %s", root, err, strings.TrimSpace(stderr.String()))
	}
	var files []string
	for _, f := range strings.Split(string(out), "\x00") {
		if f != "" {
			files = append(files, f)
		}
	}
	return files, nil
}

// checkText looks for forbidden words in a text file.
func checkText(file string, data []byte) []problem {
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil // not text
	}
	var out []problem
	low := bytes.ToLower(data)
	for _, w := range words {
		if !slices.ContainsFunc(w.low, func(text []byte) bool { return bytes.Contains(low, text) }) {
			continue // as nearly always; an expression takes some fifty times as long
		}
		for _, at := range w.re.FindAllIndex(data, -1) {
			found := bytes.TrimSpace(data[at[0]:at[1]])
			line := 1 + bytes.Count(data[:at[0]], []byte("\n"))
			if data[at[0]] == '\n' {
				line++
			}
			out = append(out, problem{file: file, line: line, text: fmt.Sprintf("%q is %s", found, w.why)})
		}
	}
	return out
}
