package diagnose

import (
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// healthyKernel is a kernel with its defaults, on a machine with a fast disk.
func healthyKernel() map[string]map[string]evidence.KernelSetting {
	out := map[string]evidence.KernelSetting{}
	for k, v := range map[string]string{
		"net.core.somaxconn": "4096", "net.ipv4.tcp_max_syn_backlog": "1024", "net.ipv4.tcp_rmem": "4096 131072 6291456",
		"net.ipv4.ip_local_port_range": "32768 60999", "net.ipv4.tcp_tw_reuse": "2", "net.core.netdev_max_backlog": "1000",
		"vm.swappiness": "60", "vm.overcommit_memory": "0", "vm.dirty_background_ratio": "10", "vm.dirty_background_bytes": "0",
		evidence.HugePages: "always", evidence.DiskScheduler("sda"): "none", evidence.DiskRotates("sda"): "0",
	} {
		out[k] = evidence.KernelSetting{Value: v, Writable: true}
	}
	return map[string]map[string]evidence.KernelSetting{"": out}
}

func kernelSays(key, value string) func(*Input) {
	return func(in *Input) {
		for _, s := range in.Snapshot.Kernel {
			s[key] = evidence.KernelSetting{Value: value, Writable: true}
		}
	}
}

// far puts the database on another host, which nobody's CPU waits for.
func far(in *Input) {
	kernelSays("net.core.busy_poll", "0")(in)
	kernelSays("net.core.busy_read", "0")(in)
	in.Stack.Service("db").Host = "db1"
	in.Snapshot.Files["db1"] = map[string]evidence.File{"/m": in.Snapshot.Files["local"]["/m"]}
	in.Evidence.Load.Workload = 64 // all of them wait
	in.Evidence.Load.Routes[0].Total = 640 * time.Second
	in.Evidence.System.Host, in.Evidence.System.User, in.Evidence.System.Sys, in.Evidence.System.Idle = "local", 8, 4, 28
	in.Evidence.System.Networks[0].ReceivePackets = 4000
	in.Evidence.Hosts = map[string]*evidence.System{"db1": {Host: "db1", CPUs: 4, User: 4, Idle: 36}}
	in.Snapshot.Kernel = map[string]map[string]evidence.KernelSetting{"local": in.Snapshot.Kernel[""]}
	config("/f", "= 16", "= 160")(in)
}

// Polling takes CPU: not where it is busy, not on one host, not where somebody
// has chosen, and not for a statement or two.
func TestBusyPollIsRare(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"busy":    system(func(s *evidence.System) { s.User, s.Idle = 22, 14 }),
		"one":     func(in *Input) { in.Stack.Service("db").Host, in.Evidence.Hosts = "", nil },
		"chosen":  kernelSays("net.core.busy_read", "25"),
		"few":     system(func(s *evidence.System) { s.Networks[0].ReceivePackets = 400 }),
		"lo only": system(func(s *evidence.System) { s.Networks[0].Name = "lo" }),
	} {
		in := healthy()
		far(&in)
		change(&in)
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings {
			if f.Rule == "net.busy-poll" {
				t.Errorf("%s: %s", name, f.Text)
			}
		}
	}
}

// healthyPackages are as new as apt has them.
func healthyPackages() map[string][]evidence.Package {
	return map[string][]evidence.Package{"local": {{Name: "nginx", Source: "nginx", Version: "1.22.1-9", Candidate: "1.22.1-9", Programs: []string{"web"}}}}
}

// The signs of rules_kernel.go and rules_packages.go.
func init() {
	signs = append(signs, []struct {
		rule string
		sign func(*Input)
		says string
	}{
		{"tcp.syn-queue", system(func(s *evidence.System) { s.Kernel.SynCookies = 40 }), "40 connections"},
		{"tcp.buffers", system(func(s *evidence.System) { s.Kernel.Pruned = 300 }), "300 times"},
		{"net.softnet", system(func(s *evidence.System) { s.Kernel.SoftnetDropped = 12 }), "12 packets"},
		{"net.busy-poll", far, "eth0 receives 20 packets per request, and php waits"},
		{"net.conntrack", system(func(s *evidence.System) { s.Kernel.Tracked, s.Kernel.TrackedMax = 60000, 65536 }), "60000 of 65536"},
		{"system.swapping", system(func(s *evidence.System) { s.SwapIn, s.SwapOut = 100, 50 }), "100 pages a second"},
		{"system.writeback", system(func(s *evidence.System) {
			s.Dirty = 800 << 20
			s.Disks[0].Writes, s.Disks[0].WriteLatency = 200, 80*time.Millisecond
		}), "800 MiB"},
		{"system.huge-pages", system(func(s *evidence.System) { s.Kernel.CompactStalls = 200 }), "200 times a second"},
		{"system.overcommit", both(value("kv", "config.save", "3600 1"), both(value("kv", "used_memory", "6000000000"), kernelSays("vm.overcommit_memory", "2"))), "vm.overcommit_memory = 2"},
		{"disk.scheduler", both(system(func(s *evidence.System) { s.Disks[0].Busy = 0.9 }), kernelSays(evidence.DiskScheduler("sda"), "bfq")), "bfq"},
		{"version.newer", func(in *Input) { in.Snapshot.Packages["local"][0].Candidate = "1.26.3-1" }, "nginx 1.26.3-1 (now 1.22.1-9)"},
	}...)
}
