package stack

import (
	"os"
	"path/filepath"
	"strings"
)

// fill makes relative paths absolute and sets the defaults that are values.
func (s *Stack) fill() {
	if s.Name == "" {
		s.Name = filepath.Base(s.Dir)
	}
	if len(s.Regulation.Allow) == 0 {
		s.Regulation.Allow = nil // "allow: []" says the same as nothing
	}
	if len(s.Checks.Kill) == 0 {
		s.Checks.Kill = nil
	}
	if len(s.Checks.Reboot) == 0 {
		s.Checks.Reboot = nil
	}
	s.Load.Scenario = s.absolute(s.Load.Scenario)
	s.Checks.Scenario = s.absolute(s.Checks.Scenario)
	s.absoluteProgram(s.Load.Reset)
	if c := s.Load.Command; c != nil {
		s.absoluteProgram(c.Argv)
	}
	for name, h := range s.Hosts {
		h.SSHConfig = s.absolute(h.SSHConfig)
		s.Hosts[name] = h
	}
	for i := range s.Services {
		svc := &s.Services[i]
		svc.Host = svc.HostName()
		svc.Health.Timeout = svc.Health.Wait()
		if behind := s.Service(svc.FrontFor); svc.FrontFor != "" && behind != nil {
			behind.Behind = svc.Name
		}
		if svc.Host != LocalHost {
			continue // kasoku.yaml's folder is not there: paths must be absolute
		}
		for _, p := range []*string{&svc.Config, &svc.Prefix, &svc.PHPIni, &svc.Root, &svc.Control.PIDFile, &svc.Control.EnvFile, &svc.Control.Config, &svc.AccessLog} {
			*p = s.absolute(*p)
		}
		if strings.Contains(svc.Binary, "/") {
			svc.Binary = s.absolute(svc.Binary)
		}
		for j := range svc.Settings {
			svc.Settings[j] = s.absolute(svc.Settings[j])
		}
		for j := range svc.Logs {
			svc.Logs[j] = s.absolute(svc.Logs[j])
		}
		for j, l := range svc.Listen {
			if path, ok := strings.CutPrefix(l, "unix:"); ok {
				svc.Listen[j] = "unix:" + s.absolute(path)
			}
		}
		if b := svc.Build; b != nil {
			b.Dir = s.absolute(b.Dir)
		}
		c := &svc.Control
		for _, argv := range [][]string{c.Start, c.Stop, c.Reload, c.Check, c.Drain} {
			s.absoluteProgram(argv)
		}
		for j := range svc.Variants {
			s.fillVariant(&svc.Variants[j])
		}
		if l := svc.Login; l != nil {
			for _, p := range []*string{&l.PasswordFile, &l.DefaultsFile, &l.Socket} {
				*p = s.absolute(*p)
			}
		}
	}
}

// fillVariant is fill for one variant of a service on this machine.
func (s *Stack) fillVariant(v *Variant) {
	c := &v.Control
	for _, p := range []*string{&v.Root, &c.PIDFile, &c.EnvFile, &c.Config} {
		*p = s.absolute(*p)
	}
	if strings.Contains(v.Binary, "/") {
		v.Binary = s.absolute(v.Binary)
	}
	for i := range v.Settings {
		v.Settings[i] = s.absolute(v.Settings[i])
	}
	if v.Build != nil {
		v.Build.Dir = s.absolute(v.Build.Dir)
	}
	for _, argv := range [][]string{c.Start, c.Stop, c.Reload, c.Check, c.Drain} {
		s.absoluteProgram(argv)
	}
}

// absolute resolves a path against kasoku.yaml's folder; "~/" is the home of
// the user who runs Kasoku. Empty stays empty.
func (s *Stack) absolute(path string) string {
	switch {
	case path == "":
		return ""
	case path[0] == '/' || path[0] == '@': // @ is an abstract socket
		return filepath.Clean(path)
	case strings.HasPrefix(path, "~/"):
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, path[2:])
		}
	}
	return filepath.Join(s.Dir, path)
}

// absoluteProgram resolves a command's program if it is given as a path.
func (s *Stack) absoluteProgram(argv []string) {
	if len(argv) > 0 && strings.Contains(argv[0], "/") {
		argv[0] = s.absolute(argv[0])
	}
}
