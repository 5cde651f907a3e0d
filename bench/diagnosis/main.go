// Command diagnosis measures what the diagnosis claims, on the bank login case
// tuned by hand (cases/login/hand).
//
//	diagnosis bounds DIR     puts one bottleneck after another in, and compares
//	                         the bound of its finding with what removing it brings
//	diagnosis overhead DIR   compares runs with and without the collectors
//	diagnosis viewers DIR    compares runs with and without viewers of the dashboard
//
// DIR was made by `case.sh up` and `case.sh hand`. It ends with 1 if a bar is
// missed and with 2 if something failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	pairs := flag.Int("pairs", 0, "pairs of runs; 0: 3 for bounds, 30 for the others")
	window := flag.Duration("d", 4*time.Second, "measured window of a run of bounds")
	only := flag.String("only", "", "bounds: the one bottleneck to put in, by its name's beginning")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, flag.Args(), *pairs, *window, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "diagnosis:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, pairs int, window time.Duration, only string) (bool, error) {
	if len(args) > 1 && args[0] == "watch" { // what viewers starts
		return true, watch(ctx, args[1:])
	}
	if len(args) != 2 {
		return false, fmt.Errorf("write: diagnosis bounds|overhead|viewers DIR")
	}
	c, err := openCase(ctx, args[1], window)
	if err != nil {
		return false, err
	}
	defer c.close()
	switch args[0] {
	case "bounds":
		if pairs == 0 {
			pairs = 3
		}
		return c.bounds(ctx, pairs, only)
	case "overhead":
		if pairs == 0 {
			pairs = 30
		}
		return c.overhead(ctx, pairs)
	case "viewers":
		if pairs == 0 {
			pairs = 30
		}
		return c.viewers(ctx, pairs)
	}
	return false, fmt.Errorf("%q is neither bounds, overhead nor viewers", args[0])
}
