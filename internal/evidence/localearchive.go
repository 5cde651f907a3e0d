package evidence

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// localeArchive is the name, in a service's PHP values, of the bytes of the C
// library's locale archive that its main process maps (C20).
const localeArchive = "process.locale-archive"

// localeUnpacked is the name of the folder that has PHP's own locale, C.UTF-8,
// outside the archive; "" if it is only in there.
const localeUnpacked = "process.locale-folder"

// localeFolder is where the C library looks for locales behind its archive
// (locale(7), "Files").
const localeFolder = "/usr/lib/locale"

// parseMapped sums up what of /proc/PID/maps belongs to files of a name, bytes
// (proc_pid_maps(5): from-to rights offset device inode path).
func parseMapped(maps []byte, name string) int64 {
	total := int64(0)
	for line := range bytes.Lines(maps) {
		f := strings.Fields(string(line))
		if len(f) < 6 || !strings.HasSuffix(f[5], "/"+name) {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		a, err1 := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil && b > a {
			total += int64(b - a)
		}
	}
	return total
}

// readLocaleArchive notes what a process maps of it; nothing if that may not
// be read.
func readLocaleArchive(ctx context.Context, h host.Host, pid int, values map[string]string) {
	maps, err := h.ReadFile(ctx, fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return
	}
	n := parseMapped(maps, "locale-archive")
	values[localeArchive] = strconv.FormatInt(n, 10)
	if n == 0 {
		return
	}
	if info, err := h.Stat(ctx, localeFolder+"/C.utf8"); err == nil && info.Mode.IsDir() {
		values[localeUnpacked] = localeFolder
	}
}
