package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// exits runs a command and succeeds if its exit code is the first argument.
func exits(args []string) int {
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: exits CODE COMMAND…")
		return 2
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		fmt.Fprintf(os.Stderr, "%v ended with %d, want %d\n", args[1:], got, want)
		return 1
	}
	return 0
}
