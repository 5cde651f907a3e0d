package change

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// AtWork names the Kasoku that has the lease on a .kasoku folder; "" if none
// has. It takes nothing, so it may be told by whoever can read the folder.
func AtWork(dir string) string {
	pid := lockHolder(filepath.Join(dir, "lock"))
	if pid == 0 {
		return ""
	}
	text := fmt.Sprintf("process %d", pid)
	// Its first two words only: arguments may hold anything.
	if argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		words := strings.Split(strings.TrimRight(string(argv), "\x00"), "\x00")
		if len(words) > 0 && words[0] != "" {
			text += " (" + filepath.Base(words[0]) + ")"
		}
	}
	return text
}
