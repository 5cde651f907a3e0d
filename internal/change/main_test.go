package change

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain lets the test binary be the Kasoku that is killed, and the guard.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "guard" {
		if err := labGuard(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if job := os.Getenv("KASOKU_TEST_VICTIM"); job != "" {
		victim(context.Background(), job)
		return
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "10") // those tests wait; see guard_test.go
	code := m.Run()
	theLab.stop(labServer)
	if packageBase != "" {
		os.RemoveAll(packageBase)
	}
	os.Exit(code)
}

// everyStep reports whether each step of each kind is to be tried, which takes
// minutes more: with LONG=1, as make test-long sets it.
func everyStep() bool { return os.Getenv("LONG") != "" && !testing.Short() }
