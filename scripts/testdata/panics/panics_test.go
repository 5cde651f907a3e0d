// Package panics is what TestRerunAfterPanic gives to test.sh.
package panics

import (
	"os"
	"testing"
)

// TestOnce panics as often as the file has lines left.
func TestOnce(t *testing.T) {
	file := os.Getenv("PANICS")
	left, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		if err := os.WriteFile(file, left[1:], 0o600); err != nil {
			t.Fatal(err)
		}
		panic("as it was told")
	}
}

// TestAfter does not run in the program that panics.
func TestAfter(*testing.T) {}
