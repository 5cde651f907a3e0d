package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "guard" { // the program that a host is given is this one
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	testscript.Main(apart{m}, map[string]func(){
		"kasoku": func() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) },
		// exits N COMMAND… checks the exact exit code.
		"exits": func() { os.Exit(exits(os.Args[1:])) },
	})
}

// apart runs the tests with a state folder of their own: one Kasoku works on a
// machine at a time, and tests are not to wait for others.
type apart struct{ *testing.M }

func (a apart) Run() int {
	if os.Getenv(stateDirEnv) == "" {
		state, err := os.MkdirTemp("", "kasoku-state")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(state)
		os.Setenv(stateDirEnv, state)
	}
	defer endShared()
	return a.M.Run()
}

// TestScripts runs testdata/script: what a user types and sees.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		e.Setenv(stateDirEnv, filepath.Join(e.WorkDir, "state"))
		if cache, err := os.UserCacheDir(); err == nil { // what builds nothing anew
			e.Setenv("GOCACHE", cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")))
		}
		return nil
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		// fits COMMAND holds what was printed last to the JSON Schema of that output.
		"fits": func(ts *testscript.TestScript, _ bool, args []string) { fits(t, args[0], ts.ReadFile("stdout")) },
	}, Condition: func(name string) (bool, error) {
		if name == "root" {
			return os.Geteuid() == 0, nil
		}
		return false, fmt.Errorf("no condition is called %q", name)
	}})
}
