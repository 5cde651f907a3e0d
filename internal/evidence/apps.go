package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/confedit/args"
	"kasoku/internal/confedit/supervisor"
	"kasoku/internal/confedit/unit"
	"kasoku/internal/host"
	"kasoku/internal/kind"
	"kasoku/internal/kind/goapp"
	"kasoku/internal/kind/nodeapp"
	"kasoku/internal/kind/rubyapp"
	"kasoku/internal/stack"
)

// AppProcess is the main process of an app service as it runs now.
type AppProcess struct {
	// Argv is its command line, or the title that it gave itself.
	Argv []string `json:"-"`
	// Exe is its program.
	Exe string `json:"exe,omitempty"`
	// Dir is the folder that it runs in.
	Dir string `json:"dir,omitempty"`
	// Env are those of AppEnv that it was started with; nil if its environment
	// could not be read.
	Env map[string]string `json:"env,omitempty"`
	// ByNodeEnv are files of a Node program by which NODE_ENV chooses more than
	// how fast it is, e.g. its database; their names say so.
	ByNodeEnv []string `json:"by_node_env,omitempty"`
	// Children are its direct child processes.
	Children int `json:"children"`
	// Go is what the Go linker wrote into its program; nil if it is none.
	Go *goapp.Build `json:"go,omitempty"`
}

// AppEnv are the variables that say how an application's runtime performs,
// what it runs for, who listens for it and whom it trusts. Nothing else of an
// environment is kept, because it may hold secrets.
var AppEnv = kind.Variables()

// app reads the files that say how an app is started, and looks at its process.
func (t *taker) app(h host.Host, svc *stack.Service, r *fileReader) error {
	if svc.RunsIn != "" {
		return t.embeddedApp(h, svc)
	}
	first, err := t.startFiles(svc, r)
	if err != nil {
		t.bad("start of "+svc.Name, err)
	}
	if b := svc.Build; b != nil {
		// A profile that the program is built by already.
		if _, err := r.read(path.Join(b.Dir, "default.pgo")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.bad("build of "+svc.Name, err)
		}
	}
	pids, err := servicePIDs(t.ctx, h, t.st, svc)
	if err != nil {
		return nil // service() tells it
	}
	p, err := t.appProcess(h, pids)
	if err != nil {
		t.bad("process of "+svc.Name, err)
		return nil
	}
	command := p.Argv
	if len(svc.Control.Start) > 0 {
		command = svc.Control.Start
	}
	server := kind.Tell(p.Argv)
	if server == nil {
		server = kind.Tell(command)
	}
	if server != nil {
		env := func(name string) (string, bool) { v, ok := p.Env[name]; return v, ok }
		for _, f := range server.ConfigFiles(strings.Join(command, " "), p.Dir, env) {
			if _, err := r.read(f); err == nil {
				break
			} else if !errors.Is(err, fs.ErrNotExist) {
				t.bad("configuration of "+svc.Name, err)
			}
		}
	}
	if t.snap.Apps == nil {
		t.snap.Apps = map[string]AppProcess{}
	}
	if !t.opts.Brief {
		if p.Go, err = goBuild(t.ctx, h, pids[0]); err != nil {
			t.bad("program of "+svc.Name, err)
		}
		if nodeapp.Is(p.Exe) {
			if p.ByNodeEnv, err = nodeChoices(t.ctx, h, append(nodeFolders(p), svc.Root)...); err != nil {
				t.bad("folder of "+svc.Name, err)
				p.ByNodeEnv = []string{p.Dir + " (not read)"} // what is there is not known
			}
		}
	}
	t.snap.Apps[svc.Name] = p
	if len(first) == 0 {
		first = command
	}
	t.script(svc, p, first, r)
	return nil
}

// embeddedScript prints the processes of a runtime that run in the folder $1, each with
// its program behind it: Passenger starts applications in theirs.
const embeddedScript = `at=$(readlink -f "$1") || exit 0
for p in /proc/[0-9]*; do
  e=$(readlink "$p/exe" 2>/dev/null) || continue
  case ${e##*/} in ruby*|node*|python*) ;; *) continue;; esac
  if [ "$(readlink "$p/cwd" 2>/dev/null)" = "$at" ]; then echo "${p#/proc/}"; fi
done`

// embeddedApp looks at a process of an application that a web server has started
// (Passenger); none is there where the server answers by itself (PHP, mod_wsgi).
func (t *taker) embeddedApp(h host.Host, svc *stack.Service) error {
	in := t.st.Service(svc.RunsIn)
	if in == nil || in.Kind != stack.Apache && in.Kind != stack.Nginx || svc.Root == "" {
		return nil
	}
	res, err := h.Run(t.ctx, host.Command{Argv: []string{"sh", "-c", embeddedScript, "sh", svc.Root}})
	if err != nil {
		return err
	}
	for _, word := range strings.Fields(string(res.Stdout)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			continue
		}
		p, err := t.appProcess(h, []int{pid})
		if err != nil || !rubyapp.InPassenger(p.Argv) {
			continue // it has ended, or is somebody's shell
		}
		if t.snap.Apps == nil {
			t.snap.Apps = map[string]AppProcess{}
		}
		t.snap.Apps[svc.Name] = p
		return nil
	}
	return nil
}

// appConfig reads an app's configuration: one file, or all that an HAProxy reads.
func (t *taker) appConfig(h host.Host, svc *stack.Service, r *fileReader) error {
	files := []string{svc.Config}
	if svc.IsHAProxy() {
		var err error
		if files, err = haproxyFiles(t.ctx, h, t.st, svc); err != nil {
			return err
		}
		if t.snap.HAProxy == nil {
			t.snap.HAProxy = map[string][]string{}
		}
		t.snap.HAProxy[svc.Name] = files
	}
	for _, f := range files {
		if _, err := r.read(f); err != nil {
			return err
		}
	}
	return nil
}

// startOf reads how a server of another kind is started. Who has no rights to
// these files, or a unit that is made at boot, can be tuned all the same.
func (t *taker) startOf(svc *stack.Service, r *fileReader) {
	if svc.RunsIn != "" || svc.ControlMethod() == stack.MethodSupervisor {
		return
	}
	if _, err := t.startFiles(svc, r); err != nil {
		t.good("start of "+svc.Name, "not judged: "+err.Error())
	}
}

// startFiles reads the unit, supervisor's configuration or the environment
// file that a service is started by, and returns the words of the command in it.
func (t *taker) startFiles(svc *stack.Service, r *fileReader) ([]string, error) {
	switch svc.ControlMethod() {
	case stack.MethodSystemd:
		return t.unitFiles(svc, r)
	case stack.MethodSupervisor:
		if svc.Control.Config == "" {
			return nil, nil
		}
		conf, err := supervisor.Load(svc.Control.Config, nil, r.read, r.glob)
		if err != nil {
			return nil, err
		}
		name := svc.Control.Program[strings.LastIndex(svc.Control.Program, ":")+1:]
		v, _ := conf.Get("program:"+name, "command")
		return words(v.Text, args.Shell), nil
	case stack.MethodProcess:
		if svc.Control.EnvFile != "" {
			_, err := r.read(svc.Control.EnvFile)
			return nil, err
		}
	}
	return nil, nil
}

func (t *taker) unitFiles(svc *stack.Service, r *fileReader) ([]string, error) {
	conf, err := unit.Load(UnitName(svc.Control.Unit), r.read, r.glob)
	if err != nil {
		return nil, err
	}
	var command []string
	if v, ok := conf.Get("Service", "ExecStart"); ok {
		command = words(v.Text, args.Systemd)
	}
	for _, v := range conf.List("Service", "EnvironmentFile") {
		file := strings.TrimPrefix(v.Text, "-")
		if _, err := r.read(file); err != nil && !(errors.Is(err, fs.ErrNotExist) && file != v.Text) {
			return command, fmt.Errorf("read %s: %w", file, err)
		}
	}
	return command, nil
}

func words(command string, quoting args.Quoting) []string {
	var out []string
	for _, w := range args.Parse(command, quoting).Words {
		out = append(out, w.Value)
	}
	return out
}

// UnitName is a unit's full name, as stack.UnitName.
func UnitName(name string) string { return stack.UnitName(name) }

func (t *taker) appProcess(h host.Host, pids []int) (AppProcess, error) {
	var p AppProcess
	dir := "/proc/" + strconv.Itoa(pids[0])
	data, err := h.ReadFile(t.ctx, dir+"/cmdline")
	if err != nil {
		return p, err
	}
	p.Argv = parseNulls(data)
	if info, err := h.Stat(t.ctx, dir+"/cwd"); err == nil {
		p.Dir = info.Target
	}
	if info, err := h.Stat(t.ctx, dir+"/exe"); err == nil {
		p.Exe = strings.TrimSuffix(info.Target, " (deleted)")
	}
	if data, err := h.ReadFile(t.ctx, dir+"/environ"); err == nil {
		p.Env = parseAppEnv(data)
	}
	table, err := readProcesses(t.ctx, h)
	if err != nil {
		return p, err
	}
	for _, q := range table {
		if q.Parent == pids[0] {
			p.Children++
		}
	}
	return p, nil
}

// parseNulls cuts /proc/PID/cmdline. A title written over it is one word, or
// has zeros behind it.
func parseNulls(data []byte) []string {
	text := strings.TrimRight(string(data), "\x00")
	words := strings.Split(text, "\x00")
	if len(words) == 1 {
		return strings.Fields(text)
	}
	return words
}

// parseAppEnv takes AppEnv out of /proc/PID/environ.
func parseAppEnv(data []byte) map[string]string {
	out := map[string]string{}
	for e := range strings.SplitSeq(string(data), "\x00") {
		if name, value, ok := strings.Cut(e, "="); ok && slices.Contains(AppEnv, name) {
			out[name] = value
		}
	}
	return out
}

// goBuildScript prints what stands behind the linker's magic in a program. It
// is aligned to 16 bytes, which tells it from the text of it in programs that
// look for it themselves (debug/buildinfo).
const goBuildScript = `LC_ALL=C; export LC_ALL
for at in $(grep -abo "$(printf '\377 Go buildinf:')" "$1" | tr '\377' '\n' | sed -n 's/^\([0-9]*\):$/\1/p'); do
  if [ $((at % 16)) = 0 ]; then tail -c +$((at + 1)) "$1" | head -c 65536; exit 0; fi
done`

// goBuild reads a Go program's build information; nil if it is no Go program,
// or one that was built before Go 1.18 or stripped of it.
func goBuild(ctx context.Context, h host.Host, pid int) (*goapp.Build, error) {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	res, err := h.Run(ctx, host.Command{Argv: []string{"sh", "-c", goBuildScript, "sh", exe}})
	if err != nil {
		return nil, err
	}
	if len(res.Stdout) == 0 {
		return nil, nil
	}
	b, err := goapp.Parse(res.Stdout)
	if err != nil {
		return nil, nil
	}
	return b, nil
}
