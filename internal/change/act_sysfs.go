package change

import (
	"regexp"
	"strings"
)

// TmpfilesFile is where a permanent setting below /sys belongs: systemd writes
// its "w" lines at boot. Of two files with a line for one path the one with the
// earlier name counts (tmpfiles.d(5)).
const TmpfilesFile = "/etc/tmpfiles.d/00-kasoku.conf"

// sysfsSetting are the settings below /sys that a KindSysctl change may set:
// huge pages (Documentation/admin-guide/mm/transhuge.rst) and block queues
// (Documentation/ABI/stable/sysfs-block). Others do things when they are
// written, such as putting the machine to sleep.
var sysfsSetting = regexp.MustCompile(`^/sys/(kernel/mm/transparent_hugepage/(enabled|defrag|khugepaged/defrag)|block/[A-Za-z0-9!_-]+/queue/(scheduler|read_ahead_kb|nr_requests|rq_affinity|wbt_lat_usec))$`)

// ofSysfs reports whether a KindSysctl change names a file below /sys.
func ofSysfs(key string) bool { return strings.HasPrefix(key, "/") }

// chosen is the value of a setting: of several words the one in brackets,
// "always [madvise] never".
func chosen(text string) string {
	if _, rest, ok := strings.Cut(text, "["); ok {
		if word, _, ok := strings.Cut(rest, "]"); ok {
			return word
		}
	}
	return text
}

// setKernel is what a person would type to give a setting a value.
func setKernel(key, value string) string {
	if ofSysfs(key) {
		return "echo " + commandLine([]string{value}) + " > " + commandLine([]string{key})
	}
	return commandLine([]string{"sysctl", "-w", key + "=" + value})
}
