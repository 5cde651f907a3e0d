// Command helper is the part of Kasoku that serves a controller on a target,
// and nothing else: an eighth of the whole program's bytes. Tests of the
// connection send it, because nearly each sends a program anew.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"kasoku/internal/host/agent"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		os.Exit(1)
	}
}

// version is that of a Kasoku built without one.
const version = "dev"

// run knows "version" and "agent serve" with its flags (cmd/kasoku/agent.go).
func run(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == "version" {
		_, err := fmt.Println(version)
		return err
	}
	if len(args) < 2 || args[0] != "agent" || args[1] != "serve" {
		return errors.New("it knows only: version, agent serve")
	}
	o := agent.Options{Version: version}
	flags := flag.NewFlagSet("agent serve", flag.ContinueOnError)
	flags.StringVar(&o.Nonce, "nonce", "", "")
	flags.DurationVar(&o.Silence, "silence", 15*time.Second, "")
	flags.DurationVar(&o.Linger, "linger", time.Minute, "")
	flags.Func("after", "", func(s string) error {
		p, err := agent.ParseProcess(s)
		o.After = &p
		return err
	})
	if err := flags.Parse(args[2:]); err != nil {
		return err
	}
	conn, err := agent.Stdio()
	if err != nil {
		return err
	}
	defer conn.Close()
	return agent.Serve(ctx, conn, o)
}
