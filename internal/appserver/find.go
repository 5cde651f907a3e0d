package appserver

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"kasoku/internal/confedit/args"
	"kasoku/internal/lazyregexp"
)

// Where a server's number of workers is written.
type Where string

const (
	InOption  Where = "option"        // of its command
	InEnvArgs Where = "env arguments" // options in an environment variable
	InConfig  Where = "configuration" // in its own file
	InEnv     Where = "environment"   // a variable that holds the number
	InScript  Where = "script"        // of sh(1) that starts it
	Nowhere   Where = ""              // its default
)

// Number is how many workers a server has, and where that is written.
type Number struct {
	Workers int
	Where   Where
	// Variable has it, where it is InEnv.
	Variable string
	// Computed is the expression that the configuration has in place of a
	// number, "" if it has none.
	Computed string
	// Threads answer requests at once in each worker; ThreadsWhere that is written.
	Threads      int
	ThreadsWhere Where
}

// Runs reports whether a command runs the server, or its main process calls itself so.
func (s *Server) Runs(words []string) bool {
	line := strings.Join(words, " ")
	if s.Title != nil && s.Title.MatchString(line) || s.Launched != nil && s.Launched.MatchString(line) {
		return true
	}
	for n, w := range words {
		// An interpreter, its switches and a module's -m stand before it.
		if n > 6 {
			break
		}
		if s.Program.MatchString(path.Base(w)) {
			return true
		}
	}
	return false
}

// ConfigFiles are the files that it may read its configuration from, the one
// that the command names or else its defaults, the first that is there; folder
// is where it runs, env looks a variable up.
func (s *Server) ConfigFiles(command, folder string, env func(string) (string, bool)) []string {
	list := args.Parse(command, args.Shell)
	named, _ := s.namedConfig(list)
	if v, ok := env(s.ConfigEnv); named == "" && s.ConfigEnv != "" && ok {
		named = v
	}
	out := s.Configs
	if named != "" {
		out = []string{named}
	}
	var abs []string
	for _, f := range out {
		f = strings.ReplaceAll(f, "%ENV%", s.environment(list, env))
		if !path.IsAbs(f) {
			if folder == "" {
				continue
			}
			f = path.Join(folder, f)
		}
		abs = append(abs, f)
	}
	return abs
}

// namedConfig is the configuration file that the command names, and at which
// word; "" if it names none.
func (s *Server) namedConfig(list *args.List) (file string, at int) {
	if s.ConfigOption != "" {
		if o, ok := list.Get(s.Grammar, s.ConfigOption); ok && o.Literal {
			return strings.TrimPrefix(o.Value, "file:"), o.Word
		}
	}
	if s.ConfigWord != nil {
		for i, w := range list.Words {
			if w.Literal && s.ConfigWord.MatchString(w.Value) {
				file, at = w.Value, i
			}
		}
	}
	return file, at
}

// environment is the name of what a Ruby server runs for.
func (s *Server) environment(list *args.List, env func(string) (string, bool)) string {
	if o, ok := list.Get(s.Grammar, "--environment"); ok {
		return o.Value
	}
	for _, name := range []string{"APP_ENV", "RACK_ENV", "RAILS_ENV"} {
		if v, ok := env(name); ok {
			return v
		}
	}
	return "development"
}

// reVariable is a word of a command that is a variable of the environment
// (systemd.service(5), "COMMAND LINES").
var reVariable = lazyregexp.New(`^\$(?:\{(\w+)\}|(\w+))$`)

// Count finds the number of workers. env looks a variable up, config is the
// configuration file's text, "" without one.
func (s *Server) Count(command string, quoting args.Quoting, env func(string) (string, bool), config string) Number {
	out := Number{Workers: s.Default, Threads: s.DefaultThreads}
	variable := ""
	set := func(text string, where Where) bool {
		if m := reVariable.FindStringSubmatch(text); m != nil && where == InOption {
			name := m[1] + m[2]
			v, ok := env(name)
			if !ok {
				return false
			}
			variable, text, where = name, v, InEnv
		}
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 0 {
			return false
		}
		out.Workers, out.Where, out.Variable = n, where, variable
		return true
	}
	config = s.section(config)
	list := args.Parse(command, quoting)
	var more *args.List
	if s.EnvArgs != "" {
		if v, ok := env(s.EnvArgs); ok {
			more = args.Parse(v, args.Shell)
		}
	}
	out.Threads, out.ThreadsWhere = s.threads(list, more, env, config)
	file := func() bool {
		if s.Key == nil {
			return false
		}
		m := last(s.Key.FindAllStringSubmatch(config, -1))
		return m != nil && set(m[1], InConfig)
	}
	if o, ok := list.Get(s.Grammar, s.Option); s.Option != "" && ok {
		if named, at := s.namedConfig(list); s.ConfigLast && named != "" && at > o.Word && file() {
			return out
		}
		if set(o.Value, InOption) {
			return out
		}
		if !o.Literal { // it counts before all other places, whatever it is
			out.Computed = o.Value
			return out
		}
	}
	if more != nil {
		if o, ok := more.Get(s.Grammar, s.Option); ok && set(o.Value, InEnvArgs) {
			return out
		}
	}
	if s.Key != nil {
		if file() {
			return out
		}
		if m := last(s.Computed.FindAllStringSubmatch(config, -1)); m != nil {
			out.Computed = strings.TrimSpace(m[1])
		}
	}
	for _, name := range []string{s.EnvFirst, s.Env} {
		if v, ok := env(name); name != "" && ok && set(v, InEnv) {
			out.Variable = name
			return out
		}
	}
	return out
}

func (s *Server) threads(list, more *args.List, env func(string) (string, bool), config string) (int, Where) {
	for _, l := range []struct {
		*args.List
		where Where
	}{{list, InOption}, {more, InEnvArgs}} {
		if l.List == nil || s.Threads == "" {
			continue
		}
		if o, ok := l.Get(s.Grammar, s.Threads); ok {
			if n, err := strconv.Atoi(o.Value); err == nil && n > 0 {
				return n, l.where
			}
		}
	}
	if s.KeyThreads != nil {
		if m := last(s.KeyThreads.FindAllStringSubmatch(config, -1)); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
				return n, InConfig
			}
		}
	}
	if s.EnvThreads != "" {
		if v, ok := env(s.EnvThreads); ok {
			if n, err := strconv.Atoi(v); err == nil && n > 0 {
				return n, InEnv
			}
		}
	}
	return s.DefaultThreads, Nowhere
}

// SetConfigThreads gives the number of threads in a configuration file's text another
// value; ok is false if none stands there.
func (s *Server) SetConfigThreads(config string, n int) (text string, ok bool) {
	from, to := 0, len(config)
	if s.Section != "" {
		if from, to, ok = s.sectionAt(config); !ok {
			return "", false
		}
	}
	if s.KeyThreads == nil {
		return "", false
	}
	all := s.KeyThreads.FindAllStringSubmatchIndex(config[from:to], -1)
	if len(all) == 0 {
		return "", false
	}
	at := all[len(all)-1]
	return config[:from+at[2]] + strconv.Itoa(n) + config[from+at[3]:], true
}

func last(all [][]string) []string {
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// SetConfig gives the number in a configuration file's text another value:
// the assignment that counts is edited, or a line is added at the end. ok is
// false if the file computes it or the server has no such file.
func (s *Server) SetConfig(config string, n int) (string, bool) {
	if s.Key == nil {
		return "", false
	}
	if s.Section != "" {
		from, to, ok := s.sectionAt(config)
		if !ok {
			return "", false
		}
		whole := *s
		whole.Section = ""
		text, ok := whole.SetConfig(config[from:to], n)
		return config[:from] + text + config[to:], ok
	}
	if all := s.Key.FindAllStringSubmatchIndex(config, -1); len(all) > 0 {
		at := all[len(all)-1]
		return config[:at[2]] + strconv.Itoa(n) + config[at[3]:], true
	}
	if s.Computed.MatchString(config) || s.Line == "" {
		return "", false
	}
	if config != "" && !strings.HasSuffix(config, "\n") {
		config += "\n"
	}
	return config + strings.Replace(s.Line, "%d", strconv.Itoa(n), 1) + "\n", true
}

// section is the part of a configuration file's text that is the server's, ""
// if it has none.
func (s *Server) section(config string) string {
	if s.Section == "" {
		return config
	}
	from, to, _ := s.sectionAt(config)
	return config[from:to]
}

var sectionHead = regexp.MustCompile(`(?m)^[ \t]*\[.*$\n?`)

// sectionAt is where the lines below the section's head stand; ok is false if
// the text has no such section.
func (s *Server) sectionAt(config string) (from, to int, ok bool) {
	for _, at := range sectionHead.FindAllStringIndex(config, -1) {
		switch {
		case ok:
			return from, at[0], true
		case strings.HasPrefix(strings.TrimSpace(config[at[0]:at[1]]), s.Section):
			from, ok = at[1], true
		}
	}
	if !ok {
		from = len(config)
	}
	return from, len(config), ok
}
