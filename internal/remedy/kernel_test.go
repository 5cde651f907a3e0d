package remedy_test

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// kernelWorld is remedytest's with a kernel that has its defaults.
func kernelWorld(files map[string]string) remedy.Input {
	in := remedytest.World(files)
	settings := map[string]evidence.KernelSetting{}
	for k, v := range map[string]string{
		"net.core.somaxconn": "4096", "net.ipv4.tcp_max_syn_backlog": "512", "net.ipv4.ip_local_port_range": "32768 60999",
		"net.ipv4.ip_local_reserved_ports": "", "net.ipv4.tcp_tw_reuse": "2", "net.ipv4.tcp_timestamps": "1", "net.ipv4.tcp_fin_timeout": "60",
		"net.ipv4.tcp_max_tw_buckets": "32768", "net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304",
		"net.core.rmem_max": "212992", "net.core.wmem_max": "212992", "net.ipv4.tcp_congestion_control": "cubic",
		"net.ipv4.tcp_available_congestion_control": "reno cubic bbr", "net.ipv4.tcp_allowed_congestion_control": "reno cubic",
		"net.core.netdev_max_backlog": "1000", "net.netfilter.nf_conntrack_max": "65536", "vm.swappiness": "60",
		"vm.overcommit_memory": "0", "vm.dirty_background_bytes": "0", "vm.dirty_background_ratio": "10", "fs.file-max": "100000",
		evidence.HugePages: "always", evidence.DiskScheduler("sda"): "bfq", evidence.DiskRotates("sda"): "0",
	} {
		settings[k] = evidence.KernelSetting{Value: v, Writable: true}
	}
	in.Snapshot.Kernel = map[string]map[string]evidence.KernelSetting{"local": settings}
	in.Evidence.System.Host = "local"
	in.Evidence.System.MemoryTotal, in.Evidence.System.MemoryAvailable = 8<<30, 4<<30
	return in
}

// kernelBecomes lists the settings that a plan leads to.
func kernelBecomes(p remedy.Plan) string {
	var out []string
	for _, c := range p.Changes {
		if c.Kind == change.KindSysctl {
			out = append(out, c.Variable+"="+c.AfterValue)
		}
	}
	return strings.Join(out, "; ")
}

func TestPlanKernel(t *testing.T) {
	for _, c := range []struct {
		id    string
		sign  func(s *evidence.System)
		want  string // what kernelBecomes says
		file  string // what the permanent file says
		where string
	}{
		{"kernel.ports", func(s *evidence.System) {
			s.TCP.PortRange, s.TCP.PortsUsed = 28232, 28000
			s.TCP.Queues = []evidence.AcceptQueue{{Listen: "127.0.0.1:11211"}, {Listen: "[::]:443"}}
		}, "net.ipv4.ip_local_reserved_ports=11211; net.ipv4.ip_local_port_range=10000 65535; net.ipv4.tcp_tw_reuse=1", "net.ipv4.ip_local_port_range = 10000 65535", change.SysctlFile},
		{"kernel.time-wait", func(s *evidence.System) {
			s.TimeWait, s.TCP.TimeWaitOverflow, s.TCP.States = 32768, 5, map[string]int{"FIN-WAIT-2": 2000}
		}, "net.ipv4.tcp_fin_timeout=10; net.ipv4.tcp_max_tw_buckets=65536", "tcp_fin_timeout = 10", change.SysctlFile},
		{"kernel.tcp-buffers", func(s *evidence.System) { s.Kernel.Collapsed = 50 },
			"net.ipv4.tcp_rmem=4096 131072 16777216; net.ipv4.tcp_wmem=4096 16384 16777216; net.core.rmem_max=16777216; net.core.wmem_max=16777216", "tcp_rmem", change.SysctlFile},
		{"kernel.congestion", func(s *evidence.System) { s.TCP.Segments, s.TCP.Retransmits = 10000, 400 }, "net.ipv4.tcp_congestion_control=bbr", "bbr", change.SysctlFile},
		{"kernel.softnet", func(s *evidence.System) { s.Kernel.SoftnetDropped = 9 }, "net.core.netdev_max_backlog=4096", "4096", change.SysctlFile},
		{"kernel.conntrack", func(s *evidence.System) { s.Kernel.Tracked, s.Kernel.TrackedMax = 65000, 65536 }, "net.netfilter.nf_conntrack_max=131072", "131072", change.SysctlFile},
		{"kernel.files", func(s *evidence.System) { s.OpenFiles, s.FileMax = 90000, 100000 }, "fs.file-max=200000", "fs.file-max", change.SysctlFile},
		{"kernel.swappiness", func(s *evidence.System) { s.SwapIn = 100 }, "vm.swappiness=10", "vm.swappiness = 10", change.SysctlFile},
		{"kernel.writeback", func(s *evidence.System) {
			s.Dirty, s.Disks = 1<<30, []evidence.DiskUse{{Name: "sda", Writes: 50, WriteLatency: 1e8}}
		}, "vm.dirty_background_bytes=67108864", "67108864", change.SysctlFile},
		{"kernel.huge-pages", func(s *evidence.System) { s.Kernel.CompactStalls = 90 }, evidence.HugePages + "=madvise", "w " + evidence.HugePages + " - - - - madvise\n", change.TmpfilesFile},
		{"kernel.io-scheduler", func(s *evidence.System) { s.Disks = []evidence.DiskUse{{Name: "sda", Busy: 0.9}} },
			evidence.DiskScheduler("sda") + "=none", "w " + evidence.DiskScheduler("sda") + " - - - - none\n", change.TmpfilesFile},
	} {
		t.Run(c.id, func(t *testing.T) {
			in := kernelWorld(nil)
			c.sign(&in.Evidence.System)
			p := remedytest.Want(t, in, c.id)
			if kernelBecomes(p) != c.want {
				t.Errorf("it becomes %s\nwant %s", kernelBecomes(p), c.want)
			}
			remedytest.Has(t, remedytest.After(p, c.where), c.file)
			for _, ch := range p.Changes {
				if ch.Host != "local" || ch.Service != "" || ch.Kind == change.KindSysctl && (ch.Command == "" || ch.BeforeValue == "" && ch.Variable != "net.ipv4.ip_local_reserved_ports") {
					t.Errorf("change %+v", ch)
				}
			}
			if len(p.Trades) > 0 {
				t.Errorf("trades %v", p.Trades)
			}
			// Read-only: told, and nothing is planned.
			for k, s := range in.Snapshot.Kernel["local"] {
				s.Writable = false
				in.Snapshot.Kernel["local"][k] = s
			}
			remedytest.WantNone(t, in, c.id, "cannot be set on local")
			// No such key in this kernel.
			in.Snapshot.Kernel["local"] = map[string]evidence.KernelSetting{"net.core.somaxconn": {Value: "1", Writable: true}}
			in.Stack.Regulation.Allow = remedytest.AllTrades()
			if _, res := remedytest.Plan(t, in); slices.ContainsFunc(res.Plans, func(p remedy.Plan) bool { return p.Remedy == c.id }) {
				t.Error("it is planned for a kernel without the key")
			}
		})
	}
}

// What is set already, or cannot be put back, is not planned.
func TestPlanKernelLeft(t *testing.T) {
	for _, c := range []struct {
		id         string
		sign       func(s *evidence.System)
		key, value string
		says       string
	}{
		{"kernel.softnet", func(s *evidence.System) { s.Kernel.SoftnetDropped = 9 }, "net.core.netdev_max_backlog", "65536", "is 65536 already"},
		{"kernel.congestion", func(s *evidence.System) { s.TCP.Segments, s.TCP.Retransmits = 10000, 400 }, "net.ipv4.tcp_congestion_control", "vegas", "could not be put back"},
		{"kernel.congestion", func(s *evidence.System) { s.TCP.Segments, s.TCP.Retransmits = 10000, 400 }, "net.ipv4.tcp_congestion_control", "bbr", "set so already"},
		{"kernel.congestion", func(s *evidence.System) { s.TCP.Segments, s.TCP.Retransmits = 10000, 400 }, "net.ipv4.tcp_available_congestion_control", "reno cubic", "no BBR"},
		{"kernel.tcp-buffers", func(s *evidence.System) { s.Kernel.Pruned = 50 }, "net.ipv4.tcp_rmem", "4096 131072 33554432", "who reads is too slow"},
		{"kernel.time-wait", func(s *evidence.System) { s.TimeWait = 5000 }, "net.ipv4.tcp_tw_reuse", "2", "no setting shortens TIME_WAIT"},
		{"kernel.files", func(s *evidence.System) { s.OpenFiles, s.FileMax = 90000, 100000 }, "fs.file-max", "many", "no number"},
		{"kernel.swappiness", func(s *evidence.System) { s.SwapIn = 100 }, "vm.swappiness", "10", ""},
		{"kernel.huge-pages", func(s *evidence.System) { s.Kernel.CompactStalls = 90 }, evidence.HugePages, "madvise", ""},
		{"kernel.io-scheduler", func(s *evidence.System) { s.Disks = []evidence.DiskUse{{Name: "sda", Busy: 0.9}} }, evidence.DiskScheduler("sda"), "none", ""},
	} {
		in := kernelWorld(nil)
		c.sign(&in.Evidence.System)
		in.Snapshot.Kernel["local"][c.key] = evidence.KernelSetting{Value: c.value, Writable: true}
		remedytest.WantNone(t, in, c.id, c.says)
	}
}

// A file of Kasoku's own is edited, not replaced.
func TestPlanKernelKeepFiles(t *testing.T) {
	in := kernelWorld(nil)
	for p, text := range map[string]string{change.SysctlFile: "# mine\nvm.swappiness = 30\nnet.core.somaxconn=9999\n",
		change.TmpfilesFile: "w /sys/x - - - - 1\nw " + evidence.HugePages + " - - - - always\n"} {
		in.Snapshot.Files["local"][p] = evidence.File{Content: []byte(text), Hash: "h", Mode: 0o600, UID: 3, GID: 4, Writable: true}
	}
	in.Evidence.System.SwapIn, in.Evidence.System.Kernel.CompactStalls = 100, 90
	p := remedytest.Want(t, in, "kernel.swappiness")
	if got := remedytest.After(p, change.SysctlFile); got != "# mine\nvm.swappiness = 10\nnet.core.somaxconn=9999\n" {
		t.Errorf("file:\n%s", got)
	}
	if a := p.Changes[0].After; p.Changes[0].Before == nil || a.Mode != 0o600 || a.UID != 3 || a.GID != 4 {
		t.Errorf("attributes %+v", a)
	}
	if got := remedytest.After(remedytest.Want(t, in, "kernel.huge-pages"), change.TmpfilesFile); got != "w /sys/x - - - - 1\nw "+evidence.HugePages+" - - - - madvise\n" {
		t.Errorf("file:\n%s", got)
	}
}

func fullQueue(in remedy.Input, service, listen string) {
	in.Evidence.System.TCP.Queues = []evidence.AcceptQueue{{Listen: listen, Service: service, Longest: 128, Limit: 128}}
	in.Snapshot.Kernel["local"]["net.core.somaxconn"] = evidence.KernelSetting{Value: "128", Writable: true}
}

func TestPlanBacklog(t *testing.T) {
	for _, c := range []struct{ service, listen, file, want string }{
		{"web", "0.0.0.0:8080", remedytest.NginxPath, "backlog=4096"},
		{"db", "127.0.0.1:3306", remedytest.MyCnfPath, "back_log"},
	} {
		in := kernelWorld(nil)
		fullQueue(in, c.service, c.listen)
		p := remedytest.Want(t, in, "kernel.backlog")
		remedytest.Has(t, remedytest.After(p, c.file), c.want)
		if kernelBecomes(p) != "net.core.somaxconn=4096; net.ipv4.tcp_max_syn_backlog=4096" {
			t.Errorf("it becomes %s", kernelBecomes(p))
		}
		// The kernel's limit counts when the server begins to listen.
		if _, restarted := remedy.Services(p.Changes); !slices.Equal(restarted, []string{c.service}) {
			t.Errorf("restarted: %v", restarted)
		}
	}
	// The kernel allows enough: nginx's own number, by a reload.
	in := kernelWorld(nil)
	fullQueue(in, "web", "0.0.0.0:8080")
	for _, k := range []string{"net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog"} {
		in.Snapshot.Kernel["local"][k] = evidence.KernelSetting{Value: "4096", Writable: true}
	}
	p := remedytest.Want(t, in, "kernel.backlog")
	if _, restarted := remedy.Services(p.Changes); len(restarted) > 0 || kernelBecomes(p) != "" {
		t.Errorf("restarted %v, %s", restarted, kernelBecomes(p))
	}
	// A program that asks for enough by itself only listens again.
	in = kernelWorld(nil)
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "api", Kind: stack.App})
	fullQueue(in, "api", "127.0.0.1:9999")
	p = remedytest.Want(t, in, "kernel.backlog")
	if last := p.Changes[len(p.Changes)-1]; last.Kind != change.KindRestart || last.Service != "api" {
		t.Errorf("last %+v", last)
	}
	// All is as large as it gets.
	in = kernelWorld(nil)
	fullQueue(in, "", "0.0.0.0:8080")
	for _, k := range []string{"net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog"} {
		in.Snapshot.Kernel["local"][k] = evidence.KernelSetting{Value: "65535", Writable: true}
	}
	remedytest.WantNone(t, in, "kernel.backlog", "whoever accepts is too slow")
}

func TestPlanServiceFiles(t *testing.T) {
	for _, c := range []struct{ service, file, want string }{
		{"web", remedytest.NginxPath, "worker_rlimit_nofile 4096;"},
		{"php", remedytest.FPMPath, "rlimit_files = 4096"},
		{"db", remedytest.MyCnfPath, "open_files_limit"},
	} {
		in := kernelWorld(nil)
		use := in.Evidence.Services[c.service]
		use.OpenFiles, use.FileLimit = 1000, 1024
		in.Evidence.Services[c.service] = use
		remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "kernel.files"), c.file), c.want)
	}
	in := kernelWorld(nil)
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "api", Kind: stack.App})
	in.Evidence.Services["api"] = evidence.ServiceUse{OpenFiles: 1000, FileLimit: 1024}
	remedytest.WantNone(t, in, "kernel.files", "ulimit -n 4096")
	const unit = "/lib/systemd/system/api.service"
	in.Stack.Service("api").Control = stack.Control{Unit: "api"}
	in.Snapshot.Files["local"][unit] = evidence.File{Content: []byte("[Service]\nExecStart=/srv/api\nLimitNOFILE=1024:2048\n"), Service: "api"}
	p := remedytest.Want(t, in, "kernel.files")
	if got := remedytest.After(p, "/etc/systemd/system/api.service.d/zz-kasoku.conf"); got != "[Service]\nLimitNOFILE=4096\n" || p.Changes[0].Kind != change.KindDir {
		t.Errorf("%q, %+v", got, p.Changes)
	}
	// A database raises its own limit as far as its unit lets it.
	for limit, want := range map[string]bool{"": false, "LimitNOFILE=32768": false, "LimitNOFILE=infinity": false, "LimitNOFILE=2048": true, "LimitNOFILE=1024:4095": true} {
		in := kernelWorld(nil)
		in.Stack.Service("db").Control = stack.Control{Unit: "mariadb"}
		in.Snapshot.Files["local"]["/lib/systemd/system/mariadb.service"] = evidence.File{Content: []byte("[Service]\nExecStart=/usr/sbin/mariadbd\n" + limit + "\n"), Service: "db"}
		use := in.Evidence.Services["db"]
		use.OpenFiles, use.FileLimit = 1000, 1024
		in.Evidence.Services["db"] = use
		p := remedytest.Want(t, in, "kernel.files")
		if got := remedytest.After(p, "/etc/systemd/system/mariadb.service.d/zz-kasoku.conf"); (got != "") != want || want && got != "[Service]\nLimitNOFILE=4096\n" {
			t.Errorf("%s: %q", limit, got)
		}
	}
}

// A regulation may keep the kernel as it is.
func TestPlanKernelForbidden(t *testing.T) {
	in := kernelWorld(nil)
	in.Evidence.System.SwapIn = 100
	in.Stack.Regulation.NoTouch = []string{"kernel"}
	_, res := remedytest.Plan(t, in)
	if !slices.ContainsFunc(res.Refusals, func(r remedy.Refusal) bool { return r.Plan.Remedy == "kernel.swappiness" }) {
		t.Errorf("it is not refused: %v", remedytest.IDs(res.Plans))
	}
}
