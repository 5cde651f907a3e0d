package goapp

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Counters is where a running Go program keeps the CPU time that its garbage
// collector has used since it began: addresses in its memory, which is the same
// for every process of the program (it is not position independent).
//
// The runtime counts it at the end of each collection (runtime/mstats.go, type
// cpuStats; since Go 1.20), whether somebody asks for it or not.
type Counters struct {
	Total uint64 // of GCTotalTime, int64 nanoseconds
	Idle  uint64 // of GCIdleTime, the part that took CPUs which had nothing to do
}

// FindCounters looks for them in a program's file: the address of runtime.work
// among its symbols, the place of the counters within it in its DWARF. A program
// that was linked with -s has neither.
func FindCounters(exe io.ReaderAt) (Counters, error) {
	f, err := elf.NewFile(exe)
	if err != nil {
		return Counters{}, fmt.Errorf("read the program: %w", err)
	}
	if f.Type != elf.ET_EXEC || f.ByteOrder != binary.LittleEndian || f.Class != elf.ELFCLASS64 {
		return Counters{}, errors.New("its addresses are not those in its file (position independent, or not of a 64-bit little-endian machine)")
	}
	symbols, err := f.Symbols()
	if err != nil {
		return Counters{}, fmt.Errorf("symbols of the program (go build -ldflags=-s leaves them out): %w", err)
	}
	work := uint64(0)
	for _, s := range symbols {
		if s.Name == "runtime.work" {
			work = s.Value
		}
	}
	if work == 0 {
		return Counters{}, errors.New("it has no symbol runtime.work")
	}
	d, err := f.DWARF()
	if err != nil {
		return Counters{}, fmt.Errorf("DWARF of the program (go build -ldflags=-w leaves it out): %w", err)
	}
	t, err := variableType(d, "runtime.work")
	if err != nil {
		return Counters{}, err
	}
	stats, at, err := field(t, "cpuStats")
	if err != nil {
		return Counters{}, err
	}
	_, total, err := field(stats, "GCTotalTime")
	if err != nil {
		return Counters{}, err
	}
	_, idle, err := field(stats, "GCIdleTime")
	if err != nil {
		return Counters{}, err
	}
	return Counters{Total: work + at + total, Idle: work + at + idle}, nil
}

// variableType is the type of a package's variable.
func variableType(d *dwarf.Data, name string) (dwarf.Type, error) {
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("DWARF of the program: %w", err)
		}
		if e == nil {
			return nil, fmt.Errorf("its DWARF has no %s", name)
		}
		if e.Tag == dwarf.TagVariable && e.Val(dwarf.AttrName) == name {
			if at, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
				return d.Type(at)
			}
		}
		if e.Tag != dwarf.TagCompileUnit {
			r.SkipChildren()
		}
	}
}

// field of a struct and its offset. Names were exported in Go 1.22 only.
func field(t dwarf.Type, name string) (dwarf.Type, uint64, error) {
	for {
		alias, ok := t.(*dwarf.TypedefType)
		if !ok {
			break
		}
		t = alias.Type
	}
	s, ok := t.(*dwarf.StructType)
	if !ok {
		return nil, 0, fmt.Errorf("its runtime is not as expected: %s is no part of %s", name, t)
	}
	for _, f := range s.Field {
		if strings.EqualFold(f.Name, name) {
			return f.Type, uint64(f.ByteOffset), nil
		}
	}
	return nil, 0, fmt.Errorf("its runtime counts no %s (Go 1.20 and later do)", name)
}

// Range is the piece of memory that holds both counters: from an address that 8
// divides, count words of 8 bytes.
func (c Counters) Range() (from uint64, count int) {
	from = min(c.Total, c.Idle) / 8 * 8
	return from, int((max(c.Total, c.Idle)-from)/8) + 1
}

// Used reads that piece: the CPU time of collections so far without what idle
// CPUs did for them.
func (c Counters) Used(piece []byte) (time.Duration, error) {
	from, count := c.Range()
	if len(piece) != 8*count {
		return 0, fmt.Errorf("counters of the collector: %d bytes were read in place of %d", len(piece), 8*count)
	}
	word := func(at uint64) time.Duration {
		return time.Duration(binary.LittleEndian.Uint64(piece[at-from:]))
	}
	used := word(c.Total) - word(c.Idle)
	if used < 0 || word(c.Idle) < 0 {
		return 0, fmt.Errorf("counters of the collector make no sense: %s, %s of it idle", word(c.Total), word(c.Idle))
	}
	return used, nil
}
