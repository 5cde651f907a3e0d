package rubyapp

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// version in the path of a program: /usr/bin/ruby3.1, versions/3.2.2/bin/ruby.
var version = regexp.MustCompile(`(?:ruby-?|/)(\d+)\.(\d+)`)

// Is reports whether a program is Ruby's interpreter.
func Is(exe string) bool { return strings.HasPrefix(path.Base(exe), "ruby") }

// Version is that of the interpreter at a path, "3.1"; "" if the path does not tell.
func Version(exe string) string {
	v := version.FindStringSubmatch(exe)
	if v == nil {
		return ""
	}
	return v[1] + "." + v[2]
}

// HasYJIT reports whether a version can compile hot methods (Ruby 3.1 release notes).
func HasYJIT(version string) bool {
	major, minor, _ := strings.Cut(version, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return a > 3 || a == 3 && b >= 1
}

// JITChosen reports whether its options, command or environment say already what it
// compiles.
func JITChosen(options, enabled string, words []string) bool {
	return enabled != "" || strings.Contains(options+strings.Join(words, " "), "jit")
}
