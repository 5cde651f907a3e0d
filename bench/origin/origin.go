// Package origin says of what and on what a figure was measured, for programs that
// play whole cases and print tables.
//
// In: nothing but the program itself and its machine. Out: one line of text each.
package origin

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// Machine says how many CPUs the machine has and how much memory (GB, 10⁹ bytes).
func Machine() string {
	var info syscall.Sysinfo_t
	text := fmt.Sprintf("%d CPUs", CPUs())
	if syscall.Sysinfo(&info) == nil {
		text += fmt.Sprintf(", %.0f GB of memory", float64(info.Totalram)*float64(info.Unit)/1e9)
	}
	return text
}

// CPUs of the machine; 0 if they cannot be read.
func CPUs() int {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return 0
	}
	return strings.Count("\n"+string(text), "\nprocessor")
}

// Tree is the commit that this program was built of, as Go wrote it there; "" outside
// a repository.
func Tree() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), shortCommit)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	return commit + changed
}

// shortCommit is git's own short form.
const shortCommit = 7
