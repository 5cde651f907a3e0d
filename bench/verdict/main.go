// Command verdict shows how often Kasoku's verdicts are wrong, on noise that
// was recorded from real runs of the bank login.
//
//	verdict record [flags]   records noise: runs of one unchanged service, made as
//	                         an experiment makes them
//	verdict sim [flags]      simulates experiments on all recordings and prints each
//	                         figure beside its bar
//	verdict explore [flags]  tries numbers of pairs, windows and rules
//
//	verdict real [flags]     tries changes of which it is known what they do on real
//	                         copies of the case
//
// Recordings lie in noise/ beside this file; noise/README.md says how each was
// made. It ends with 1 if a bar is missed and with 2 if something failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (bool, error) {
	if len(args) == 0 {
		return false, fmt.Errorf("write: verdict record|sim|explore|real [flags]; -h tells them")
	}
	switch args[0] {
	case "record":
		return true, record(ctx, args[1:])
	case "sim":
		return sim(ctx, args[1:])
	case "real":
		return realTrials(ctx, args[1:])
	case "explore":
		return true, explore(ctx, args[1:])
	}
	return false, fmt.Errorf("%q is none of record, sim, explore and real", args[0])
}
