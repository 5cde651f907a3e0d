package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"kasoku/internal/ui"
	"kasoku/lab"
)

// LabSSHCmd logs in.
type LabSSHCmd struct {
	Host    string   `arg:"" help:"Such as h1, or ops@h1 for an ordinary user who may use sudo."`
	Command []string `arg:"" optional:"" passthrough:"" help:"What to run on it (default: a shell)."`
}

// Help is shown below the flags.
func (LabSSHCmd) Help() string {
	return "Ends with the command's own exit code.\n\nExamples:\n  kasoku lab ssh h1\n  kasoku lab ssh h1 systemctl status nginx"
}

// Run implements the command.
func (c *LabSSHCmd) Run(ctx context.Context, a *App) error {
	l, err := a.openLab()
	if err != nil {
		return err
	}
	return labError(l.Become(append([]string{"ssh", "-F", l.SSHConfig, c.Host}, c.Command...)))
}

// LabExecCmd runs something of this machine among the hosts.
type LabExecCmd struct {
	Command []string `arg:"" passthrough:"" help:"The command and its arguments."`
}

// Help is shown below the flags.
func (LabExecCmd) Help() string {
	return "The command sees this machine's files and the lab's network: hosts have their addresses, and 127.0.0.1 is the lab's own, not this machine's. Ends with the command's own exit code.\n\nExamples:\n  kasoku lab exec -- curl http://10.213.0.11/\n  kasoku lab exec -- kasoku tune"
}

// Run implements the command.
func (c *LabExecCmd) Run(ctx context.Context, a *App) error {
	l, err := a.openLab()
	if err != nil {
		return err
	}
	command := c.Command
	if command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return ui.Coded(ui.Usage, fmt.Errorf("no command after --"), "kasoku lab exec -- curl http://10.213.0.11/")
	}
	return labError(l.Become(command))
}

// LabRebootCmd restarts a host.
type LabRebootCmd struct {
	Host string `arg:"" help:"Such as h1."`
	Hard bool   `help:"Cut the power: kill every process where it stands."`
}

// Help is shown below the flags.
func (LabRebootCmd) Help() string {
	return "Waits until the host is up again. A host that is off is started.\n\nExamples:\n  kasoku lab reboot h1\n  kasoku lab reboot h1 --hard"
}

// Run implements the command.
func (c *LabRebootCmd) Run(ctx context.Context, a *App) error {
	l, err := a.openLab()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := l.Reboot(ctx, c.Host, c.Hard); err != nil {
		return labError(err)
	}
	took := time.Since(start)
	return a.print(rebootedHost{c.Host, took.Seconds()}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s is up again after %s\n", c.Host, ui.Duration(took))
		return err
	})
}

// rebootedHost is the result of reboot as --json prints it.
type rebootedHost struct {
	Host    string  `json:"host"`
	Seconds float64 `json:"seconds"` // until it was up again
}

// pluggedHost is the result of cut and heal as --json prints it.
type pluggedHost struct {
	Host string `json:"host"`
	Cut  bool   `json:"cut"` // off from the network
}

// LabCutCmd cuts a host off.
type LabCutCmd struct {
	Host string `arg:"" help:"Such as h1."`
}

// Help is shown below the flags.
func (LabCutCmd) Help() string {
	return "Connections to it hang, as with a pulled cable. It stays cut across reboots.\n\nExample:\n  kasoku lab cut h1"
}

// Run implements the command.
func (c *LabCutCmd) Run(ctx context.Context, a *App) error { return a.plug(ctx, c.Host, true) }

// LabHealCmd connects it again.
type LabHealCmd struct {
	Host string `arg:"" help:"Such as h1."`
}

// Help is shown below the flags.
func (LabHealCmd) Help() string { return "Example:\n  kasoku lab heal h1" }

// Run implements the command.
func (c *LabHealCmd) Run(ctx context.Context, a *App) error { return a.plug(ctx, c.Host, false) }

func (a *App) plug(ctx context.Context, host string, cut bool) error {
	l, err := a.openLab()
	if err != nil {
		return err
	}
	do, text := l.Heal, "connected"
	if cut {
		do, text = l.Cut, "cut off"
	}
	if err := do(ctx, host); err != nil {
		return labError(err)
	}
	return a.print(pluggedHost{host, cut}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s is %s\n", host, text)
		return err
	})
}

// LabLimitCmd sets caps.
type LabLimitCmd struct {
	Host   string         `arg:"" help:"Such as h1."`
	CPUs   *float64       `name:"cpus" placeholder:"N" help:"Processors, such as 0.2."`
	Memory *string        `placeholder:"SIZE" help:"Such as 256M."`
	Rate   *string        `placeholder:"RATE" help:"Of its network, each way, such as 10mbit."`
	Loss   *float64       `placeholder:"PERCENT" help:"Packets that get lost, each way."`
	Delay  *time.Duration `placeholder:"TIME" help:"Of its packets, each way, such as 20ms; needs a kernel with netem."`
}

// Help is shown below the flags.
func (LabLimitCmd) Help() string {
	return "What is not named stays; 0 takes a cap away.\n\nExamples:\n  kasoku lab limit h1 --cpus 0.2 --memory 256M\n  kasoku lab limit h1 --rate 10mbit --loss 1\n  kasoku lab limit h1 --rate 0 --loss 0"
}

// Run implements the command.
func (c *LabLimitCmd) Run(ctx context.Context, a *App) error {
	l, err := a.openLab()
	if err != nil {
		return err
	}
	to := lab.Limits{CPUs: c.CPUs, LossPercent: c.Loss, Delay: c.Delay}
	if to.Memory, err = parsed(c.Memory, lab.ParseSize); err == nil {
		to.RateBitsPerSecond, err = parsed(c.Rate, lab.ParseRate)
	}
	if err != nil {
		return ui.Coded(ui.Usage, err, "")
	}
	if err := l.Limit(ctx, c.Host, to); err != nil {
		return labError(err)
	}
	h, err := l.Host(c.Host)
	if err != nil {
		return labError(err)
	}
	s, err := h.Settings()
	if err != nil {
		return labError(err)
	}
	return a.print(s, func(w io.Writer) error {
		text := settingsText(s)
		if text == "" {
			text = "nothing"
		}
		_, err := fmt.Fprintf(w, "%s is held back by: %s\n", c.Host, text)
		return err
	})
}

// parsed reads a flag that may not be there.
func parsed(s *string, parse func(string) (int64, error)) (*int64, error) {
	if s == nil {
		return nil, nil
	}
	n, err := parse(*s)
	return &n, err
}
