package redact

import (
	"testing"

	"kasoku/internal/lazyregexp"
)

// Patterns are compiled when they are first used, so a wrong one would be seen late.
func TestPatternsCompile(t *testing.T) {
	if n, err := lazyregexp.Check(); n < 10 || err != nil {
		t.Errorf("%d patterns: %v", n, err)
	}
}
