// Package lz4 has the types of version 4 that the corpus names.
package lz4

import "io"

// Option of a writer.
type Option func(*Writer) error

// Writer writes frames.
type Writer struct {
	to io.Writer
}

// BlockSize of a frame.
type BlockSize uint32

// Block64Kb is the smallest one.
const Block64Kb BlockSize = 1 << 16

// BlockSizeOption sets it.
func BlockSizeOption(BlockSize) Option { return func(*Writer) error { return nil } }

// SizeOption sets the size of the content.
func SizeOption(uint64) Option { return func(*Writer) error { return nil } }

// ConcurrencyOption starts goroutines.
func ConcurrencyOption(int) Option { return func(*Writer) error { return nil } }

// NewWriter makes one.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Apply sets options, which Reset keeps.
func (*Writer) Apply(...Option) error { return nil }

// Write writes.
func (w *Writer) Write(p []byte) (int, error) { return w.to.Write(p) }

// Close ends the frame.
func (*Writer) Close() error { return nil }

// Reset begins anew.
func (w *Writer) Reset(to io.Writer) { w.to = to }
