package evidence

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ProcessUser is whom a service's workers run as.
type ProcessUser struct {
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Groups []int  `json:"groups"`
	Name   string `json:"name"`
	Group  string `json:"group"`
	// NotByPID: it may make no files in the folder of the service's pid file, which
	// whoever started it wrote.
	NotByPID bool `json:"not_by_pid,omitempty"`
}

// procPID is what /proc/PID/stat tells about one process (proc_pid_stat(5)).
type procPID struct {
	PID, Parent int
	Name        string
	State       byte
	// Ticks is utime+stime, Reaped is cutime+cstime: of children that ended
	// and were waited for, with their own reaped children.
	Ticks, Reaped int64
	// User and ReapedUser are the parts of them that are utime and cutime.
	User, ReapedUser int64
	Threads          int
	// Started in ticks since boot; with PID it names one process for good.
	Started uint64
	// Service that the process belongs to by its unit; "" where its parents tell
	// (processTable.adopt).
	Service string
}

// parsePIDStat reads /proc/PID/stat. The name may hold spaces and brackets,
// so the last ")" ends it.
func parsePIDStat(data []byte) (procPID, error) {
	s := string(data)
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 1 || end < open {
		return procPID{}, fmt.Errorf("parse /proc/PID/stat: no name in %q", s)
	}
	f := strings.Fields(s[end+1:])
	if len(f) < 20 {
		return procPID{}, fmt.Errorf("parse /proc/PID/stat: only %d fields in %q", len(f), s)
	}
	var bad error
	num := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil && bad == nil {
			bad = fmt.Errorf("parse /proc/PID/stat: %q is not a number", text)
		}
		return n
	}
	// Field n of the manual is f[n-3].
	p := procPID{PID: int(num(strings.TrimSpace(s[:open]))), Name: s[open+1 : end], State: f[0][0],
		Parent: int(num(f[1])), Ticks: num(f[11]) + num(f[12]), Reaped: num(f[13]) + num(f[14]),
		User: num(f[11]), ReapedUser: num(f[13]), Threads: int(num(f[17])), Started: uint64(num(f[19]))}
	return p, bad
}

// parsePss reads the proportional set size of /proc/PID/smaps_rollup in bytes.
func parsePss(data []byte) (int64, error) {
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) >= 2 && f[0] == "Pss:" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil || n < 0 || n > 1<<50 {
				return 0, fmt.Errorf("parse /proc/PID/smaps_rollup: %q is not a size", f[1])
			}
			return n << 10, nil
		}
	}
	return 0, fmt.Errorf("parse /proc/PID/smaps_rollup: no Pss line")
}

// parseRSS reads the resident set of /proc/PID/status in bytes.
func parseRSS(data []byte) (int64, error) {
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) >= 2 && f[0] == "VmRSS:" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil || n < 0 || n > 1<<50 {
				return 0, fmt.Errorf("parse /proc/PID/status: %q is not a size", f[1])
			}
			return n << 10, nil
		}
	}
	return 0, fmt.Errorf("parse /proc/PID/status: no VmRSS line")
}

// parseFileLimit reads the soft limit "Max open files" of /proc/PID/limits.
func parseFileLimit(data []byte) (int, error) {
	for line := range bytes.Lines(data) {
		rest, ok := strings.CutPrefix(string(line), "Max open files")
		if f := strings.Fields(rest); ok && len(f) >= 1 {
			return strconv.Atoi(f[0])
		}
	}
	return 0, fmt.Errorf("parse /proc/PID/limits: no \"Max open files\" line")
}

// parseStatusUser reads the effective user, group and the supplementary groups
// of /proc/PID/status.
func parseStatusUser(data []byte) (ProcessUser, error) {
	u := ProcessUser{UID: -1, GID: -1}
	for line := range bytes.Lines(data) {
		key, rest, _ := strings.Cut(string(line), ":")
		f := strings.Fields(rest)
		switch {
		case key == "Uid" && len(f) >= 2:
			u.UID, _ = strconv.Atoi(f[1])
		case key == "Gid" && len(f) >= 2:
			u.GID, _ = strconv.Atoi(f[1])
		case key == "Groups":
			for _, g := range f {
				if n, err := strconv.Atoi(g); err == nil {
					u.Groups = append(u.Groups, n)
				}
			}
			slices.Sort(u.Groups)
		}
	}
	if u.UID < 0 || u.GID < 0 {
		return u, fmt.Errorf("parse /proc/PID/status: no Uid or Gid line")
	}
	return u, nil
}

// parseNameList finds the name with this number in /etc/passwd or /etc/group
// (both hold it in the third field).
func parseNameList(data []byte, id int) string {
	want := strconv.Itoa(id)
	for line := range bytes.Lines(data) {
		f := strings.Split(strings.TrimSpace(string(line)), ":")
		if len(f) >= 3 && f[2] == want {
			return f[0]
		}
	}
	return ""
}
