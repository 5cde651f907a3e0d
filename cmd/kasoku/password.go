package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// passwords takes them out of the environment and asks for those that
// kasoku.yaml says to ask for.
func passwords(st *stack.Stack) error {
	if err := st.TakePasswords(); err != nil {
		return err
	}
	if err := st.AskPasswords(askPassword); err != nil {
		return ui.Coded(ui.BadInput, err, "run it on a terminal, or name password_file or password_env in kasoku.yaml instead of ask")
	}
	return nil
}

// askPassword asks on the terminal itself, without echo, so that standard
// output and error stay what they are.
func askPassword(service, user string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", errors.New("there is no terminal to ask on")
	}
	defer tty.Close()
	if user != "" {
		service = user + " at " + service
	}
	fmt.Fprintf(tty, "Password of %s: ", service)
	password, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(tty)
	return string(password), err
}
