package evidence

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// disk is one line of /proc/diskstats (kernel Documentation/admin-guide/iostats.rst):
// counters since boot.
type disk struct {
	Reads, Writes             int64 // completed
	ReadSectors, WriteSectors int64 // of 512 bytes, whatever the disk's own are
	ReadMS, WriteMS           int64 // time that requests took, summed
	BusyMS                    int64 // time with a request under way
	WeightedMS                int64 // Σ over that time of the requests under way
}

const sectorBytes = 512

// partition matches names of parts of a disk, which would count twice.
var partition = regexp.MustCompile(`^((sd|vd|hd|xvd)[a-z]+\d+|(nvme\d+n\d+|mmcblk\d+)p\d+)$`)

// notDisk matches devices without a medium of their own.
var notDisk = regexp.MustCompile(`^(loop|ram|zram|fd|sr)\d+$`)

// stacked reports a device whose writes another device counts too.
func stacked(name string) bool {
	return strings.HasPrefix(name, "dm-") || strings.HasPrefix(name, "md")
}

func parseDiskstats(data []byte) map[string]disk {
	out := map[string]disk{}
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 14 || partition.MatchString(f[2]) || notDisk.MatchString(f[2]) {
			continue
		}
		var v [14]int64
		good := true
		for i := 3; i < 14; i++ {
			n, err := strconv.ParseInt(f[i], 10, 64)
			good = good && err == nil && n >= 0
			v[i] = n
		}
		if good {
			out[f[2]] = disk{Reads: v[3], ReadSectors: v[5], ReadMS: v[6], Writes: v[7], WriteSectors: v[9], WriteMS: v[10],
				BusyMS: v[12], WeightedMS: v[13]}
		}
	}
	return out
}

// diskUses are the disks that did something between two readings, by name.
//
//	latency = Δ time of requests / Δ requests
//	queue   = Δ weighted time / window (Little's law: mean requests under way)
func diskUses(begin, end map[string]disk, seconds float64) []DiskUse {
	var out []DiskUse
	for _, name := range sortedKeys(end) {
		a, ok := begin[name]
		b := end[name]
		if !ok || seconds <= 0 {
			continue
		}
		reads, writes, busy := max(b.Reads-a.Reads, 0), max(b.Writes-a.Writes, 0), max(b.BusyMS-a.BusyMS, 0)
		if reads+writes+busy == 0 {
			continue
		}
		per := func(now, was int64) float64 { return float64(max(now-was, 0)) / seconds }
		out = append(out, DiskUse{Name: name, Busy: min(float64(busy)/1000/seconds, 1),
			Reads: float64(reads) / seconds, Writes: float64(writes) / seconds,
			ReadBytes: per(b.ReadSectors, a.ReadSectors) * sectorBytes, WriteBytes: per(b.WriteSectors, a.WriteSectors) * sectorBytes,
			ReadLatency: meanMS(b.ReadMS-a.ReadMS, reads), WriteLatency: meanMS(b.WriteMS-a.WriteMS, writes),
			Queue: per(b.WeightedMS, a.WeightedMS) / 1000})
	}
	return out
}

func meanMS(total, count int64) time.Duration {
	if count <= 0 || total <= 0 {
		return 0
	}
	return time.Duration(float64(total) / float64(count) * float64(time.Millisecond))
}
