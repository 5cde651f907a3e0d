package diagnose

import (
	"errors"
	"fmt"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/kind/rubyapp"
	"kasoku/internal/stack"
)

// Environment is where the variables of an application's processes are set. Edits go
// into the bytes of files only; Changed returns them.
type Environment interface {
	Env(name string) (string, bool)
	SetEnv(name, value string) error
	Changed() map[string][]byte
}

// EnvironmentOf is the place of an application's environment and the service that reads
// it at its start: the application itself, or the web server that Passenger starts it in.
func EnvironmentOf(st *stack.Stack, snap *evidence.Snapshot, svc *stack.Service) (Environment, *stack.Service, error) {
	if svc.RunsIn == "" {
		start, err := StartOf(snap, svc)
		return start, svc, err
	}
	web := st.Service(svc.RunsIn)
	e := &embedded{process: snap.Apps[svc.Name]}
	var err error
	switch {
	case web == nil || !rubyapp.InPassenger(e.process.Argv):
		return nil, nil, fmt.Errorf("%s: it is not known where its environment in %s is set", svc.Name, svc.RunsIn)
	case web.Kind == stack.Apache:
		e.apache, err = ApacheConfig(snap, web)
	case web.Kind == stack.Nginx:
		e.nginx, err = NginxConfig(snap, web)
	default:
		return nil, nil, fmt.Errorf("%s: it is not known how %s says the environment of what runs in it", svc.Name, web.Name)
	}
	return e, web, err
}

// embedded is a web server's configuration, whose Passenger hands variables to the
// processes that it starts (Passenger documentation, "Environment variables": SetEnv of
// Apache, passenger_env_var of nginx).
type embedded struct {
	apache  *apache.Config
	nginx   *nginx.Config
	process evidence.AppProcess
}

// Env is what the configuration says outside of all sections, or what the process was
// started with.
func (e *embedded) Env(name string) (string, bool) {
	if d := e.directive(name); d != nil {
		return d.value, true
	}
	v, ok := e.process.Env[name]
	return v, ok
}

// said is a directive that sets a variable.
type said struct {
	value string
	set   func(value string) error
}

// directive finds the one that sets name for all applications; in a section it is for
// some of them.
func (e *embedded) directive(name string) *said {
	if e.apache != nil {
		for _, d := range e.apache.Root.Find("SetEnv") {
			if d.State == apache.Active && len(d.Args) == 2 && d.Args[0] == name {
				return &said{d.Args[1], func(v string) error { return d.SetArgs(name, v) }}
			}
		}
		return nil
	}
	if http := e.nginx.Root.First("http"); http != nil {
		for _, d := range http.Find("passenger_env_var") {
			if len(d.Args) == 2 && d.Args[0] == name {
				return &said{d.Args[1], func(v string) error { return d.SetArgs(name, v) }}
			}
		}
	}
	return nil
}

// SetEnv sets a variable for every application that Passenger starts in the server.
func (e *embedded) SetEnv(name, value string) error {
	if strings.ContainsAny(value, "\"\\\r\n$%") {
		return fmt.Errorf("%s=%s cannot be written as it is", name, value)
	}
	if d := e.directive(name); d != nil {
		return d.set(value)
	}
	if e.apache != nil {
		if !e.apache.Loads("env_module") {
			return errors.New("mod_env is not loaded in Apache (SetEnv needs it); a2enmod env")
		}
		return e.apache.Root.Append(fmt.Sprintf("\n# For the applications that Passenger starts\nSetEnv %s \"%s\"", name, value))
	}
	http := e.nginx.Root.First("http")
	if http == nil {
		return fmt.Errorf("nginx has no http section")
	}
	return http.Append(fmt.Sprintf("passenger_env_var %s \"%s\";", name, value))
}

// Changed returns the new bytes of every file that edits have made different.
func (e *embedded) Changed() map[string][]byte {
	if e.apache != nil {
		return e.apache.Changed()
	}
	return e.nginx.Changed()
}
