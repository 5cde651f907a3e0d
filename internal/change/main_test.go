package change

import (
	"context"
	"os"
	"testing"
)

// TestMain lets the test binary be the Kasoku that is killed.
func TestMain(m *testing.M) {
	if job := os.Getenv("KASOKU_TEST_VICTIM"); job != "" {
		victim(context.Background(), job)
		return
	}
	code := m.Run()
	stopLab()
	os.Exit(code)
}
