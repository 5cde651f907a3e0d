package appserver

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Worker tells a server's workers among the processes that its main one started.
type Worker struct {
	// Title is what a worker calls itself; nil: it gives itself no name.
	Title *regexp.Regexp
	// Alike: without such a name it has the command of the main process, whose copy it is.
	Alike bool
	// Lone: a single worker is the main process itself.
	Lone bool
	// Needs must, and Unsure must not, be found in the command or the configuration for the
	// count to hold; nil: nothing.
	Needs, Unsure *regexp.Regexp
	// Source of all that.
	Source string
}

// Countable reports whether the number of workers can be seen in the process table, by
// the command and the configuration that the server has; otherwise why not.
func (s *Server) Countable(command, config string) (ok bool, why string) {
	w := s.Worker
	if w == nil {
		return false, "what the workers of " + s.Name + " look like among the processes is not known here"
	}
	text := command + "\n" + s.section(config)
	if w.Needs != nil && !w.Needs.MatchString(text) {
		return false, "without a main process of their own the workers of " + s.Name + " cannot be told apart"
	}
	if m := ""; w.Unsure != nil {
		if m = strings.TrimSpace(w.Unsure.FindString(text)); m != "" {
			return false, m + " makes processes of " + s.Name + " that look like workers and are none, or workers that come and go"
		}
	}
	return true, ""
}

// Workers counts the workers among the commands of the processes that the main process,
// whose command is given, started itself. -1: it is not known what they look like.
func (s *Server) Workers(main []string, children [][]string) int {
	w := s.Worker
	if w == nil {
		return -1
	}
	n := 0
	for _, c := range children {
		if w.Title != nil && w.Title.MatchString(strings.Join(c, " ")) || w.Alike && alike(main, c) {
			n++
		}
	}
	if n == 0 && w.Lone {
		return 1
	}
	return n
}

// alike reports whether two commands are the same, but for the folders of the program and
// of what it runs: Node names a worker's by whole paths.
func alike(a, b []string) bool {
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && (i > 1 || path.Base(a[i]) != path.Base(b[i])) {
			return false
		}
	}
	return true
}

// Main finds the main process among commands of which each is given with the position of
// its parent (-1: none of them): the first that runs the server and was not started by
// another that does. -1 if there is none, or if there are several.
func (s *Server) Main(commands [][]string, parents []int) int {
	var mains []int
	for i, c := range commands {
		if s.Runs(c) && (parents[i] < 0 || !s.Runs(commands[parents[i]])) {
			mains = append(mains, i)
		}
	}
	if len(mains) != 1 {
		return -1
	}
	return slices.Max(mains)
}
