package foreign

import (
	"regexp"
	"testing"
)

// Patterns are compiled when they are first used, so a wrong one would be seen late.
func TestPatternsCompile(t *testing.T) {
	if len(patterns) < 100 {
		t.Errorf("%d patterns", len(patterns))
	}
	for _, p := range patterns {
		if _, err := regexp.Compile(p.text); err != nil {
			t.Error(err)
		}
	}
}
