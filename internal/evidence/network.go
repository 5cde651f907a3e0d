package evidence

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// netDevice is one line of /proc/net/dev: counters since the interface came up.
type netDevice struct {
	ReceiveBytes, ReceivePackets int64
	SendBytes, SendPackets       int64
	Errors, Dropped              int64 // both ways
}

// parseNetDev reads /proc/net/dev (proc_pid_net(5)): eight numbers of what was
// received, eight of what was sent.
func parseNetDev(data []byte) map[string]netDevice {
	out := map[string]netDevice{}
	for line := range bytes.Lines(data) {
		name, rest, ok := strings.Cut(string(line), ":")
		f := strings.Fields(rest)
		if !ok || len(f) < 16 {
			continue
		}
		var v [16]int64
		good := true
		for i := range v {
			n, err := strconv.ParseInt(f[i], 10, 64)
			good = good && err == nil && n >= 0
			v[i] = n
		}
		if good {
			out[strings.TrimSpace(name)] = netDevice{ReceiveBytes: v[0], ReceivePackets: v[1], SendBytes: v[8], SendPackets: v[9],
				Errors: v[2] + v[10], Dropped: v[3] + v[11]}
		}
	}
	return out
}

// networkUses are the interfaces over which anything ever went.
func networkUses(begin, end map[string]netDevice, seconds float64) []NetworkUse {
	var out []NetworkUse
	for _, name := range sortedKeys(end) {
		a, ok := begin[name]
		b := end[name]
		if !ok || seconds <= 0 || b.ReceivePackets+b.SendPackets == 0 {
			continue
		}
		per := func(now, was int64) float64 { return float64(max(now-was, 0)) / seconds }
		out = append(out, NetworkUse{Name: name, ReceiveBytes: per(b.ReceiveBytes, a.ReceiveBytes), SendBytes: per(b.SendBytes, a.SendBytes),
			ReceivePackets: per(b.ReceivePackets, a.ReceivePackets), SendPackets: per(b.SendPackets, a.SendPackets),
			Dropped: max(b.Dropped-a.Dropped, 0), Errors: max(b.Errors-a.Errors, 0)})
	}
	return out
}

// readSpeeds fills SpeedBytes from /sys/class/net/NAME/speed, which is in
// megabits (10^6) per second each way (kernel Documentation/ABI/testing/sysfs-class-net).
// Virtual interfaces have none or -1.
func readSpeeds(ctx context.Context, h host.Host, nets []NetworkUse) {
	for i := range nets {
		data, err := h.ReadFile(ctx, "/sys/class/net/"+nets[i].Name+"/speed")
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && n > 0 {
			nets[i].SpeedBytes = float64(n) * 1e6 / 8
		}
	}
}
