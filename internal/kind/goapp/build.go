// Package goapp knows Go's programs: what the linker left in them, and the variables of
// their runtime.
package goapp

import (
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"strings"
)

// Build is what the Go linker wrote into a program.
type Build struct {
	Version  string            `json:"version"` // "go1.22.3"
	Main     string            `json:"main"`    // import path of the main package
	Settings map[string]string `json:"settings,omitempty"`
	Deps     map[string]string `json:"deps,omitempty"` // module → version
}

// Parse reads a program's build information from the bytes at its magic
// "\xff Go buildinf:" on (debug/buildinfo: since Go 1.18 the version and the
// module text follow the 32-byte header, each with its length as a varint; bit
// 2 of byte 15 says so; the text has 16 bytes around it on either side).
func Parse(data []byte) (*Build, error) {
	const header = 32
	if len(data) < header || !strings.HasPrefix(string(data), "\xff Go buildinf:") || data[15]&2 == 0 {
		return nil, fmt.Errorf("this is no build information of Go 1.18 or later")
	}
	version, rest, ok := varString(data[header:])
	if !ok {
		return nil, fmt.Errorf("build information of Go: the version is cut off")
	}
	b := &Build{Version: version, Settings: map[string]string{}, Deps: map[string]string{}}
	text, _, ok := varString(rest)
	if !ok || len(text) < 33 || text[len(text)-17] != '\n' {
		return b, nil // built without modules
	}
	info, err := debug.ParseBuildInfo(text[16 : len(text)-16])
	if err != nil {
		return nil, fmt.Errorf("build information of Go: %w", err)
	}
	b.Main = info.Path
	for _, s := range info.Settings {
		b.Settings[s.Key] = s.Value
	}
	for _, d := range info.Deps {
		b.Deps[d.Path] = d.Version
	}
	return b, nil
}

func varString(b []byte) (string, []byte, bool) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used) {
		return "", nil, false
	}
	return string(b[used : used+int(n)]), b[used+int(n):], true
}

// Profiled reports whether the program was built by a CPU profile (the build
// setting -pgo, go.dev/doc/pgo).
func (b *Build) Profiled() bool { return b.Settings["-pgo"] != "" && b.Settings["-pgo"] != "off" }

// SeesQuota reports whether the program's runtime looks at the CPU quota of
// its control group by itself: Go 1.25 and later, unless the main module asks
// for an older one, which the linker notes as DefaultGODEBUG (Go 1.25 release
// notes, "Container-aware GOMAXPROCS"; go.dev/doc/godebug).
func (b *Build) SeesQuota(godebug string) bool {
	if strings.Contains(godebug, "containermaxprocs=0") || strings.Contains(b.Settings["DefaultGODEBUG"], "containermaxprocs=0") {
		return false
	}
	return b.AtLeast(25)
}

// AtLeast reports whether it was built by Go 1.minor or later.
func (b *Build) AtLeast(minor int) bool {
	var have int
	if _, err := fmt.Sscanf(b.Version, "go1.%d", &have); err != nil {
		return !strings.HasPrefix(b.Version, "go1") // a development version is newer
	}
	return have >= minor
}
