package ssh_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
)

// On one machine with itself, so without a network's round trips:
//
//	go test -run '^$' -bench . ./internal/host/ssh
func BenchmarkOpen(b *testing.B) {
	s := sshtest.Start(b)
	o := ssh.Options{Destination: s.Destination, ConfigFile: s.ConfigFile, Programs: sshtest.Programs(b), Folder: s.Dir + "/programs"}
	open := func(b *testing.B) *ssh.Host {
		h, err := ssh.Open(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		return h
	}
	b.Run("program=sent", func(b *testing.B) {
		for b.Loop() {
			open(b).Close()
		}
	})
	b.Run("program=there", func(b *testing.B) {
		defer open(b).Close()
		for b.Loop() {
			open(b).Close()
		}
	})
	h := open(b)
	defer h.Close()
	file := filepath.Join(b.TempDir(), "f")
	if err := os.WriteFile(file, bytes.Repeat([]byte("x"), 64<<20), 0o644); err != nil {
		b.Fatal(err)
	}
	b.Run("call=Stat", func(b *testing.B) {
		for b.Loop() {
			if _, err := h.Stat(b.Context(), file); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("call=Run", func(b *testing.B) {
		for b.Loop() {
			if _, err := h.Run(b.Context(), host.Command{Argv: []string{"true"}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("call=Read64MiB", func(b *testing.B) {
		b.SetBytes(64 << 20)
		for b.Loop() {
			if _, err := h.ReadFile(b.Context(), file); err != nil {
				b.Fatal(err)
			}
		}
	})
}
