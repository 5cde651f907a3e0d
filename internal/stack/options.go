package stack

import (
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/ini"
)

// optionName is an option in a server's help: "--name" among the descriptions.
// The table of values after them has each name at the beginning of a line.
var (
	optionName  = regexp.MustCompile(`--([a-z0-9][a-z0-9_-]*)`)
	optionValue = regexp.MustCompile(`^([a-z0-9][a-z0-9_-]*)\s+\S`)
)

// optionPrefixes may stand before an option's name (MySQL manual, "Program
// Option Modifiers"). loose_ is left out: it says that a server need not know it.
var optionPrefixes = []string{"skip_", "disable_", "enable_", "maximum_"}

// UnknownOptions lists the options of an option file that a MySQL server does
// not know, as the file spells them. help is what `mysqld --help --verbose`
// prints: since 8.0 that skips what it does not know without a word, as plugins
// that it does not load then may know it (seen with 8.0.15 and 9.7), while the
// server refuses to start with it. known are the variables of the running
// server, among them those of plugins. nil if the help lists no options.
func UnknownOptions(help string, conf *ini.Config, known map[string]string) []string {
	names := map[string]bool{}
	_, table, ok := strings.Cut(help, "\nVariables (--variable-name=value)")
	if !ok {
		return nil
	}
	for _, m := range optionName.FindAllStringSubmatch(help, -1) {
		names[plainOption(m[1])] = true
	}
	for line := range strings.Lines(table) {
		if m := optionValue.FindStringSubmatch(line); m != nil {
			names[plainOption(m[1])] = true
		}
	}
	for name := range known {
		names[plainOption(name)] = true
	}
	var out []string
	for _, section := range conf.Sections() {
		if section != "mysqld" && section != "server" && !strings.HasPrefix(section, "mysqld-") {
			continue
		}
		for _, key := range conf.Written(section) {
			if !knownOption(names, plainOption(key)) && !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}

func plainOption(name string) string { return strings.ReplaceAll(name, "-", "_") }

// knownOption also takes what only begins like an option, as servers do.
func knownOption(names map[string]bool, key string) bool {
	if names[key] || strings.HasPrefix(key, "loose_") {
		return true
	}
	for _, p := range optionPrefixes {
		if rest, ok := strings.CutPrefix(key, p); ok && names[rest] {
			return true
		}
	}
	for name := range names {
		if strings.HasPrefix(name, key) {
			return true
		}
	}
	return false
}
