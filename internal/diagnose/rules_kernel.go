package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

const needKernel = "kernel settings and counters"

// kernelRules are signs of limits of the kernel, beside those of systemRules.
var kernelRules = []Rule{
	{"tcp.syn-queue", []string{"C16"}, needSystem, judgeSynQueue},
	{"tcp.buffers", []string{"C16"}, needSystem, judgeTCPBuffers},
	{"net.softnet", []string{"C16"}, needSystem, judgeSoftnet},
	{"net.busy-poll", []string{"C16"}, needKernel, judgeBusyPoll},
	{"net.conntrack", []string{"C16", "L12"}, needSystem, judgeConntrack},
	{"system.swapping", []string{"C16"}, needKernel, judgeSwapping},
	{"system.writeback", []string{"C16", "C26"}, needKernel, judgeWriteback},
	{"system.huge-pages", []string{"C16"}, needKernel, judgeHugePages},
	{"system.overcommit", []string{"C16"}, needKernel, judgeRedisFork},
	{"disk.scheduler", []string{"C26"}, needKernel, judgeScheduler},
}

// setting of the kernel of a run's host; "" if it was not read. Runs stored
// before hosts had names are of the only host.
func (m *model) setting(host, key string) string {
	if s, ok := m.in.Snapshot.Kernel[host]; ok {
		return s[key].Value
	}
	if len(m.in.Snapshot.Kernel) == 1 && host == "" {
		for _, s := range m.in.Snapshot.Kernel {
			return s[key].Value
		}
	}
	return ""
}

// number of a setting of the kernel.
func (m *model) settingNumber(host, key string) (float64, bool) {
	return number(m.setting(host, key))
}

// kernelUnread says why nothing can be said of a host's settings.
func (m *model) kernelUnread() string {
	if len(m.in.Snapshot.Kernel) == 0 {
		return "the kernel's settings were not read"
	}
	return ""
}

// onHost names the host that a finding without a service is about.
func onHost(s *evidence.System) map[string]string { return map[string]string{"host": s.Host} }

// judgeSynQueue: half-open connections found their queue full.
func judgeSynQueue(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		k := s.Kernel
		if k.SynDropped+k.SynCookies == 0 {
			return nil
		}
		f := about("", "The queue of half-open connections is full",
			fmt.Sprintf("%d connections were answered with a SYN cookie and %d were dropped because the queue of half-open connections was full. It is as long as the listener's backlog, and without SYN cookies as tcp_max_syn_backlog.", k.SynCookies, k.SynDropped),
			"/proc/net/netstat: TCPReqQFullDoCookies, TCPReqQFullDrop").
			asks(Setting{Name: "net.ipv4.tcp_max_syn_backlog", Now: m.setting(s.Host, "net.ipv4.tcp_max_syn_backlog"), Up: 1})
		f.Subject = onHost(s)
		return []Finding{f.bounded(m.boundWait())}
	}), ""
}

// judgeTCPBuffers: receive queues outgrew their buffers, so packets were
// merged or thrown away.
func judgeTCPBuffers(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		k := s.Kernel
		// A few are one slow reader.
		if k.Pruned+k.Collapsed < 10 {
			return nil
		}
		f := about("", "TCP's receive buffers are too small",
			fmt.Sprintf("%d times a receive queue outgrew its buffer and %d packets were merged to make room: the buffer may not grow beyond tcp_rmem's third number.", k.Pruned, k.Collapsed),
			"/proc/net/netstat: PruneCalled, TCPRcvCollapsed").
			asks(Setting{Name: "net.ipv4.tcp_rmem", Now: m.setting(s.Host, "net.ipv4.tcp_rmem"), Up: 1})
		f.Subject = onHost(s)
		return []Finding{f.bounded(m.boundWait())}
	}), ""
}

// judgeSoftnet: packets came faster than the kernel took them.
func judgeSoftnet(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		k := s.Kernel
		if k.SoftnetDropped == 0 {
			return nil
		}
		f := about("", "The kernel's queue of received packets is full",
			fmt.Sprintf("%d packets were dropped because a CPU's queue of netdev_max_backlog packets was full; %d rounds ended with packets left (netdev_budget).", k.SoftnetDropped, k.SoftnetSqueezed),
			"/proc/net/softnet_stat").
			asks(Setting{Name: "net.core.netdev_max_backlog", Now: m.setting(s.Host, "net.core.netdev_max_backlog"), Up: 1})
		f.Subject = onHost(s)
		return []Finding{f.bounded(m.boundWait())}
	}), ""
}

func judgeConntrack(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		k := s.Kernel
		if k.TrackedMax <= 0 || float64(k.Tracked) < nearPorts*float64(k.TrackedMax) {
			return nil
		}
		f := about("", "The table of tracked connections is nearly full",
			fmt.Sprintf("%d of %d connections are tracked (nf_conntrack_max); beyond that every packet of a new connection is dropped.", k.Tracked, k.TrackedMax),
			"/proc/sys/net/netfilter/nf_conntrack_count").
			asks(Setting{Name: "net.netfilter.nf_conntrack_max", Now: fmt.Sprint(k.TrackedMax), Up: 1})
		f.Subject = onHost(s)
		return []Finding{f.bounded(m.boundWait())}
	}), ""
}

const (
	// enoughAvailable of all memory: what is swapped then made room for file
	// pages, not for processes.
	enoughAvailable = 0.1
	// swapRate in pages a second, as in judgeLowMemory.
	swapRate = 10
	// LittleSwapping is a swappiness that prefers processes to file pages
	// strongly, and still swaps before it kills.
	LittleSwapping = 10
)

// judgeSwapping: pages of processes are swapped although there is memory.
func judgeSwapping(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		now, ok := m.settingNumber(s.Host, "vm.swappiness")
		if !ok || now <= LittleSwapping || s.SwapIn+s.SwapOut < swapRate || float64(s.MemoryAvailable) < enoughAvailable*float64(s.MemoryTotal) {
			return nil
		}
		f := about("", "Processes are swapped although memory is available",
			fmt.Sprintf("%.0f pages a second came from swap and %.0f went there while %s were available at the least: vm.swappiness = %.0f gives up pages of processes for the page cache.", s.SwapIn, s.SwapOut, size(s.MemoryAvailable), now),
			"/proc/vmstat, vm.swappiness").asks(Setting{Name: "vm.swappiness", Now: fmt.Sprint(now), To: fmt.Sprint(LittleSwapping), Up: -1})
		f.Subject = onHost(s)
		return []Finding{f.bounded(m.boundWait())}
	}), m.kernelUnread()
}

// muchDirty bytes that wait to be written are seconds of a disk's whole speed.
const muchDirty = 256 << 20

// judgeWriteback: much is held back and then written at once, and everybody's
// writes wait for it.
func judgeWriteback(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		if s.Dirty < muchDirty || m.setting(s.Host, "vm.dirty_background_ratio")+m.setting(s.Host, "vm.dirty_background_bytes") == "" {
			return nil
		}
		slow := ""
		for _, d := range s.Disks {
			// As in busyDisks: a healthy disk answers well below 20 ms.
			if d.WriteLatency.Seconds() >= 0.02 && d.Writes >= 10 {
				slow = fmt.Sprintf("%s takes %s for a write", d.Name, seconds(d.WriteLatency.Seconds()))
			}
		}
		if slow == "" {
			return nil
		}
		f := about("", "Writes are held back and then come at once",
			fmt.Sprintf("%s waited to be written at the end, and %s. Writing earlier (a lower vm.dirty_background limit) keeps the disk's queue short.", size(s.Dirty), slow),
			"/proc/meminfo: Dirty, /proc/diskstats").asks(Setting{Name: "vm.dirty_background_bytes", Now: m.setting(s.Host, "vm.dirty_background_bytes")})
		f.Subject = onHost(s)
		return []Finding{f.bounded(m.boundWait())}
	}), m.kernelUnread()
}

// fewStalls a second are noise of an idle khugepaged.
const fewStalls = 10

// judgeHugePages: huge pages for everybody, and somebody who suffers from them.
func judgeHugePages(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		if m.setting(s.Host, evidence.HugePages) != "always" {
			return nil
		}
		var cites []string
		for _, svc := range m.in.Stack.OfKind(stack.Redis) {
			if m.hostOf(svc.Name) == s.Host && m.hugeRedis(svc) {
				cites = append(cites, svc.Name+" is Redis: after each fork (snapshot, rewrite) a write to any key copies 2 MiB instead of 4 KiB, and it does not turn huge pages off for itself (disable-thp, since 6.2)")
			}
		}
		if s.Kernel.CompactStalls >= fewStalls {
			cites = append(cites, fmt.Sprintf("%.0f times a second an allocation waited for a huge page to be put together (compact_stall)", s.Kernel.CompactStalls))
		}
		if len(cites) == 0 {
			return nil
		}
		f := about("", "Every process gets huge pages", strings.Join(cites, "; ")+". With madvise only those get huge pages that ask for them.", cites...).
			asks(Setting{Name: evidence.HugePages, Now: "always", To: "madvise"})
		f.Subject = onHost(s)
		return []Finding{f.bounded(m.boundWait())}
	}), m.kernelUnread()
}

// hugeRedis: a Redis that uses the huge pages that it gets.
func (m *model) hugeRedis(svc *stack.Service) bool {
	if v := m.versionOf(svc); v != "" && !VersionAtLeast(v, "6.2") {
		return true
	}
	return m.redisSays(svc, "disable-thp") == "no"
}

// redisSays is the last word of a directive in the files of a Redis, in lower
// case; "" if no line is there.
func (m *model) redisSays(svc *stack.Service, name string) string {
	said := ""
	for _, f := range m.in.Snapshot.Files[svc.HostName()] {
		if f.Service != svc.Name {
			continue
		}
		for line := range strings.Lines(string(f.Content)) {
			if w := strings.Fields(strings.ToLower(line)); len(w) > 1 && w[0] == name {
				said = strings.Trim(w[1], `"'`)
			}
		}
	}
	return said
}

// judgeRedisFork: Redis forks to save, and the kernel may refuse it (C16 set
// overcommit_memory 2, which refuses such forks as a rule).
func judgeRedisFork(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.Redis) {
		s := m.in.Evidence.On(svc.HostName())
		values := m.in.Evidence.Counters[svc.Name].Value
		saves := values["aof_enabled"] == "1" || values["config.save"] != ""
		if s == nil || !saves {
			continue
		}
		mode := m.setting(s.Host, "vm.overcommit_memory")
		used, _ := number(values["used_memory"])
		// With 0 the kernel refuses only what is obviously too much: a copy of
		// more than half of what is left.
		if mode == "" || mode == "1" || mode == "0" && used < 0.5*float64(s.MemoryAvailable) {
			continue
		}
		f := about(svc.Name, "The kernel may refuse "+svc.Name+" the fork that it saves with",
			fmt.Sprintf("vm.overcommit_memory = %s and %s hold %s: a fork is counted as if it copied all of that at once, and saving then fails (\"Can't save in background: fork: Cannot allocate memory\"). With 2, databases and PHP meet the same refusal.", mode, svc.Name, size(int64(used))),
			"vm.overcommit_memory, INFO").asks(Setting{Host: "", Name: "vm.overcommit_memory", Now: mode, To: "1"})
		f.Subject = onHost(s)
		out = append(out, f.bounded(m.boundWait()))
	}
	return out, m.kernelUnread()
}

// fitScheduler is the scheduler for a device: a disk with a head gains from
// order; a device that answers in any order, or orders requests itself, loses
// the time that ordering takes (Documentation/block/switching-sched.rst names
// them; the choice is that of the kernel's own default, elevator_get_default in
// block/elevator.c, for one queue or many).
func fitScheduler(rotates bool) string {
	if rotates {
		return "mq-deadline"
	}
	return "none"
}

// judgeScheduler: a busy disk whose requests are ordered in a way that does
// not fit it.
func judgeScheduler(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		var out []Finding
		for _, d := range s.Disks {
			slow := max(d.WriteLatency, d.ReadLatency).Seconds()
			if d.Busy < 0.5 && (slow < 0.02 || d.Reads+d.Writes < 10) {
				continue
			}
			now := m.setting(s.Host, evidence.DiskScheduler(d.Name))
			rotates, err := strconv.Atoi(m.setting(s.Host, evidence.DiskRotates(d.Name)))
			want := fitScheduler(rotates == 1)
			if now == "" || err != nil || now == want || rotates == 1 && now == "bfq" {
				continue
			}
			what := "has no moving head"
			if rotates == 1 {
				what = "has a moving head"
			}
			f := about("", "Requests to "+d.Name+" are ordered in a way that does not fit it",
				fmt.Sprintf("%s is in use %s of the time, %s, and its scheduler is %s; %s fits it.", d.Name, percent(d.Busy), what, now, want),
				evidence.DiskScheduler(d.Name)).asks(Setting{Name: evidence.DiskScheduler(d.Name), Now: now, To: want})
			f.Subject = onHost(s)
			f.Subject["disk"] = d.Name
			out = append(out, f.bounded(m.boundWait()))
		}
		return out
	}), m.kernelUnread()
}
