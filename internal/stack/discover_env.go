package stack

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// modeVariables say which of its configurations a program runs with, where it finds its
// code, or how many workers it has. They hold no secrets; without them a program that is
// started again may be another one, with another database.
var modeVariables = []string{
	"NODE_ENV", "NODE_PATH", "NODE_APP_INSTANCE", "NODE_CONFIG_ENV", "NODE_CONFIG_DIR", "RAILS_ENV", "RACK_ENV", "BUNDLE_GEMFILE", "GEM_HOME", "GEM_PATH", "RUBYLIB",
	"DJANGO_SETTINGS_MODULE", "DJANGO_CONFIGURATION", "FLASK_APP", "FLASK_ENV", "PYTHONPATH", "VIRTUAL_ENV", "PLACK_ENV", "MOJO_MODE", "MOJO_HOME", "PERL5LIB",
	"APP_ENV", "APP_ENVIRONMENT", "APPLICATION_ENV", "ENVIRONMENT", "GO_ENV", "GIN_MODE", "MIX_ENV", "SPRING_PROFILES_ACTIVE", "ASPNETCORE_ENVIRONMENT", "DOTNET_ENVIRONMENT",
	"CATALINA_HOME", "CATALINA_BASE", "JAVA_HOME", "PORT", "WEB_CONCURRENCY", "RAILS_MAX_THREADS", "RAILS_SERVE_STATIC_FILES", "RAILS_LOG_TO_STDOUT",
}

// shellVariables are in the environment of whatever was started from a shell or by an init,
// and mean nothing to a service.
var (
	shellVariables = []string{"PATH", "PWD", "OLDPWD", "SHLVL", "_", "TERM", "USER", "LOGNAME", "SHELL", "MAIL", "LS_COLORS", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "LESSCLOSE",
		"COLORTERM", "COLUMNS", "LINES", "HOSTNAME", "INVOCATION_ID", "JOURNAL_STREAM", "DBUS_SESSION_BUS_ADDRESS", "WINDOWID", "DISPLAY", "DEBIAN_FRONTEND", "LANGUAGE"}
	shellPrefixes = []string{"LC_", "XDG_", "SSH_", "SUDO_", "HIST", "TMUX", "BASH_", "SYSTEMD_", "PS1"}
)

// mostNames of variables are told.
const mostNames = 8

// startEnvironment puts the variables that choose a program's configuration in front of
// the command that starts it, and names the others that it would be started without.
// Their values may be secrets, and are not taken.
func (d *discovery) startEnvironment(ctx context.Context, app *instance) {
	data, err := d.h.ReadFile(ctx, fmt.Sprintf("/proc/%d/environ", app.master.pid))
	if err != nil {
		d.note("%s (process %d, %s) was started with an environment that cannot be read (%v); if it needs one, write control.start as [env, NAME=value, program, …].",
			app.svc.Name, app.master.pid, app.master.comm, err)
		return
	}
	var words, others []string
	for e := range strings.SplitSeq(string(data), "\x00") {
		switch name, value, ok := strings.Cut(e, "="); {
		case !ok, slices.Contains(envKept, name), slices.Contains(shellVariables, name),
			slices.ContainsFunc(shellPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }):
		case slices.Contains(modeVariables, name) && plainValue(value):
			words = append(words, e)
		default:
			others = append(others, name)
		}
	}
	if c := &app.svc.Control; len(words) > 0 && len(c.Start) > 0 {
		c.Start = append(append([]string{"env"}, words...), c.Start...)
	}
	if len(others) == 0 {
		return
	}
	slices.Sort(others)
	text := strings.Join(others[:min(len(others), mostNames)], ", ")
	if more := len(others) - mostNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	d.note("%s (process %d, %s) was started with %s in its environment, which Kasoku does not copy, because that may hold secrets; if it needs it when it is restarted, put NAME=value lines into a file that only its user reads, and name it as control.env_file.",
		app.svc.Name, app.master.pid, app.master.comm, text)
}

// plainValue is one that can stand in a list of words and holds no credentials of a URL.
func plainValue(value string) bool {
	return value != "" && len(value) <= 300 && !strings.ContainsAny(value, "\r\n@")
}
