package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// shape makes the host's cable as the settings say. Both of its ends can only
// hold back what they send, so rate and delay are set at both.
func (h *Host) shape(ctx context.Context, s Settings) error {
	way := "up"
	if s.Cut {
		way = "down"
	}
	if _, err := run(ctx, "ip", "-n", h.lab.Namespace, "link", "set", "dev", h.port(), way); err != nil {
		return fmt.Errorf("plug the network of %s: %w", h.Name, err)
	}
	inside, err := h.leader()
	if err != nil {
		return err
	}
	if s.Delay > 0 {
		if err := h.lab.canDelay(ctx); err != nil {
			return err
		}
	}
	if err := queue(ctx, h.lab.netns(), h.port(), s); err != nil {
		return fmt.Errorf("shape what %s receives: %w", h.Name, err)
	}
	if err := queue(ctx, fmt.Sprintf("/proc/%d/ns/net", inside), "host0", s); err != nil {
		return fmt.Errorf("shape what %s sends: %w", h.Name, err)
	}
	if err := h.lose(ctx, s.LossPercent); err != nil {
		return fmt.Errorf("lose packets of %s: %w", h.Name, err)
	}
	return nil
}

// queue sets what an interface in a network namespace does before it sends.
func queue(ctx context.Context, ns, device string, s Settings) error {
	args := qdisc(device, s)
	if args == nil {
		have, err := runWithin(ctx, ns, "tc", "qdisc", "show", "dev", device, "root")
		if err != nil || !strings.Contains(have, "qdisc tbf") && !strings.Contains(have, "qdisc netem") {
			return err
		}
		args = []string{"qdisc", "delete", "dev", device, "root"}
	}
	_, err := runWithin(ctx, ns, "tc", args...)
	return err
}

// qdisc returns tc's arguments, nil if nothing is to be held back. netem does
// rate and delay; tbf, which more kernels have, only the rate.
func qdisc(device string, s Settings) []string {
	if s.Delay == 0 && s.RateBitsPerSecond == 0 {
		return nil
	}
	rate := strconv.FormatInt(s.RateBitsPerSecond, 10) + "bit"
	args := []string{"qdisc", "replace", "dev", device, "root"}
	if s.Delay > 0 {
		// The limit is in packets; the default of 1000 would drop where rate × delay is large.
		args = append(args, "netem", "limit", "100000", "delay", strconv.FormatInt(s.Delay.Microseconds(), 10)+"us")
		if s.RateBitsPerSecond > 0 {
			args = append(args, "rate", rate)
		}
		return args
	}
	// tc-tbf(8): the bucket must hold what comes in one timer tick (10 ms at
	// most), and no less than a large frame that the card has not split.
	burst := max(s.RateBitsPerSecond/8/100, 64<<10)
	return append(args, "tbf", "rate", rate, "burst", strconv.FormatInt(burst, 10), "latency", "50ms")
}

// canDelay reports with a *CannotError that the kernel lacks netem. It tries it
// on the lab's loopback, which nothing is measured on.
func (l *Lab) canDelay(ctx context.Context) error {
	if _, err := run(ctx, "tc", "-n", l.Namespace, "qdisc", "replace", "dev", "lo", "root", "netem", "delay", "0ms"); err != nil {
		return &CannotError{fmt.Sprintf("this kernel cannot delay packets, it has no netem (CONFIG_NET_SCH_NETEM): %v", err),
			"modprobe sch_netem; or use a rate or loss, which need no netem"}
	}
	_, err := run(ctx, "tc", "-n", l.Namespace, "qdisc", "delete", "dev", "lo", "root")
	return err
}

// lose drops packets at random at the host's port of the bridge.
func (h *Host) lose(ctx context.Context, percent float64) error {
	if _, err := lookPath("nft"); err != nil {
		if percent == 0 {
			return nil
		}
		return &CannotError{"losing packets needs nft", "apt-get install nftables"}
	}
	path, err := lookPath("nft")
	if err != nil {
		return err
	}
	return within(h.lab.netns(), func() error {
		cmd := exec.CommandContext(ctx, path, "-f", "-")
		cmd.Stdin = strings.NewReader(lossRules("kasoku_"+h.Name, h.port(), percent))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("nft: %w%s", err, tail(string(out)))
		}
		return nil
	})
}

// lossRules replaces the host's table. A table is added before it is deleted so
// that it need not be there (nft(8)).
func lossRules(table, port string, percent float64) string {
	text := fmt.Sprintf("add table bridge %[1]s\ndelete table bridge %[1]s\n", table)
	if percent == 0 {
		return text
	}
	const of = 100_000 // thousandths of a percent
	drop := fmt.Sprintf("numgen random mod %d < %d drop", of, int(percent*of/100))
	if percent == 100 {
		drop = "drop" // nft refuses a comparison that is always true
	}
	return text + fmt.Sprintf(`table bridge %s {
	chain sent {
		type filter hook prerouting priority 0
		iifname "%s" %s
	}
	chain received {
		type filter hook postrouting priority 0
		oifname "%s" %s
	}
}
`, table, port, drop, port, drop)
}

// leader is the host's init as seen from outside, the child of its systemd-nspawn.
func (h *Host) leader() (int, error) {
	data, err := os.ReadFile(h.file("nspawn.pid"))
	if err != nil {
		return 0, fmt.Errorf("host %s is off: %w", h.Name, err)
	}
	parent := strings.TrimSpace(string(data))
	procs, err := filepath.Glob("/proc/" + parent + "/task/*/children")
	if err != nil {
		return 0, err
	}
	for _, p := range procs {
		children, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		for _, child := range strings.Fields(string(children)) {
			status, err := os.ReadFile("/proc/" + child + "/status")
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(status)) {
				f := strings.Fields(line)
				// It is 1 in the innermost PID namespace it is in.
				if len(f) > 2 && f[0] == "NSpid:" && f[len(f)-1] == "1" {
					return strconv.Atoi(child)
				}
			}
		}
	}
	return 0, fmt.Errorf("host %s has no init; it is off or about to boot", h.Name)
}

// plugIn applies the cable's settings to a host that just started: its end of
// the cable comes some milliseconds after its process.
func (h *Host) plugIn(ctx context.Context) error {
	held, err := lock(h.file("settings.lock"), true)
	if err != nil {
		return err
	}
	defer held.Close()
	s, err := h.Settings()
	if err != nil {
		return err
	}
	s.CPUs, s.Memory = 0, 0 // its cgroup has them
	if s == (Settings{}) {
		return nil
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err = h.leader(); err == nil {
			err = h.shape(ctx, s)
		}
		if err == nil || time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
	}
	// systemd-nspawn may raise its end of the cable right after this took it down.
	for range plugInAgain {
		if err != nil || !s.Cut {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(plugInPause):
		}
		err = h.shape(ctx, s)
	}
	return err
}

// The cable of a host that is cut off is taken out again so often, which is until long
// after systemd-nspawn is done with it.
const (
	plugInAgain = 20
	plugInPause = 100 * time.Millisecond
)
