package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// InitCmd writes kasoku.yaml from what runs here.
type InitCmd struct {
	Host      []string `placeholder:"DESTINATION" help:"Look at this machine too, as ssh(1) takes it (root@db1); may be repeated." sep:"none"`
	SSHConfig string   `placeholder:"FILE" type:"path" help:"Configuration that ssh reads instead of your own (ssh -F)."`
	Sudo      bool     `help:"Run Kasoku's helper there by sudo -n."`
	Force     bool     `help:"Overwrite an existing file."`
	Print     bool     `help:"Print it instead of writing it."`
}

// Help is shown below the flags.
func (InitCmd) Help() string {
	return "Reads /proc and the configuration files of nginx, PHP-FPM, MariaDB, memcached, Redis, Varnish, HAProxy and application processes, here and on the machines that --host names. Who talks to whom across machines is found by addresses and names; what runs here and has nothing to do with the machines that were named is left out. Nothing is changed and no password is copied.\n\nExamples:\n  kasoku init\n  kasoku init --host root@web1 --host root@db1\n  kasoku init --print\n  kasoku -f shop.yaml init"
}

// Run implements the command.
func (c *InitCmd) Run(ctx context.Context, a *App) error {
	places, end, err := c.places(ctx)
	if err != nil {
		return err
	}
	defer end()
	st, notes, err := stack.DiscoverHosts(ctx, places)
	if err != nil {
		return ui.Coded(ui.Target, err, "run it on the machine where the services run, as a user who may see them (root)")
	}
	if st.Name == "" {
		if abs, err := filepath.Abs(a.cli.File); err == nil {
			st.Name = filepath.Base(filepath.Dir(abs))
		}
	}
	if abs, err := filepath.Abs(filepath.Dir(a.cli.File)); err == nil && len(st.Hosts) > 0 && st.Dir == "" {
		st.Dir = abs
	}
	text, err := st.Render()
	if err != nil {
		return err
	}
	for _, n := range notes {
		a.UI.Warn(n, "")
	}
	if c.Print {
		_, err := a.Out.Write(text)
		return err
	}
	switch err := putFile(a.cli.File, text, c.Force); {
	case errors.Is(err, fs.ErrExist):
		return ui.Coded(ui.BadInput, fmt.Errorf("%s exists: %w", a.cli.File, fs.ErrExist), "kasoku init --force overwrites it; --print only shows it")
	case err != nil:
		return ui.Coded(ui.Failure, fmt.Errorf("write %s: %w", a.cli.File, err), "what was there is as it was; check the folder's rights and the disk's free space, or name another file with --file")
	}
	a.UI.Info(fmt.Sprintf("%s: %d services found. Check load.url, write a scenario (or load.command), then: kasoku check, kasoku run", a.cli.File, len(st.Services)))
	return nil
}

// places opens the machines to look at: this one, and those of --host, each by
// a name of its own.
func (c *InitCmd) places(ctx context.Context) ([]stack.Place, func(), error) {
	here := stack.Place{Name: stack.LocalHost, Host: host.NewLocal()}
	if len(c.Host) == 0 {
		return []stack.Place{here}, func() {}, nil
	}
	// A stack of services that names their hosts is what OpenHosts opens.
	st := &stack.Stack{Hosts: map[string]stack.HostConfig{}}
	var names []string
	for _, to := range c.Host {
		name := stack.HostNameOf(to)
		if name == "" || strings.HasPrefix(to, "-") {
			return nil, nil, ui.Coded(ui.BadInput, fmt.Errorf("--host %q is no destination of ssh", to), "write it as you type it after ssh, e.g. --host root@db1")
		}
		if slices.ContainsFunc(names, func(n string) bool { return st.Hosts[n].SSH == to }) {
			return nil, nil, ui.Coded(ui.Usage, fmt.Errorf("--host %s is given twice", to), "name each machine once")
		}
		for i, base := 2, name; ; i++ {
			if _, taken := st.Hosts[name]; !taken && name != stack.LocalHost {
				break
			}
			name = fmt.Sprintf("%s-%d", base, i)
		}
		st.Hosts[name] = stack.HostConfig{SSH: to, SSHConfig: c.SSHConfig, Sudo: c.Sudo}
		st.Services = append(st.Services, stack.Service{Name: name, Host: name})
		names = append(names, name)
	}
	hosts, end, err := stack.OpenHosts(ctx, st)
	if err != nil {
		return nil, nil, ui.Coded(ui.Target, err, "try `ssh DESTINATION true` by hand with the same configuration")
	}
	places := []stack.Place{here}
	for _, name := range names {
		places = append(places, stack.Place{Name: name, Config: st.Hosts[name], Host: hosts[name]})
	}
	return places, func() { _ = end() }, nil
}
