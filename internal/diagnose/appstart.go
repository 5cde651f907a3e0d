package diagnose

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/confedit/args"
	"kasoku/internal/confedit/supervisor"
	"kasoku/internal/confedit/textedit"
	"kasoku/internal/confedit/unit"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// AppStart is how a service is started, as its files say it: a unit, a
// program of supervisor, or a process with an environment file. Edits go into
// the files' bytes only; Changed returns them.
type AppStart struct {
	svc     *stack.Service
	unit    *unit.Config
	dropin  string // where a unit's new settings go
	super   *supervisor.Config
	section string
	envs    []*unit.EnvFile // the one that counts last is last
	process evidence.AppProcess
}

// StartOf reads it out of the snapshot.
func StartOf(snap *evidence.Snapshot, svc *stack.Service) (*AppStart, error) {
	s := &AppStart{svc: svc, process: snap.Apps[svc.Name]}
	read, glob := files(snap, svc)
	env := func(p string) error {
		data, err := read(p)
		if err == nil {
			s.envs = append(s.envs, unit.ParseEnv(p, data))
		}
		return err
	}
	switch svc.ControlMethod() {
	case stack.MethodSystemd:
		name := evidence.UnitName(svc.Control.Unit)
		conf, err := unit.Load(name, read, glob)
		if err != nil {
			return nil, err
		}
		s.unit, s.dropin = conf, dropin(conf, name)
		for _, v := range conf.List("Service", "EnvironmentFile") {
			if err := env(strings.TrimPrefix(v.Text, "-")); err != nil && !strings.HasPrefix(v.Text, "-") {
				return nil, err
			}
		}
	case stack.MethodSupervisor:
		if svc.Control.Config == "" {
			return nil, fmt.Errorf("%s: name supervisord's configuration in kasoku.yaml (control.config)", svc.Name)
		}
		conf, err := supervisor.Load(svc.Control.Config, nil, read, glob)
		if err != nil {
			return nil, err
		}
		name := svc.Control.Program
		if _, of, grouped := strings.Cut(name, ":"); grouped {
			name = of
		}
		s.super, s.section = conf, "program:"+name
		if !slices.Contains(conf.Sections(), s.section) {
			return nil, fmt.Errorf("%s: %s has no [%s]", svc.Name, svc.Control.Config, s.section)
		}
	default:
		if svc.Control.EnvFile != "" {
			if err := env(svc.Control.EnvFile); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// dropin is where a unit's new settings go: the unit itself where it is an
// administrator's own without drop-ins, else a file among its drop-ins, whose
// folder may have to be made.
func dropin(conf *unit.Config, name string) string {
	own := path.Join("/etc/systemd/system", name)
	last := ""
	for _, f := range conf.Files {
		if f.Path == own || strings.HasPrefix(f.Path, own+".d/") {
			last = f.Path
		}
	}
	if last == own {
		return own
	}
	return path.Join(own+".d", "zz-kasoku.conf")
}

// Env is a variable's value as the files say it, or as the process was started
// with where they do not.
func (s *AppStart) Env(name string) (string, bool) {
	for _, f := range slices.Backward(s.envs) {
		if v, ok := f.Get(name); ok {
			return v.Text, true
		}
	}
	switch {
	case s.super != nil:
		if v, ok := s.super.Get(s.section, "environment"); ok {
			if text, ok := supervisor.EnvGet(v.Text, name); ok {
				return text, true
			}
		}
	case s.unit != nil:
		if text, _, ok := s.unitEnv(name); ok {
			return text, true
		}
	}
	if text, ok := startEnv(s.svc.Control.Start, name); ok {
		return text, true
	}
	v, ok := s.process.Env[name]
	return v, ok
}

// startEnv finds NAME=value among the first words of [env, NAME=value, …].
func startEnv(start []string, name string) (string, bool) {
	if len(start) == 0 || path.Base(start[0]) != "env" {
		return "", false
	}
	value, ok := "", false
	for _, w := range start[1:] {
		k, v, assigns := strings.Cut(w, "=")
		if !assigns {
			break
		}
		if k == name {
			value, ok = v, true
		}
	}
	return value, ok
}

// unitEnv finds a variable among Environment= and the assignment it is in.
func (s *AppStart) unitEnv(name string) (string, int, bool) {
	value, at, ok := "", 0, false
	for i, v := range s.unit.List("Service", "Environment") {
		for _, w := range args.Parse(v.Text, args.Systemd).Words {
			if k, text, assigns := strings.Cut(w.Value, "="); assigns && k == name {
				value, at, ok = text, i, true
			}
		}
	}
	return value, at, ok
}

// SetEnv sets a variable where it counts.
func (s *AppStart) SetEnv(name, value string) error {
	if _, fixed := startEnv(s.svc.Control.Start, name); fixed {
		return fmt.Errorf("%s: control.start in kasoku.yaml sets %s itself; write it into control.env_file instead", s.svc.Name, name)
	}
	// A file of EnvironmentFile= wins over Environment= (systemd.exec(5)).
	for _, f := range slices.Backward(s.envs) {
		if _, ok := f.Get(name); ok || s.unit == nil && s.super == nil {
			_, err := f.Set(name, value)
			return err
		}
	}
	switch {
	case s.super != nil:
		old := ""
		if v, ok := s.super.Get(s.section, "environment"); ok {
			old = v.Text
		}
		text, err := supervisor.EnvSet(old, name, value)
		if err != nil {
			return err
		}
		_, err = s.super.Set(s.section, "environment", text)
		return err
	case s.unit != nil:
		return s.setUnitEnv(name, value)
	}
	return fmt.Errorf("%s: its environment is not in a file; put it into one of NAME=value lines and name that in kasoku.yaml (control.env_file)", s.svc.Name)
}

func (s *AppStart) setUnitEnv(name, value string) error {
	if strings.ContainsAny(value, "\"\\\r\n") {
		return fmt.Errorf("%s: Environment= cannot hold %q as it is", s.svc.Name, value)
	}
	written := strings.ReplaceAll(name+"="+value, "%", "%%")
	if strings.ContainsAny(written, " \t'") {
		written = `"` + written + `"`
	}
	var all []string
	for _, v := range s.unit.List("Service", "Environment") {
		list := args.Parse(v.Text, args.Systemd)
		var edits []textedit.Edit
		for _, w := range list.Words {
			if k, _, ok := strings.Cut(w.Value, "="); ok && k == name {
				edits = append(edits, textedit.Edit{From: w.From, To: w.To})
			}
		}
		if text := strings.TrimSpace(textedit.Apply(v.Text, edits...)); text != "" {
			all = append(all, text)
		}
	}
	_, err := s.unit.SetList("Service", "Environment", append(all, written), s.dropin)
	return err
}

// Command is the line that starts the program and who splits it into words;
// "" if no file that Kasoku may edit says it (then Words does).
func (s *AppStart) Command() (string, args.Quoting) {
	switch {
	case s.super != nil:
		if v, ok := s.super.Get(s.section, "command"); ok {
			return v.Text, args.Shell // supervisor/options.py: shlex.split
		}
	case s.unit != nil:
		if all := s.unit.List("Service", "ExecStart"); len(all) == 1 {
			return all[0].Text, args.Systemd
		}
	}
	return "", args.Shell
}

// Words are the command's: as the files say it, as kasoku.yaml starts it, or
// as the process has it.
func (s *AppStart) Words() []string {
	if text, quoting := s.Command(); text != "" {
		var out []string
		for _, w := range args.Parse(text, quoting).Words {
			out = append(out, w.Value)
		}
		return out
	}
	if len(s.svc.Control.Start) > 0 {
		return s.svc.Control.Start
	}
	return s.process.Argv
}

// SetOption gives an option of the command a value.
func (s *AppStart) SetOption(g args.Grammar, name, value string) error {
	return s.editCommand(name, func(list *args.List) error {
		_, err := list.Set(g, name, value)
		return err
	})
}

// AddOption gives an option that may stand several times one more value.
func (s *AppStart) AddOption(g args.Grammar, name, value string) error {
	return s.editCommand(name, func(list *args.List) error {
		_, err := list.Add(g, name, value)
		return err
	})
}

// editCommand edits the command in its file; option is what it is about.
func (s *AppStart) editCommand(option string, edit func(*args.List) error) error {
	text, quoting := s.Command()
	if text == "" {
		return fmt.Errorf("%s: its command is in no file that Kasoku edits (control.start in kasoku.yaml); leave %s out there and set it in its configuration or environment", s.svc.Name, option)
	}
	list := args.Parse(text, quoting)
	if err := list.Err(); err != nil {
		return err
	}
	if err := edit(list); err != nil {
		return err
	}
	if s.super != nil {
		_, err := s.super.Set(s.section, "command", list.String())
		return err
	}
	v := s.unit.List("Service", "ExecStart")[0]
	_, err := s.unit.SetPart("Service", "ExecStart", v, 0, len(v.Text), list.String())
	return err
}

// Unit is the value of a setting in the [Service] section of the unit that
// starts it; false if it has none, or is not started by a unit.
func (s *AppStart) Unit(key string) (string, bool) {
	if s.unit == nil {
		return "", false
	}
	v, ok := s.unit.Get("Service", key)
	return v.Text, ok
}

// SetUnit gives a setting of the [Service] section another value.
func (s *AppStart) SetUnit(key, value string) error {
	if s.unit == nil {
		return fmt.Errorf("%s is not started by a unit of systemd, so %s has no place; whoever starts it says the limit", s.svc.Name, key)
	}
	_, err := s.unit.Set("Service", key, value, s.dropin)
	return err
}

// Changed returns the new bytes of every file that edits have made different.
func (s *AppStart) Changed() map[string][]byte {
	out := map[string][]byte{}
	add := func(m map[string][]byte) {
		for p, b := range m {
			out[p] = b
		}
	}
	if s.unit != nil {
		add(s.unit.Changed())
	}
	if s.super != nil {
		add(s.super.Changed())
	}
	for _, f := range s.envs {
		add(f.Changed())
	}
	return out
}

// AppFiles are the files that an app's settings and its start are in, sorted.
func AppFiles(snap *evidence.Snapshot, svc *stack.Service) []string {
	var out []string
	for p, f := range snap.Files[svc.HostName()] {
		if f.Service == svc.Name || slices.Contains(svc.Settings, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}
