// Package kernel plans settings of the kernel and limits of processes.
package kernel

import "kasoku/internal/remedy/planning"

const (
	ipSysctl  = "Linux, Documentation/networking/ip-sysctl.rst"
	netSysctl = "Linux, Documentation/admin-guide/sysctl/net.rst"
	vmSysctl  = "Linux, Documentation/admin-guide/sysctl/vm.rst"
	// putBack is how every setting here is taken back.
	putBack = "the settings' values as they were are written again; `/etc/sysctl.d/99-zz-kasoku.conf` (or `/etc/tmpfiles.d/00-kasoku.conf`) comes back byte for byte or is removed"
)

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "kernel.backlog", Title: "Longer queues of connections to be accepted", Measures: []string{"C16"}, Rules: []string{"tcp.accept-queue", "tcp.syn-queue"},
		Reason: "A connection that finds the queue full is dropped, and the client tries again after a second. The queue is the smaller of the server's backlog and net.core.somaxconn as they were when the server began to listen.",
		Source: ipSysctl + ", somaxconn, tcp_max_syn_backlog; listen(2); nginx documentation, \"listen\": backlog",
		Reach:  0.4, Plan: planBacklog,
		Command: "sysctl -w net.core.somaxconn=4096 net.ipv4.tcp_max_syn_backlog=4096; in nginx `listen 80 backlog=4096;`, then restart nginx (PHP-FPM `listen.backlog`, MariaDB `back_log`, Redis `tcp-backlog`)",
		Undo:    putBack + "; the server's line too, and it is restarted, because a queue keeps the length that it had when its server began to listen",
		Effect:  "a queue of 4 for 20 users: 52 right answers in 1.5 s, 97 with it (one run each, on 2 CPUs that other work shared): go test ./cases/remedies/kernel -run TestKernelBacklog -v",
		Test:    "TestKernelBacklog",
	},
	{
		ID: "kernel.ports", Title: "Wider range of local ports", Measures: []string{"C16", "L12"}, Rules: []string{"tcp.ports"},
		Reason: "Each connection to one address and port needs a local port of its own, also for the minute of TIME_WAIT after it. Ports that servers listen on are reserved, so that no connection keeps one from starting again.",
		Source: ipSysctl + ", ip_local_port_range, ip_local_reserved_ports, tcp_tw_reuse",
		Reach:  0.5, Plan: tuning{"kernel.ports", wantPorts}.plan,
		Command: "sysctl -w net.ipv4.ip_local_reserved_ports=11211 net.ipv4.ip_local_port_range='10000 65535' net.ipv4.tcp_tw_reuse=1",
		Undo:    putBack, Test: "TestKernelPorts",
	},
	{
		ID: "kernel.time-wait", Title: "What the kernel offers against many closed connections", Measures: []string{"C16"}, Rules: []string{"tcp.time-wait"},
		Reason: "tcp_tw_reuse lets the side that connects take a port again after a second. tcp_fin_timeout does not shorten TIME_WAIT (60 s in the kernel's source): it bounds FIN_WAIT_2, where the other side has not closed. tcp_max_tw_buckets keeps sockets from being dropped early. Each is only set where its own sign is there.",
		Source: ipSysctl + ", tcp_tw_reuse, tcp_fin_timeout, tcp_max_tw_buckets",
		Reach:  0.1, Plan: tuning{"kernel.time-wait", wantTimeWait}.plan,
		Command: "sysctl -w net.ipv4.tcp_tw_reuse=1 net.ipv4.tcp_fin_timeout=10", Undo: putBack, Test: "TestKernelSettings",
	},
	{
		ID: "kernel.tcp-buffers", Title: "TCP buffers that may grow to 16 MiB", Measures: []string{"C16"}, Rules: []string{"tcp.buffers"},
		Reason: "The kernel sizes each connection's buffers by itself, up to the third number; what does not fit is thrown away and sent again.",
		Source: ipSysctl + ", tcp_rmem, tcp_wmem; " + netSysctl + ", rmem_max",
		Reach:  0.2, Plan: tuning{"kernel.tcp-buffers", wantBuffers}.plan,
		Command: "sysctl -w net.ipv4.tcp_rmem='4096 131072 16777216' net.ipv4.tcp_wmem='4096 16384 16777216'", Undo: putBack, Test: "TestKernelSettings",
	},
	{
		ID: "kernel.congestion", Title: "BBR where packets are lost", Measures: []string{"C16"}, Rules: []string{"tcp.retransmits"},
		Reason: "CUBIC takes each loss for a full queue and slows down; BBR goes by the path's measured bandwidth and delay.",
		Source: "Cardwell et al. 2016, BBR: Congestion-Based Congestion Control, ACM Queue 14(5); " + ipSysctl + ", tcp_congestion_control",
		Reach:  0.2, Plan: tuning{"kernel.congestion", wantCongestion}.plan,
		Command: "sysctl -w net.ipv4.tcp_congestion_control=bbr", Undo: putBack + "; connections made meanwhile keep BBR until they end", Test: "TestKernelSettings",
	},
	{
		ID: "kernel.softnet", Title: "Longer queue of received packets", Measures: []string{"C16"}, Rules: []string{"net.softnet"},
		Reason: "Packets that come faster than a CPU takes them wait in a queue; beyond its length they are dropped.",
		Source: netSysctl + ", netdev_max_backlog",
		Reach:  0.3, Plan: tuning{"kernel.softnet", one("net.core.netdev_max_backlog", 4, 4096, 65536)}.plan,
		Command: "sysctl -w net.core.netdev_max_backlog=4096", Undo: putBack, Test: "cases/remedies/network/network_test.go:TestNetworkSettings",
	},
	{
		ID: "kernel.busy-poll", Title: "Readers that look at the network device before they sleep", Measures: []string{"C16"}, Rules: []string{"net.busy-poll"},
		Reason: "An answer from another host begins with an interrupt, and the reader that slept must be put on a CPU again. A reader that looks at the device's queue itself for some microseconds spares both, with CPU that must be idle. Only where nothing is full, CPU is less than half busy, and each request waits for many packets of another host.",
		Source: netSysctl + ", busy_poll, busy_read; socket(7), SO_BUSY_POLL",
		Reach:  0.2, Plan: tuning{"kernel.busy-poll", wantBusyPoll}.plan,
		Command: "sysctl -w net.core.busy_read=50 net.core.busy_poll=50", Undo: putBack + "; sockets made meanwhile keep theirs until they are closed", Test: "cases/remedies/network/network_test.go:TestNetworkSettings",
	},
	{
		ID: "kernel.conntrack", Title: "Room for more tracked connections", Measures: []string{"C16", "L12"}, Rules: []string{"net.conntrack"},
		Reason: "When the table is full, packets of new connections are dropped.",
		Source: "Linux, Documentation/networking/nf_conntrack-sysctl.rst, nf_conntrack_max",
		Reach:  0.4, Plan: tuning{"kernel.conntrack", one("net.netfilter.nf_conntrack_max", 2, 65536, 1<<22)}.plan,
		Command: "sysctl -w net.netfilter.nf_conntrack_max=262144", Undo: putBack, Test: "cases/remedies/network/network_test.go:TestNetworkSettings",
	},
	{
		ID: "kernel.files", Title: "More open files", Measures: []string{"L12"}, Rules: []string{"system.files"},
		Reason: "At its limit a server accepts no connection (\"Too many open files\").",
		Source: "getrlimit(2), RLIMIT_NOFILE; Linux, Documentation/admin-guide/sysctl/fs.rst, file-max; nginx documentation, \"worker_rlimit_nofile\"; PHP manual, rlimit_files; MariaDB Knowledge Base, open_files_limit",
		Reach:  0.5, Plan: planFiles,
		Command: "nginx: `worker_rlimit_nofile 4096;` and reload; PHP-FPM: `rlimit_files = 4096`; MariaDB: `open_files_limit = 4096`; the host: sysctl -w fs.file-max=…",
		Undo:    "the server's file comes back byte for byte, with a reload or restart; of the host: " + putBack, Test: "TestKernelPorts",
	},
	{
		ID: "kernel.swappiness", Title: "Less swapping of processes", Measures: []string{"C16"}, Rules: []string{"system.swapping"},
		Reason: "With memory available, pages of processes are worth more than cached files. 10 and not 0: with 0 the kernel rather kills than swaps.",
		Source: vmSysctl + ", swappiness",
		Reach:  0.3, Plan: tuning{"kernel.swappiness", wantSwappiness}.plan,
		Command: "sysctl -w vm.swappiness=10", Undo: putBack, Test: "TestMachineSettings",
	},
	{
		ID: "kernel.writeback", Title: "Dirty pages written earlier", Measures: []string{"C16"}, Rules: []string{"system.writeback"},
		Reason: "Pages that are written when 64 MiB have gathered keep the disk's queue short; a tenth of the memory at once makes every commit wait. Nothing is written later than before.",
		Source: vmSysctl + ", dirty_background_bytes, dirty_background_ratio",
		Reach:  0.2, Plan: tuning{"kernel.writeback", wantWriteback}.plan,
		Command: "sysctl -w vm.dirty_background_bytes=67108864", Undo: putBack + "; vm.dirty_background_ratio, which the kernel sets to 0 with it, is set again", Test: "TestMachineSettings",
	},
	{
		ID: "kernel.huge-pages", Title: "Huge pages only for those that ask", Measures: []string{"C16"}, Rules: []string{"system.huge-pages"},
		Reason: "After a fork each write copies a whole page, 2 MiB instead of 4 KiB; and putting huge pages together makes allocations wait.",
		Source: "Redis documentation, \"Diagnosing latency issues\", transparent huge pages; Linux, Documentation/admin-guide/mm/transhuge.rst",
		Reach:  0.2, Plan: tuning{"kernel.huge-pages", wantHugePages}.plan,
		Command: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; in /etc/tmpfiles.d: `w /sys/kernel/mm/transparent_hugepage/enabled - - - - madvise`", Undo: putBack, Test: "TestMachineSettings",
	},
	{
		ID: "kernel.overcommit", Title: "Let Redis fork to save", Measures: []string{"C16"}, Rules: []string{"system.overcommit"},
		Reason: "A fork shares its memory and copies what is written; counted as a full copy, the kernel refuses it. The value that engineers took, 2 with a ratio of 99, makes such refusals the rule for everybody on the host and is never planned.",
		Source: vmSysctl + ", overcommit_memory; Linux, Documentation/mm/overcommit-accounting.rst; Redis administration, \"overcommit\"",
		Reach:  0.1, Plan: tuning{"kernel.overcommit", wantOvercommit}.plan,
		Command: "sysctl -w vm.overcommit_memory=1", Undo: putBack, Test: "TestMachineSettings",
	},
	{
		ID: "kernel.io-scheduler", Title: "A disk scheduler that fits the disk", Measures: []string{"C26"}, Rules: []string{"disk.scheduler"},
		Reason: "A device without a moving head answers in any order; ordering its requests only takes time.",
		Source: "Linux, Documentation/block/switching-sched.rst; elevator_get_default in block/elevator.c",
		Reach:  0.1, Plan: tuning{"kernel.io-scheduler", wantScheduler}.plan,
		Command: "echo none > /sys/block/sda/queue/scheduler; in /etc/tmpfiles.d: `w /sys/block/sda/queue/scheduler - - - - none`", Undo: putBack, Test: "TestKernelScheduler",
	},
}
