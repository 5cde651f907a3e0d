package evidence

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func table(t testing.TB, files ...string) *tcpTable {
	t.Helper()
	table := newTCPTable()
	for _, name := range files {
		parseTCP(fixture(t, name), table.add)
	}
	return table
}

// The capture has connections within the machine that the client closed
// first, that the server closed first, and open ones.
func TestTCPTable(t *testing.T) {
	got := table(t, "proc_net_tcp", "proc_net_tcp6")
	for state, n := range map[string]int{"LISTEN": 5, "ESTAB": 10, "TIME-WAIT": 6, "CLOSE-WAIT": 1, "FIN-WAIT-2": 1} {
		if got.states[state] != n {
			t.Errorf("%s: %d, want %d (%v)", state, got.states[state], n, got.states)
		}
	}
	// Eight client ends go to 127.0.0.1:37491; the server's own ends, two of
	// them in TIME-WAIT, use no port.
	if used, to := got.busiest(32768, 60999); used != 8 || to != "127.0.0.1:37491" {
		t.Errorf("%d ports to %s", used, to)
	}
	if used, to := got.busiest(1, 1000); used != 0 || to != "" {
		t.Errorf("%d ports to %q outside the range", used, to)
	}
}

func TestTCPAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"0100007F:1F90": "127.0.0.1:8080", "00000000:0050": "0.0.0.0:80",
		"0000000000000000FFFF00000100007F:89FF": "127.0.0.1:35327", "00000000000000000000000001000000:01BB": "[::1]:443",
		"B80D0120000000000000000001000000:0001": "[2001:db8::1]:1",
	} {
		got, ok := tcpAddress([]byte(text))
		if !ok || got != netip.MustParseAddrPort(want) {
			t.Errorf("%s: %v %t, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "0100007F", "0100007:1F90", "0100007G:1F90", "0100007F:1F9", "0100007F:XXYY"} {
		if got, ok := tcpAddress([]byte(text)); ok {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestTCPCounters(t *testing.T) {
	begin := parseNetstat(fixture(t, "proc_net_snmp"), "Tcp:")
	if begin["OutSegs"] == 0 || begin["RtoMin"] != 200 {
		t.Fatalf("%v", begin)
	}
	end := map[string]int64{}
	for name, n := range begin {
		end[name] = n
	}
	end["ActiveOpens"] += 1
	end["PassiveOpens"] += 2
	end["RetransSegs"] += 3
	end["OutSegs"] += 4
	end["OutRsts"] += 5
	end["ListenDrops"], end["TCPTimeWaitOverflow"] = 6, 7
	if got := tcpUse(begin, end); got.ActiveOpens != 1 || got.PassiveOpens != 2 || got.Retransmits != 3 || got.Segments != 4 || got.Resets != 5 ||
		got.ListenDrops != 6 || got.TimeWaitOverflow != 7 {
		t.Errorf("%+v", got)
	}
	if low, high, err := parsePortRange(fixture(t, "proc_port_range")); low != 32768 || high != 60999 || err != nil {
		t.Errorf("%d %d %v", low, high, err)
	}
	if _, _, err := parsePortRange([]byte("9 8\n")); err == nil {
		t.Error("a range that ends before it begins gave no error")
	}
}

func TestAcceptQueues(t *testing.T) {
	seen := parseSS(fixture(t, "ss.txt"))
	if len(seen) != 9 {
		t.Fatalf("%+v", seen)
	}
	q := queues{}
	q.see(seen)
	q.see([]listening{{Listen: "127.0.0.1:37491", Queue: 2, Limit: 7}})
	got := q.list(func(listen string) string {
		if listen == "127.0.0.1:14999" {
			return "db"
		}
		return ""
	})
	want := []AcceptQueue{{Listen: "127.0.0.1:37491", Longest: 5, Limit: 7}, {Listen: "unix:/tmp/f/m/lq.sock", Longest: 3, Limit: 5},
		{Listen: "*:35327", Longest: 1, Limit: 9}, {Listen: "127.0.0.1:14999", Service: "db", Limit: 80}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("\n got %v\nwant %v: the longest seen, fullest first; others that nobody waited at are left out", got, want)
	}
	// Several processes listen on one address by SO_REUSEPORT.
	q = queues{}
	q.see([]listening{{Listen: "*:80", Queue: 2, Limit: 10}, {Listen: "*:80", Queue: 3, Limit: 10}})
	if one := q["*:80"]; one.Longest != 5 || one.Limit != 20 {
		t.Errorf("%+v", one)
	}
}

// manySockets is a /proc/net/tcp with n connections in TIME-WAIT.
func manySockets(n int) []byte {
	var b strings.Builder
	b.WriteString("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n")
	for i := range n {
		fmt.Fprintf(&b, "%5d: 0100007F:%04X 0100007F:1F90 06 00000000:00000000 03:0000176F 00000000     0        0 0 3 00000000945452fb                                      \n", i, 32768+i)
	}
	return []byte(b.String())
}

func BenchmarkTCPTable(b *testing.B) {
	data := manySockets(28000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		t := newTCPTable()
		parseTCP(data, t.add)
		if used, _ := t.busiest(32768, 60999); used != 28000 {
			b.Fatal(used)
		}
	}
}

func FuzzSockets(f *testing.F) {
	f.Add(fixture(f, "ss.txt"))
	f.Add(fixture(f, "proc_net_tcp")[:700])
	f.Add(fixture(f, "proc_net_tcp6")[:400])
	f.Add(fixture(f, "proc_net_dev"))
	f.Add(fixture(f, "proc_mountinfo_v1"))
	f.Add([]byte("nr_throttled 5\nthrottled_usec 9\noom_kill 1\nvoluntary_ctxt_switches:\t3\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table := newTCPTable()
		parseTCP(data, table.add)
		table.busiest(0, 65535)
		q := queues{}
		q.see(parseSS(data))
		q.list(func(string) string { return "" })
		parseNetDev(data)
		parseMemory(data)
		parseVMStat(data)
		parseFileNr(data)
		parsePortRange(data)
		parseCPUs(data)
		parseSwitches(data)
		parseCPUMax(data)
		parseLimit(data)
		groups := parseCgroups(data)
		for _, m := range parseCgroupMounts(data) {
			m.levels(groups[""])
		}
		var c cgroupCounts
		c.parseCPUStat(data)
		c.parseOOM(data)
	})
}
