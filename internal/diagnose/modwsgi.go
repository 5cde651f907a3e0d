package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

const (
	// wsgiThreads of a daemon process where nothing says it, and the number of processes
	// (mod_wsgi documentation, "WSGIDaemonProcess").
	wsgiThreads, wsgiProcesses = 15, 1
	// lockSaves is the most of such an application's CPU that threads which wait for the
	// interpreter's lock are taken to spend on it: 20 % in one run each of a review board,
	// beside other work; pairs of runs did not show it (docs/measured/field.md).
	lockSaves = 0.2
	// wsgiGroup is the process group that SetProcesses makes.
	wsgiGroup = "kasoku"
)

// WSGI is an application that mod_wsgi runs in Apache: in Apache's own processes (embedded
// mode), or in processes for it alone (daemon mode).
type WSGI struct {
	// Daemon reports daemon mode. Processes and Threads in each are those of its process
	// group; 0 in embedded mode, where they are Apache's.
	Daemon             bool
	Processes, Threads int

	conf    *apache.Config
	aliases []*apache.Directive // WSGIScriptAlias of its one script
	process *apache.Directive   // WSGIDaemonProcess
}

// WSGIOf finds it; nil without an error if the service is no such application. It fails where
// Apache runs several applications by mod_wsgi, or where their process group is computed.
func WSGIOf(st *stack.Stack, snap *evidence.Snapshot, svc *stack.Service) (*WSGI, error) {
	web := st.Service(svc.RunsIn)
	if svc.RunsIn == "" || web == nil || web.Kind != stack.Apache {
		return nil, nil
	}
	conf, err := ApacheConfig(snap, web)
	if err != nil || !conf.Loads("wsgi_module") {
		return nil, err
	}
	w := &WSGI{conf: conf}
	if err := w.readAliases(); err != nil {
		return nil, fmt.Errorf("%s: %w", svc.Name, err)
	}
	if len(w.aliases) == 0 {
		return nil, nil
	}
	if own, err := w.isOf(st, svc); err != nil || !own {
		return nil, err
	}
	group, err := w.group()
	if err != nil || group == "" {
		return w, err
	}
	for _, d := range conf.Root.FindAll("WSGIDaemonProcess") {
		if len(d.Args) > 0 && d.Args[0] == group {
			w.process, w.Daemon = d, true
		}
	}
	if w.process == nil {
		return nil, fmt.Errorf("%s: no WSGIDaemonProcess has the name %s", svc.Name, group)
	}
	w.Processes, w.Threads = w.number("processes", wsgiProcesses), w.number("threads", wsgiThreads)
	return w, nil
}

// readAliases finds the one script that mod_wsgi starts, by which address ever.
func (w *WSGI) readAliases() error {
	for _, d := range w.conf.Root.FindAll("WSGIScriptAlias", "WSGIScriptAliasMatch") {
		if len(d.Args) < 2 {
			continue
		}
		if len(w.aliases) > 0 && w.aliases[0].Args[1] != d.Args[1] {
			return fmt.Errorf("mod_wsgi starts %s and %s, and which CPU time is whose cannot be told", w.aliases[0].Args[1], d.Args[1])
		}
		w.aliases = append(w.aliases, d)
	}
	return nil
}

// isOf reports whether the script is the service's: the only application in the web server,
// or the only one below whose folder the script lies. Others in it may be PHP.
func (w *WSGI) isOf(st *stack.Stack, svc *stack.Service) (bool, error) {
	script, of, all := w.aliases[0].Args[1], []string(nil), 0
	for _, app := range st.OfKind(stack.App) {
		if app.RunsIn != svc.RunsIn || app.HostName() != svc.HostName() {
			continue
		}
		if all++; app.Root != "" && stack.Below(app.Root, script) {
			of = append(of, app.Name)
		}
	}
	switch {
	case all == 1:
		return true, nil
	case len(of) == 1:
		return of[0] == svc.Name, nil
	}
	return false, fmt.Errorf("which of %d applications in %s mod_wsgi starts by %s cannot be told", all, svc.RunsIn, script)
}

// group is the process group that answers for the script, "" for Apache's own processes:
// what the alias says, else WSGIProcessGroup.
func (w *WSGI) group() (string, error) {
	groups := map[string]bool{}
	for _, d := range w.aliases {
		if g, ok := option(d, "process-group"); ok {
			groups[g] = true
		}
	}
	if len(groups) == 0 {
		for _, d := range w.conf.Root.FindAll("WSGIProcessGroup") {
			if len(d.Args) == 1 {
				groups[d.Args[0]] = true
			}
		}
	}
	if len(groups) > 1 {
		return "", errors.New("mod_wsgi has the application in several process groups")
	}
	for g := range groups {
		if g == "%{GLOBAL}" {
			return "", nil
		}
		if strings.Contains(g, "%{") {
			return "", fmt.Errorf("the process group of mod_wsgi is computed (%s)", g)
		}
		return g, nil
	}
	return "", nil
}

// option is what NAME=VALUE says among a directive's arguments.
func option(d *apache.Directive, name string) (string, bool) {
	for _, a := range d.Args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

func (w *WSGI) number(name string, otherwise int) int {
	v, _ := option(w.process, name)
	n, err := strconv.Atoi(v)
	if err != nil {
		return otherwise
	}
	return n
}

// SetProcesses has a process group of that many processes, each with so many threads, answer:
// its own group in daemon mode, whose threads stay as they are, else a new one.
func (w *WSGI) SetProcesses(n, threads int) error {
	if w.Daemon {
		return w.process.SetArgs(append(argsWithout(w.process.Args, "processes="), fmt.Sprintf("processes=%d", n))...)
	}
	// A group that stands in a virtual host is that host's alone (mod_wsgi documentation).
	top := w.aliases[0]
	for at := top; at != nil && at.Parent != nil; at = at.Parent {
		if at.Is("VirtualHost") {
			top = at
		}
	}
	more, err := w.pythonOptions()
	if err != nil {
		return err
	}
	for _, d := range w.aliases {
		if err := d.SetArgs(append(argsWithout(d.Args, "process-group="), "process-group="+wsgiGroup)...); err != nil {
			return err
		}
	}
	return top.InsertBefore(fmt.Sprintf("# Processes for the application alone\nWSGIDaemonProcess %s display-name=%%{GROUP} processes=%d threads=%d%s", wsgiGroup, n, threads, more))
}

// pythonOptions are those of a process group for what WSGIPythonHome and WSGIPythonPath say,
// which are for Apache's own processes alone (mod_wsgi documentation).
func (w *WSGI) pythonOptions() (out string, err error) {
	for _, o := range []struct{ directive, option string }{{"WSGIPythonHome", "python-home"}, {"WSGIPythonPath", "python-path"}} {
		switch found := w.conf.Root.FindAll(o.directive); {
		case len(found) == 0:
		case len(found) > 1 || len(found[0].Args) != 1 || strings.ContainsAny(found[0].Args[0], " \"$"):
			return "", fmt.Errorf("%s is not one plain path, so that it is not known what %s a process group needs", o.directive, o.option)
		default:
			out += " " + o.option + "=" + found[0].Args[0]
		}
	}
	return out, nil
}

func argsWithout(args []string, prefix string) (out []string) {
	for _, a := range args {
		if !strings.HasPrefix(a, prefix) {
			out = append(out, a)
		}
	}
	return out
}

// Changed returns the new bytes of every file that edits have made different.
func (w *WSGI) Changed() map[string][]byte { return w.conf.Changed() }

// judgeWSGI: one thread of a Python process runs at a time (its interpreter's lock), so
// processes, and not threads, fill CPUs. Django's documentation has one daemon process of 15
// threads, and embedded mode those that Apache has just then.
func judgeWSGI(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		w, err := WSGIOf(m.in.Stack, m.in.Snapshot, svc)
		if err != nil {
			why = cmp.Or(why, err.Error())
		}
		if w == nil || err != nil {
			continue
		}
		k, use := m.at(svc.RunsIn), m.in.Evidence.Services[svc.RunsIn]
		processes, where := w.Processes, fmt.Sprintf("mod_wsgi runs %s in %d processes with %d threads each", svc.Name, w.Processes, w.Threads)
		if !w.Daemon {
			processes = max(use.Processes-1, 1) // one is the main process
			where = fmt.Sprintf("mod_wsgi runs %s within Apache's own processes, %d of them", svc.Name, processes)
		}
		wanted := max(2*int(k.cpus), 2)
		if processes >= wanted || m.inSystem < float64(processes) || m.perReq[svc.RunsIn] < jitShare*m.allCPU {
			continue
		}
		most, formula := m.boundWait()
		idle := "requests wait for the lock of a process while another has nothing to do"
		if k.busy >= saturatedCPU && float64(processes) >= k.cpus {
			most, formula = m.boundBy(svc.RunsIn, lockSaves*m.perReq[svc.RunsIn])
			idle = "threads that wait for the lock of their process take CPU by asking for it again and again"
		}
		f := about(svc.Name, fmt.Sprintf("%s: more than %d processes of Python would fill the CPUs", svc.Name, processes),
			fmt.Sprintf("%s. Python runs one thread of a process at a time, %.1f requests are under way on average on %.0f CPUs, and CPU is %s busy: %s.", where, m.inSystem, k.cpus, percent(k.busy), idle),
			"configuration of "+svc.RunsIn, "latency × throughput")
		each := int64(0)
		if use.Processes > 0 {
			each = use.RSS / int64(use.Processes)
		}
		threads := min(max(int(2*m.inSystem)/wanted, 4), wsgiThreads)
		f.Subject = map[string]string{"current": strconv.Itoa(processes), "processes": strconv.Itoa(wanted), "threads": strconv.Itoa(threads)}
		out = append(out, f.asks(Setting{Service: svc.RunsIn, Name: "processes of mod_wsgi", Now: strconv.Itoa(processes), To: strconv.Itoa(wanted), Up: 1, Memory: each * int64(wanted-processes)}).
			bounded(most, formula))
	}
	return out, why
}
