package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/ui"
	"kasoku/lab"
)

// LabCmd groups the commands on disposable hosts. Its helper commands, host and
// connect, are lab.Helper's and no person's.
type LabCmd struct {
	Dir  string `env:"KASOKU_LAB" placeholder:"DIR" help:"Where bases and labs are kept (default: /var/lib/kasoku-lab)."`
	Name string `help:"Which lab; there can be several (default: lab, and of list: all)."`

	Up     LabUpCmd     `cmd:"" help:"Start hosts."`
	Down   LabDownCmd   `cmd:"" help:"End the hosts and remove all of them."`
	List   LabListCmd   `cmd:"" help:"List labs and their hosts."`
	SSH    LabSSHCmd    `cmd:"" help:"Log in to a host, or run a command on it."`
	Exec   LabExecCmd   `cmd:"" help:"Run a command of this machine in the lab's network."`
	Reboot LabRebootCmd `cmd:"" help:"Reboot a host, or cut its power and start it again."`
	Cut    LabCutCmd    `cmd:"" help:"Cut a host off from the network."`
	Heal   LabHealCmd   `cmd:"" help:"Connect a host again."`
	Limit  LabLimitCmd  `cmd:"" help:"Change a host's caps while it runs."`
	Base   LabBaseCmd   `cmd:"" help:"Build what hosts start from, and start none."`
}

// labError gives an error its exit code and hint.
func labError(err error) error {
	var cannot *lab.CannotError
	var argument *lab.ArgumentError
	switch {
	case errors.As(err, &cannot):
		return ui.Coded(ui.Target, err, cannot.Hint())
	case errors.Is(err, lab.ErrExists):
		return ui.Coded(ui.Busy, err, "kasoku lab --name NAME down ends it; or give another --name")
	case errors.Is(err, lab.ErrNoLab):
		return ui.Coded(ui.BadInput, err, "kasoku lab list")
	case errors.Is(err, lab.ErrNoHost):
		return ui.Coded(ui.BadInput, err, "kasoku lab list shows what there is")
	case errors.As(err, &argument):
		return ui.Coded(ui.Usage, err, "kasoku lab --help")
	case errors.Is(err, fs.ErrPermission):
		return ui.Coded(ui.Target, err, "labs need root; `kasoku lab list` does not")
	}
	return err
}

// name of the lab that the command line means.
func (c *LabCmd) name() string {
	if c.Name == "" {
		return "lab"
	}
	return c.Name
}

// openLab opens the lab that the command line names.
func (a *App) openLab() (*lab.Lab, error) {
	l, err := lab.Open(a.cli.Lab.Dir, a.cli.Lab.name())
	return l, labError(err)
}

// LabUpCmd starts hosts.
type LabUpCmd struct {
	Count    int      `short:"n" default:"1" help:"How many hosts."`
	CPUs     float64  `name:"cpus" placeholder:"N" help:"Each host's cap in processors, such as 0.5 (default: none)."`
	Memory   string   `placeholder:"SIZE" help:"Each host's cap, such as 512M (default: none)."`
	Packages []string `placeholder:"NAME" help:"Debian packages that the hosts have (default: ${lab_packages})."`
	Bare     bool     `help:"No packages but systemd, SSH and basic tools."`
	Base     string   `placeholder:"DIR" help:"A root file system to start from, instead of packages."`
	Program  string   `hidden:"" help:"The kasoku that supervises the hosts."`
}

// Help is shown below the flags.
func (LabUpCmd) Help() string {
	return "The first start builds a base from the archives that this machine's apt uses (a minute or two); later ones take seconds. " +
		"Needs root, systemd-container and, to build, debootstrap. Hosts outlive the command; `kasoku lab down` ends them.\n\n" +
		"Examples:\n  kasoku lab up\n  kasoku lab up -n 2 --cpus 0.5 --memory 512M\n  kasoku lab up --name web --packages nginx-light,php-fpm\n  ssh -F \"$(kasoku lab up --json | jq -r .ssh_config)\" h1"
}

// Run implements the command.
func (c *LabUpCmd) Run(ctx context.Context, a *App) error {
	if c.Count < 1 {
		return ui.Coded(ui.Usage, fmt.Errorf("lab up: -n %d: a lab has one host at least", c.Count), "kasoku lab down ends one")
	}
	memory, err := optionalSize(c.Memory)
	if err != nil {
		return ui.Coded(ui.Usage, err, "")
	}
	packages := c.Packages
	if c.Bare {
		packages = []string{}
	}
	start := time.Now()
	l, err := lab.Up(ctx, lab.Options{Dir: a.cli.Lab.Dir, Name: a.cli.Lab.name(), Count: c.Count, CPUs: c.CPUs, Memory: memory,
		Packages: packages, Base: c.Base, Program: c.Program, Progress: a.UI.Progress})
	a.UI.Clear()
	if err != nil {
		return labError(err)
	}
	return a.print(l, func(w io.Writer) error {
		fmt.Fprintf(w, "lab %s is up after %s:\n", l.Name, ui.Duration(time.Since(start)))
		for _, h := range l.Hosts {
			fmt.Fprintf(w, "  %-4s %s  %s\n", h.Name, h.Address, h.State)
		}
		_, err := fmt.Fprintf(w, "\nssh -F %s h1\nkasoku lab --name %[2]s exec -- curl http://%[3]s/\nkasoku lab --name %[2]s down\n", l.SSHConfig, l.Name, l.Hosts[0].Address)
		return err
	})
}

func optionalSize(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	return lab.ParseSize(s)
}

// LabDownCmd ends a lab.
type LabDownCmd struct {
	All bool `help:"All labs."`
}

// Help is shown below the flags.
func (LabDownCmd) Help() string {
	return "Removes processes, mounts, cgroups, network and files, whatever state the lab is in. Bases stay, for the next start.\n\nExamples:\n  kasoku lab down\n  kasoku lab down --all"
}

// Run implements the command.
func (c *LabDownCmd) Run(ctx context.Context, a *App) error {
	var labs []*lab.Lab
	var err error
	if c.All {
		labs, err = lab.List(a.cli.Lab.Dir)
	} else {
		labs = make([]*lab.Lab, 1)
		labs[0], err = a.openLab()
	}
	if err != nil {
		return labError(err)
	}
	gone := []string{}
	for _, l := range labs {
		if err := l.Down(ctx); err != nil {
			return labError(err)
		}
		gone = append(gone, l.Name)
	}
	return a.print(removedLabs{gone}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "removed: %s\n", strings.Join(gone, ", "))
		return err
	})
}

// removedLabs is the result of down as --json prints it.
type removedLabs struct {
	Removed []string `json:"removed"` // names
}

// listedLab is one lab of list as --json prints it.
type listedLab struct {
	*lab.Lab
	Hosts []listedHost `json:"hosts"`
}

type listedHost struct {
	*lab.Host
	Up       bool         `json:"up"`
	Settings lab.Settings `json:"settings"` // what holds it back
}

// LabListCmd lists labs.
type LabListCmd struct{}

// Help is shown below the flags.
func (LabListCmd) Help() string { return "Examples:\n  kasoku lab list\n  kasoku lab list --json" }

// Run implements the command.
func (c *LabListCmd) Run(ctx context.Context, a *App) error {
	labs, err := lab.List(a.cli.Lab.Dir)
	if name := a.cli.Lab.Name; err == nil && name != "" {
		labs = make([]*lab.Lab, 1)
		labs[0], err = a.openLab()
	}
	if err != nil {
		return labError(err)
	}
	out := []listedLab{}
	rows := [][]string{}
	for _, l := range labs {
		e := listedLab{Lab: l, Hosts: []listedHost{}}
		for _, h := range l.Hosts {
			s, err := h.Settings()
			if err != nil {
				a.UI.Warn(err.Error(), "kasoku lab down --name "+l.Name)
			}
			e.Hosts = append(e.Hosts, listedHost{h, h.Up(), s})
			rows = append(rows, []string{l.Name, h.Name, h.Address, map[bool]string{true: "up", false: "off"}[h.Up()], settingsText(s)})
		}
		out = append(out, e)
	}
	return a.print(out, func(w io.Writer) error {
		if len(rows) == 0 {
			_, err := fmt.Fprintln(w, "no labs; kasoku lab up makes one")
			return err
		}
		return ui.Table(w, []string{"lab", "host", "address", "state", "held back by"}, rows)
	})
}

// settingsText names what is set.
func settingsText(s lab.Settings) string {
	var out []string
	add := func(on bool, format string, v any) {
		if on {
			out = append(out, fmt.Sprintf(format, v))
		}
	}
	add(s.Cut, "%s", "cut off")
	add(s.CPUs > 0, "%g CPUs", s.CPUs)
	add(s.Memory > 0, "%d MB", s.Memory>>20)
	add(s.RateBitsPerSecond > 0, "%s bit/s", ui.Number(float64(s.RateBitsPerSecond)))
	add(s.LossPercent > 0, "%g %% loss", s.LossPercent)
	add(s.Delay > 0, "%s delay", s.Delay)
	return strings.Join(out, ", ")
}

// LabBaseCmd builds a base.
type LabBaseCmd struct {
	Packages []string `placeholder:"NAME" help:"Debian packages that hosts have (default: ${lab_packages})."`
	Bare     bool     `help:"No packages but systemd, SSH and basic tools."`
}

// Help is shown below the flags.
func (LabBaseCmd) Help() string {
	return "An interrupted build goes on from what it had. A base is kept until its folder is removed.\n\nExamples:\n  kasoku lab base\n  kasoku lab base --packages apache2,mariadb-server"
}

// Run implements the command.
func (c *LabBaseCmd) Run(ctx context.Context, a *App) error {
	if err := lab.Check(); err != nil {
		return labError(err)
	}
	packages := c.Packages
	if c.Bare {
		packages = []string{}
	}
	base, err := lab.Base(ctx, a.cli.Lab.Dir, packages, a.UI.Progress)
	a.UI.Clear()
	if err != nil {
		return labError(err)
	}
	return a.print(base, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\n%s with %s; built in %s s\n", base.Root, base.Release, packageText(base.Packages), strconv.FormatFloat(base.Seconds, 'f', 0, 64))
		return err
	})
}

func packageText(names []string) string {
	if len(names) == 0 {
		return "no packages"
	}
	return strings.Join(names, ", ")
}
