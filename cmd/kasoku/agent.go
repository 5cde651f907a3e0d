package main

import (
	"context"
	"time"

	"kasoku/internal/host/agent"
	"kasoku/internal/ui"
)

// AgentCmd is what runs on a target; people do not type it.
type AgentCmd struct {
	Serve AgentServeCmd `cmd:"" help:"Do what the controller at the other end of standard input and output asks for."`
}

// AgentServeCmd serves one controller over standard input and output.
type AgentServeCmd struct {
	Nonce   string        `required:"" help:"Stands before the greeting."`
	Silence time.Duration `default:"15s" help:"After which the controller counts as gone."`
	Linger  time.Duration `default:"60s" help:"How long the program's file waits for a controller that was lost."`
	After   string        `placeholder:"PID:START:BOOT" help:"The helper of a lost connection, which is ended first."`
}

// Help is shown below the flags.
func (AgentServeCmd) Help() string {
	return "Kasoku starts this by ssh on a target host and speaks to it; see docs/reference/hosts.md. It ends with its standard input.\n\nExample:\n  ssh HOST kasoku agent serve --nonce x"
}

// Run implements the command.
func (c *AgentServeCmd) Run(ctx context.Context, _ *App) error {
	o := agent.Options{Version: Version, Nonce: c.Nonce, Silence: c.Silence, Linger: c.Linger}
	if c.After != "" {
		p, err := agent.ParseProcess(c.After)
		if err != nil {
			return ui.Coded(ui.Usage, err, "Kasoku writes this argument itself")
		}
		o.After = &p
	}
	conn, err := agent.Stdio()
	if err != nil {
		return err
	}
	defer conn.Close()
	return agent.Serve(ctx, conn, o)
}
