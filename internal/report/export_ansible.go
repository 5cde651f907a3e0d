package report

import (
	"fmt"
	"path"
	"strings"

	"github.com/goccy/go-yaml"

	"kasoku/internal/change"
	"kasoku/internal/stack"
)

// task is one entry of a playbook, with its keys in order.
type task = yaml.MapSlice

func key(name string, value any) yaml.MapItem { return yaml.MapItem{Key: name, Value: value} }

// tasks is what one change is for Ansible. shell are its lines in the script,
// for kinds that Ansible has no module for.
func (x *exporter) tasks(tx change.Tx, c change.Change, shell string) []task {
	name := fmt.Sprintf("%d. %s: %s", tx.ID, tx.Title, c.Title())
	if bySQL(c) {
		return nil // by the service's SQL file, once
	}
	var module yaml.MapItem
	switch c.Kind {
	case change.KindFile:
		last := x.finals[fileKey(c)]
		if last.After == nil || last.After.Hash == "" {
			module = key("ansible.builtin.file", yaml.MapSlice{key("path", plain(c.Path)), key("state", "absent")})
			break
		}
		args := yaml.MapSlice{key("src", plain(exported(last))), key("dest", plain(c.Path)), key("follow", true)} // what a link leads to, as the script
		module = key("ansible.builtin.copy", append(args, attributes(last.After)...))
	case change.KindDir:
		state := change.FileState{Mode: 0o755, UID: -1, GID: -1}
		if c.After != nil {
			state = *c.After
		}
		args := yaml.MapSlice{key("path", plain(c.Path)), key("state", "directory")}
		module = key("ansible.builtin.file", append(args, attributes(&state)...))
	default:
		lines := shellLines(shell)
		if lines == "" {
			return nil
		}
		args := yaml.MapSlice{key("cmd", plain(lines)), key("executable", "/bin/sh")}
		module = key("ansible.builtin.shell", args)
	}
	t := task{key("name", plain(name)), module}
	if c.Service != "" && c.Activate != change.None {
		t = append(t, key("notify", plain("activate "+c.Service)))
	}
	return []task{t}
}

// attributes are mode and owner, by number as in the script.
func attributes(s *change.FileState) yaml.MapSlice {
	out := yaml.MapSlice{key("mode", fmt.Sprintf("%04o", s.Mode.Perm()))}
	if s.UID >= 0 {
		out = append(out, key("owner", fmt.Sprint(s.UID)))
	}
	if s.GID >= 0 {
		out = append(out, key("group", fmt.Sprint(s.GID)))
	}
	return out
}

// shellLines are the lines of a script that do something.
func shellLines(script string) string {
	var out []string
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// plain keeps Ansible from reading braces as a template.
func plain(s string) string {
	if strings.Contains(s, "{{") || strings.Contains(s, "{%") || strings.Contains(s, "{#") {
		return "{% raw %}" + s + "{% endraw %}"
	}
	return s
}

// writePlaybook writes one play for each host.
func (x *exporter) writePlaybook(kept []change.Tx) error {
	if !x.wants(FormatAnsible) {
		return nil
	}
	var plays []yaml.MapSlice
	for _, name := range x.order {
		h := x.hosts[name]
		tasks := h.tasks
		for _, service := range x.databases() {
			if x.serviceHost(kept, service) != name {
				continue
			}
			tasks = append(tasks, task{key("name", "statements of "+service),
				key("ansible.builtin.command", yaml.MapSlice{key("argv", x.client(service)), key("stdin", "{{ lookup('ansible.builtin.file', '"+x.sqlName(service)+"') }}")}),
				key("tags", []string{"sql"})})
		}
		if len(tasks) == 0 {
			continue
		}
		play := yaml.MapSlice{key("name", "Kept changes on "+name), key("hosts", name), key("become", true), key("tasks", once(tasks))}
		if handlers := x.handlers(kept, name); len(handlers) > 0 {
			play = append(play, key("handlers", handlers))
		}
		plays = append(plays, play)
	}
	data, err := yaml.MarshalWithOptions(plays, yaml.IndentSequence(true))
	if err != nil {
		return fmt.Errorf("write the playbook: %w", err)
	}
	return x.write("playbook.yml", "# Written by kasoku export. Read it first; --check --diff shows what it would do.\n"+string(data), 0o644)
}

// once leaves out later tasks for a file that an earlier one puts in its final
// state.
func once(tasks []task) []task {
	seen := map[string]bool{}
	var out []task
	for _, t := range tasks {
		module := fmt.Sprint(t[1])
		if strings.HasPrefix(fmt.Sprint(t[1].Key), "ansible.builtin.copy") || strings.HasPrefix(fmt.Sprint(t[1].Key), "ansible.builtin.file") {
			if seen[module] {
				continue
			}
			seen[module] = true
		}
		out = append(out, t)
	}
	return out
}

// bySQL: the service's SQL file makes the change.
func bySQL(c change.Change) bool {
	return c.Kind == change.KindIndex || c.Kind == change.KindTable || c.Kind == change.KindVariable
}

// serviceHost is the host whose play runs a database's statements.
func (x *exporter) serviceHost(kept []change.Tx, service string) string {
	for _, tx := range kept {
		for _, c := range tx.Changes {
			if c.Service == service && bySQL(c) {
				return hostOf(c)
			}
		}
	}
	return ""
}

// handlers activate services, in the way that kasoku.yaml tells.
func (x *exporter) handlers(kept []change.Tx, hostName string) []task {
	need, order := needs(kept, hostName)
	var out []task
	for _, name := range order {
		out = append(out, x.handler(name, need[name]))
	}
	return out
}

func (x *exporter) handler(name string, how change.Activation) task {
	t := task{key("name", plain("activate "+name))}
	var svc *stack.Service
	if x.options.Stack != nil {
		if svc = x.options.Stack.Service(name); svc != nil && svc.RunsIn != "" {
			svc = x.options.Stack.Service(svc.RunsIn)
		}
	}
	state := map[change.Activation]string{change.Reload: "reloaded", change.Restart: "restarted"}[how]
	switch {
	case svc != nil && svc.ControlMethod() == stack.MethodSystemd:
		return append(t, key("ansible.builtin.systemd", yaml.MapSlice{key("name", svc.Control.Unit), key("state", state), key("daemon_reload", true)}))
	case svc != nil && svc.ControlMethod() == stack.MethodSupervisor:
		argv := []string{"supervisorctl"}
		if svc.Control.Config != "" {
			argv = append(argv, "-c", svc.Control.Config)
		}
		return append(t, key("ansible.builtin.command", yaml.MapSlice{key("argv", append(argv, "restart", svc.Control.Program))}))
	case svc != nil && how == change.Reload && len(svc.Control.Reload) > 0:
		return append(t, key("ansible.builtin.command", yaml.MapSlice{key("argv", svc.Control.Reload)}))
	}
	// How it is activated differs by machine.
	return append(t, key("ansible.builtin.debug", yaml.MapSlice{key("msg", plain(fmt.Sprintf("Check the configuration of %s, then %s it.", path.Base(name), how)))}))
}
