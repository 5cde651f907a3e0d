package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shown is a command of a page, as somebody would type it.
type shown struct {
	page string // from the repository's root
	line int
	text string // continued lines joined, without a comment
	// output is what the page shows below the command, nil if it shows none.
	output []string
}

// docPages are those whose commands are looked at: README.md and docs/, but for decisions,
// which are of their time.
func docPages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := os.DirFS("../..")
	add := func(name string) {
		b, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(b)
	}
	add("README.md")
	err := fs.WalkDir(root, "docs", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && p == "docs/adr" {
			return fs.SkipDir
		}
		if err == nil && filepath.Ext(p) == ".md" {
			add(p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// block is one of a page that is indented by four columns or stands in a fence of a shell.
type block struct {
	line  int // of its first line
	lines []string
}

var (
	indented   = regexp.MustCompile(`^ {4,}\S`)
	shellFence = regexp.MustCompile("^\\s*```(sh|bash|console)$")
)

func blocks(text string) []block {
	var out []block
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		from, to := i, i
		switch {
		case strings.HasPrefix(strings.TrimSpace(lines[i]), "```"):
			for to++; to < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[to]), "```"); to++ {
			}
			if shellFence.MatchString(lines[i]) {
				out = append(out, block{from + 2, dedent(lines[from+1 : to])})
			}
			i = to
		case indented.MatchString(lines[i]) && (i == 0 || lines[i-1] == ""):
			for to < len(lines) && (lines[to] == "" || strings.HasPrefix(lines[to], "    ")) {
				to++
			}
			out = append(out, block{from + 1, dedent(lines[from:to])})
			i = to - 1
		}
	}
	return out
}

// dedent takes the indentation of the first line from all, and what is empty at the end.
func dedent(lines []string) []string {
	indent := ""
	if len(lines) > 0 {
		indent = lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
		if len(indent) > 4 && !strings.HasPrefix(lines[0], "       ") {
			indent = "    " // a table may begin with an indented line
		}
	}
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimPrefix(l, indent))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

var (
	// typed is the beginning of a line that somebody types.
	typed = regexp.MustCompile(`^\(?(?:[A-Z_]+=\S+ )*(?:sudo )?(?:kasoku|make|go|git|apt-get|curl|php|mkdir|cd|cp|tar|install|man|sha256sum|ssh|export|sed|awk|printf|head|\$EDITOR|(?:scripts|cases|bench)/\S+) `)
	// behind is a comment at the end of a line.
	behind = regexp.MustCompile(`\s+# .*$`)
)

// commands are those of a page. A block whose first line begins with "$ " shows what its
// commands print as well; of one whose first line is a command all lines are commands; any
// other block is no command's.
func commands(t *testing.T, page, text string) []shown {
	t.Helper()
	var out []shown
	for _, b := range blocks(text) {
		if len(b.lines) == 0 {
			continue
		}
		transcript := strings.HasPrefix(b.lines[0], "$ ")
		if !transcript && !typed.MatchString(b.lines[0]+" ") {
			continue
		}
		for i := 0; i < len(b.lines); i++ {
			line, at := b.lines[i], b.line+i
			rest, prompt := strings.CutPrefix(line, "$ ")
			switch {
			case transcript && !prompt:
				last := &out[len(out)-1]
				last.output = append(last.output, line)
				continue
			case transcript:
				line = rest
			case line == "" || strings.HasPrefix(strings.TrimSpace(line), "# "):
				continue
			case strings.HasPrefix(line, " "):
				continue // a comment goes on
			case !typed.MatchString(line + " "):
				t.Errorf("%s:%d: %q stands among commands and begins as none; if it is printed, write \"$ \" before the commands of the block", page, at, line)
				continue
			}
			for strings.HasSuffix(line, "\\") && i+1 < len(b.lines) {
				i++
				line = strings.TrimSuffix(line, "\\") + strings.TrimSpace(b.lines[i])
			}
			out = append(out, shown{page: page, line: at, text: strings.TrimSpace(behind.ReplaceAllString(line, ""))})
		}
	}
	return out
}
