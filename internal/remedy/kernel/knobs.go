package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy/planning"
)

// tuning is settings that belong together: one finding's remedy.
type tuning struct {
	id string
	// want says what is to be set, or why nothing is.
	want func(t *target, f diagnose.Finding) ([]set, error)
}

// plan makes a remedy's Plan of a tuning.
func (k tuning) plan(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	t, err := targetOf(in, f)
	if err != nil {
		return nil, err
	}
	sets, err := k.want(t, f)
	if err != nil {
		return nil, err
	}
	cs, err := t.changes(sets, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: k.id + ":" + t.host + ":" + values(sets), Title: "Set on " + t.host + ": " + t.describe(cs), Changes: cs}}, nil
}

// values tells two plans of one remedy apart.
func values(sets []set) string {
	var out []string
	for _, s := range sets {
		out = append(out, s.key[strings.LastIndexAny(s.key, "./")+1:]+"="+strings.ReplaceAll(s.to, " ", "-"))
	}
	return strings.Join(out, ",")
}

// number is a setting's value.
func (t *target) number(key string) (int64, error) {
	n, err := strconv.ParseInt(t.settings[key].Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s of %s is %q, no number", key, t.host, t.settings[key].Value)
	}
	return n, nil
}

// raised is a setting times factor, at least floor and at most ceiling; an
// error if it is there already.
func (t *target) raised(key string, factor, floor, ceiling int64) (set, error) {
	now, err := t.number(key)
	if err != nil {
		return set{}, err
	}
	to := min(max(now*factor, floor), ceiling)
	if to <= now {
		return set{}, fmt.Errorf("%s is %d already; more than %d is not planned", key, now, ceiling)
	}
	return set{key, strconv.FormatInt(to, 10)}, nil
}

// one is a tuning of one setting that is raised.
func one(key string, factor, floor, ceiling int64) func(*target, diagnose.Finding) ([]set, error) {
	return func(t *target, _ diagnose.Finding) ([]set, error) {
		s, err := t.raised(key, factor, floor, ceiling)
		return []set{s}, err
	}
}

// The range that C16 used: below 10000 are the ports that servers usually have.
const lowPort, highPort = 10000, 65535

// wantPorts widens the range of local ports. Ports that something listens on
// are kept out of it: a connection that took one would keep its server from
// starting again (ip-sysctl.rst, ip_local_reserved_ports).
func wantPorts(t *target, _ diagnose.Finding) ([]set, error) {
	var low, high int
	if _, err := fmt.Sscan(t.settings["net.ipv4.ip_local_port_range"].Value, &low, &high); err != nil {
		return nil, fmt.Errorf("ip_local_port_range of %s is %q", t.host, t.settings["net.ipv4.ip_local_port_range"].Value)
	}
	var out []set
	if low > lowPort || high < highPort {
		low, high = min(low, lowPort), max(high, highPort)
		out = append(out, set{"net.ipv4.ip_local_port_range", fmt.Sprintf("%d %d", low, high)})
		if list := t.reserved(low); list != "" {
			out = append([]set{{"net.ipv4.ip_local_reserved_ports", list}}, out...)
		}
	}
	// A port whose last connection waits in TIME_WAIT may be taken again after
	// a second where both ends have timestamps (ip-sysctl.rst, tcp_tw_reuse:
	// default 2, for loopback only).
	if t.settings["net.ipv4.tcp_tw_reuse"].Value != "1" && t.settings["net.ipv4.tcp_timestamps"].Value != "0" {
		out = append(out, set{"net.ipv4.tcp_tw_reuse", "1"})
	}
	if len(out) == 0 {
		return nil, errors.New("the range is as wide as it gets; only fewer connections help (kept connections, unix sockets, another address)")
	}
	return out, nil
}

// reserved are the ports from low on that something listens on, with those
// reserved so far.
func (t *target) reserved(low int) string {
	list := t.settings["net.ipv4.ip_local_reserved_ports"].Value
	var ports []int
	add := func(address string) {
		if n, err := strconv.Atoi(address[strings.LastIndexByte(address, ':')+1:]); err == nil && n >= low && !slices.Contains(ports, n) {
			ports = append(ports, n)
		}
	}
	for _, q := range t.sys.TCP.Queues {
		add(q.Listen)
	}
	for i := range t.in.Stack.Services {
		svc := &t.in.Stack.Services[i]
		if planning.HostOf(svc) != t.host {
			continue
		}
		for _, l := range svc.Listen {
			add(l)
		}
	}
	add(planning.FrontAddress(t.in.Stack))
	slices.Sort(ports)
	for _, n := range ports {
		if covers(list, n) {
			continue
		}
		if list != "" {
			list += ","
		}
		list += strconv.Itoa(n)
	}
	return list
}

// covers reports whether a list like "8080,9000-9010" has the port.
func covers(list string, port int) bool {
	for part := range strings.SplitSeq(list, ",") {
		a, b, is := strings.Cut(part, "-")
		low, err := strconv.Atoi(a)
		if err != nil {
			continue
		}
		high := low
		if is {
			high, _ = strconv.Atoi(b)
		}
		if low <= port && port <= high {
			return true
		}
	}
	return false
}

// wantTimeWait: what there is against many closed connections. TIME_WAIT itself
// always takes 60 s (TCP_TIMEWAIT_LEN in include/net/tcp.h); tcp_fin_timeout is
// about connections in FIN_WAIT_2, which wait for the other side's end.
func wantTimeWait(t *target, _ diagnose.Finding) ([]set, error) {
	var out []set
	tcp := t.sys.TCP
	// Only the side that connects may take a port again.
	if tcp.ActiveOpens > 0 && t.settings["net.ipv4.tcp_tw_reuse"].Value == "0" && t.settings["net.ipv4.tcp_timestamps"].Value != "0" {
		out = append(out, set{"net.ipv4.tcp_tw_reuse", "1"})
	}
	if n, err := t.number("net.ipv4.tcp_fin_timeout"); err == nil && n > 10 && tcp.States["FIN-WAIT-2"] >= 1000 {
		out = append(out, set{"net.ipv4.tcp_fin_timeout", "10"}) // as C16; the default is 60
	}
	if tcp.TimeWaitOverflow > 0 {
		if s, err := t.raised("net.ipv4.tcp_max_tw_buckets", 2, 65536, 1<<20); err == nil {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no setting shortens TIME_WAIT (60 s are in the kernel's source); connections that are kept, or unix sockets, leave none")
	}
	return out, nil
}

// wantBuffers lets receive and send buffers grow to 16 MiB (C16): by ip-sysctl.rst
// the third number bounds what the kernel chooses by itself. rmem_max and
// wmem_max only bound what programs ask for (setsockopt), so they follow where
// they can be set.
func wantBuffers(t *target, _ diagnose.Finding) ([]set, error) {
	var out []set
	for _, key := range []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"} {
		f := strings.Fields(t.settings[key].Value)
		if len(f) != 3 {
			return nil, fmt.Errorf("%s of %s is %q, not three numbers", key, t.host, t.settings[key].Value)
		}
		if n, err := strconv.ParseInt(f[2], 10, 64); err == nil && n < 16*planning.MiB {
			out = append(out, set{key, fmt.Sprintf("%s %s %d", f[0], f[1], 16*planning.MiB)})
		} else if key == "net.ipv4.tcp_rmem" { // what the finding is about
			return nil, fmt.Errorf("receive buffers may grow to %s bytes already; who reads is too slow", f[2])
		}
	}
	for _, key := range []string{"net.core.rmem_max", "net.core.wmem_max"} {
		if s := t.settings[key]; s.Writable {
			if n, err := t.number(key); err == nil && n < 16*planning.MiB {
				out = append(out, set{key, strconv.Itoa(16 * planning.MiB)})
			}
		}
	}
	return out, nil
}

// wantBusyPoll: busy_read is what new sockets get, busy_poll what poll(2) and
// epoll_wait(2) wait for those sockets.
func wantBusyPoll(*target, diagnose.Finding) ([]set, error) {
	to := strconv.Itoa(diagnose.BusyPoll)
	return []set{{"net.core.busy_read", to}, {"net.core.busy_poll", to}}, nil
}

// wantCongestion: BBR models the path instead of taking each lost packet for a
// full queue (Cardwell et al. 2016, ACM Queue 14(5)).
func wantCongestion(t *target, _ diagnose.Finding) ([]set, error) {
	const key = "net.ipv4.tcp_congestion_control"
	if !slices.Contains(strings.Fields(t.settings["net.ipv4.tcp_available_congestion_control"].Value), "bbr") {
		return nil, fmt.Errorf("the kernel of %s has no BBR loaded (modprobe tcp_bbr); loss on the way is left to %s", t.host, t.settings[key].Value)
	}
	// In a network namespace of a container only those may be set that the
	// machine allows to everybody; the others could not be put back.
	if now := t.settings[key].Value; now != "bbr" && !slices.Contains(strings.Fields(t.settings["net.ipv4.tcp_allowed_congestion_control"].Value), now) {
		return nil, fmt.Errorf("%s could not be put back on %s: tcp_allowed_congestion_control does not name it", now, t.host)
	}
	return []set{{key, "bbr"}}, nil
}

// wantSwappiness: 10, not C16's 0, which since Linux 3.5 swaps only when the
// alternative is to kill (sysctl/vm.rst, swappiness).
func wantSwappiness(t *target, _ diagnose.Finding) ([]set, error) {
	return []set{{"vm.swappiness", strconv.Itoa(diagnose.LittleSwapping)}}, nil
}

// backgroundDirty bytes are written at once: a quarter of what the finding
// takes for much, and a fraction of a second of any disk.
const backgroundDirty = 64 * planning.MiB

func wantWriteback(t *target, _ diagnose.Finding) ([]set, error) {
	if n, err := t.number("vm.dirty_background_bytes"); err == nil && n > 0 && n <= backgroundDirty {
		return nil, errSet
	}
	return []set{{"vm.dirty_background_bytes", strconv.Itoa(backgroundDirty)}}, nil
}

func wantHugePages(*target, diagnose.Finding) ([]set, error) {
	return []set{{evidence.HugePages, "madvise"}}, nil
}

func wantOvercommit(*target, diagnose.Finding) ([]set, error) {
	return []set{{"vm.overcommit_memory", "1"}}, nil
}

func wantScheduler(_ *target, f diagnose.Finding) ([]set, error) {
	for _, s := range f.Settings {
		if s.Name == evidence.DiskScheduler(f.Subject["disk"]) {
			return []set{{s.Name, s.To}}, nil
		}
	}
	return nil, errors.New("the finding names no scheduler")
}
