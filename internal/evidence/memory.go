package evidence

import (
	"bytes"
	"strconv"
	"strings"
)

// memory is what /proc/meminfo tells besides the total and what is available.
// Bytes. PageCache is Cached + Buffers without shared memory, which lies in
// Cached but cannot be dropped.
type memory struct{ PageCache, Dirty, SwapUsed int64 }

func parseMemory(data []byte) memory {
	v := map[string]int64{}
	for line := range bytes.Lines(data) {
		key, rest, _ := bytes.Cut(line, []byte(":"))
		switch name := string(key); name {
		case "Cached", "Buffers", "Shmem", "Dirty", "SwapTotal", "SwapFree":
			v[name] = min(firstNumber(rest), 1<<42) << 10 // kB; bounded, so that it cannot overflow
		}
	}
	return memory{PageCache: max(v["Cached"]+v["Buffers"]-v["Shmem"], 0), Dirty: v["Dirty"], SwapUsed: max(v["SwapTotal"]-v["SwapFree"], 0)}
}

// vmCounts are counters of /proc/vmstat since boot.
type vmCounts struct{ SwapIn, SwapOut, MajorFaults int64 } // pages, pages, faults

func parseVMStat(data []byte) vmCounts {
	var v vmCounts
	for line := range bytes.Lines(data) {
		name, rest, _ := bytes.Cut(line, []byte(" "))
		switch string(name) {
		case "pswpin":
			v.SwapIn = firstNumber(rest)
		case "pswpout":
			v.SwapOut = firstNumber(rest)
		case "pgmajfault":
			v.MajorFaults = firstNumber(rest)
		}
	}
	return v
}

// parseFileNr reads /proc/sys/fs/file-nr: open files, free ones (always 0 since
// Linux 2.6) and the limit fs.file-max.
func parseFileNr(data []byte) (open, limit int64) {
	f := strings.Fields(string(data))
	if len(f) < 3 {
		return 0, 0
	}
	open, err1 := strconv.ParseInt(f[0], 10, 64)
	limit, err2 := strconv.ParseInt(f[2], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0
	}
	return open, limit
}
