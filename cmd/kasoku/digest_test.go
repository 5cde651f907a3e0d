package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/digest"
)

func TestLogSet(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.log", "a.log.1", "b,c.log", "old.log"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for arg, want := range map[string][]string{
		"a.log":         {"a.log"},
		"b,c.log":       {"b,c.log"}, // a name with a comma
		"a.log,old.log": {"a.log", "old.log"},
		"a.log*":        {"a.log", "a.log.1"},
		"a.*,old.log":   {"a.log", "a.log.1", "old.log"},
		"missing.log":   {"missing.log"}, // opening it fails with its name
		"[":             {"["},
		"-":             {"-"},
	} {
		if got := logSet(arg); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", arg, got, want)
		}
	}
}

func TestDigestProgressText(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "a.log")
	if err := os.WriteFile(plain, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := digest.FileInput(plain)
	if err != nil {
		t.Fatal(err)
	}
	p := &digestProgress{}
	p.expect([][]digest.Input{{in}, {in}})
	if got := p.text(2048, time.Second); got != "read 2.00 KiB of 8.00 KiB (25 %)" {
		t.Error(got)
	}
	p.next([]digest.Input{in})
	if got := p.text(2048, time.Second); !strings.Contains(got, "(75 %)") {
		t.Errorf("the second side begins anew: %s", got)
	}
	// Of a stream nobody knows the size.
	p = &digestProgress{}
	p.expect([][]digest.Input{{in, digest.StreamInput("x", strings.NewReader(""))}})
	if got := p.text(2048, 3*time.Second); got != "read 2.00 KiB in 3.00 s" {
		t.Error(got)
	}
}

// Each side of a comparison has the notes on its own folders.
func TestNotesOfFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"one", "two"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		line := "203.0.113.1 - - [03/Mar/2025:08:00:01 +0100] \"GET /a HTTP/1.1\" 200 5 \"-\" \"agent\" 0.012\n"
		if err := os.WriteFile(filepath.Join(name, "access.log"), []byte(strings.Repeat(line, 20)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"one", "two"} {
		_, notes, err := openInputs([]string{name})
		if err != nil || len(notes) != 1 || !strings.Contains(notes[0], name) {
			t.Errorf("%s: %q %v", name, notes, err)
		}
	}
}
