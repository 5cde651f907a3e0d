package front_test

import (
	"os"
	"testing"

	"kasoku/lab"
)

func TestMain(m *testing.M) {
	if status, ok := lab.Helper(os.Args[1:]); ok {
		os.Exit(status)
	}
	os.Exit(m.Run())
}
