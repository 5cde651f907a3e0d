package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// VersionCmd prints the version.
type VersionCmd struct{}

// Help is printed below the flags.
func (VersionCmd) Help() string {
	return "Example:\n  kasoku version --json"
}

// build tells which program this is.
type build struct {
	Version string `json:"version"`          // "0.1.0", or "0.1.0-dev+8c1f0e2" between releases
	Commit  string `json:"commit,omitempty"` // of the source, whole
	Date    string `json:"date,omitempty"`   // of the commit, RFC 3339
	Changed bool   `json:"changed"`          // the source was not as committed
	Go      string `json:"go"`
	System  string `json:"system"` // "linux/amd64"
}

// Commit and Date are set by builds that leave git's state out of the binary, so
// that every clone gives the same bytes (scripts/release.sh).
var Commit, Date string

// thisBuild is of the running program.
func thisBuild() build {
	b := build{Version: Version, Commit: Commit, Date: Date, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.time" && b.Date == "":
			b.Date = s.Value
		case s.Key == "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

// Run implements the command.
func (VersionCmd) Run(a *App) error {
	b := thisBuild()
	return a.print(b, func(w io.Writer) error {
		said := b.Go + " " + b.System
		if b.Commit != "" {
			said = "commit " + b.Commit[:min(len(b.Commit), 12)] + " " + b.Date + ", " + said
		}
		if b.Changed {
			said += ", source changed since"
		}
		_, err := fmt.Fprintf(w, "kasoku %s (%s)\n", b.Version, said)
		return err
	})
}
