package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listed is an entry of testdata/docs/commands.txt.
type listed struct {
	command string
	page    string // "": of all pages that have none of their own
	as      string // what is run instead, "" for the command itself
	exits   []int  // with which codes; [0] if nothing else is said
	line    int
	used    bool
}

// section is a stand with what is run in it, in this order, or a reason why commands are not run.
type section struct {
	stand, reason string
	entries       []*listed
}

const commandsFile = "testdata/docs/commands.txt"

// commandList reads commandsFile: "== NAME" begins what is run in the stand NAME, "== not run: REASON"
// what is not; then a command a line, and indented below it "on: PAGE", "as: COMMAND", "exit: CODES".
func commandList(t *testing.T) []section {
	t.Helper()
	var out []section
	for i, line := range strings.Split(readText(t, commandsFile), "\n") {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== not run: "):
			out = append(out, section{reason: strings.TrimPrefix(line, "== not run: ")})
		case strings.HasPrefix(line, "== "):
			out = append(out, section{stand: strings.TrimPrefix(line, "== ")})
		case len(out) == 0:
			t.Fatalf("%s:%d: stands before the first \"== \"", commandsFile, i+1)
		case !strings.HasPrefix(line, " "):
			s := &out[len(out)-1]
			s.entries = append(s.entries, &listed{command: line, line: i + 1, exits: []int{0}})
		default:
			s := out[len(out)-1].entries
			e := s[len(s)-1]
			switch key {
			case "on":
				e.page = value
			case "as":
				e.as = value
			case "exit":
				e.exits = nil
				for _, f := range strings.Fields(value) {
					n, err := strconv.Atoi(f)
					if err != nil {
						t.Fatalf("%s:%d: %v", commandsFile, i+1, err)
					}
					e.exits = append(e.exits, n)
				}
			default:
				t.Fatalf("%s:%d: %q is none of on, as, exit", commandsFile, i+1, key)
			}
		}
	}
	return out
}

// elsewhere are commands that are programs of the repository, which are long; TestShownCommandsAreThere
// looks whether there is what they name.
func elsewhere(command string) bool {
	return slices.ContainsFunc([]string{"make ", "sudo make ", "go test ", "go run ", "go generate ", "scripts/", "cases/", "bench/"}, func(p string) bool { return strings.HasPrefix(command, p) })
}

// TestShownCommandsAreListed: each command of a page is run by TestShownCommands or listed with the
// reason why not, and nothing else is listed.
func TestShownCommandsAreListed(t *testing.T) {
	list := commandList(t)
	entry := func(c shown) *listed {
		var all *listed
		for _, s := range list {
			for _, e := range s.entries {
				switch {
				case e.command != c.text:
				case e.page == c.page:
					return e
				case e.page == "":
					all = e
				}
			}
		}
		return all
	}
	for page, text := range docPages(t) {
		for _, c := range commands(t, page, text) {
			if elsewhere(c.text) {
				continue
			}
			e := entry(c)
			if e == nil {
				t.Errorf("%s:%d: %s\n\tis not in %s: let a stand run it, or say why none does", c.page, c.line, c.text, commandsFile)
				continue
			}
			e.used = true
		}
	}
	for _, s := range list {
		for _, e := range s.entries {
			if !e.used {
				t.Errorf("%s:%d: %s stands on no page", commandsFile, e.line, e.command)
			}
		}
	}
}
