package capacity

import (
	"strings"
	"testing"
	"time"
)

func TestReadTable(t *testing.T) {
	for _, c := range []struct {
		name, text string
		axis       Axis
		n          []int
		hosts      int
	}{
		{"the least there is", "hosts,rate\n1,480\n2,900\n", Hosts, []int{1, 2}, 0},
		{"comments, blanks, empty lines and other names", "# two machines\nServers, Throughput\n\n 1 , 480\n 2 , 900.5\n", Hosts, []int{1, 2}, 0},
		{"workers on hosts that stay the same", "hosts,workers,rate\n2,1,100\n2,2,190\n", Workers, []int{1, 2}, 2},
		{"users of one host", "users,rate,hosts\n1,100,1\n8,500,1\n", Users, []int{1, 8}, 1},
		{"hosts with the users that loaded them", "hosts,users,rate\n1,8,100\n2,16,190\n", Hosts, []int{1, 2}, 0},
		{"one level only", "users,rate\n8,500\n", Users, []int{8}, 0},
		{"JSON", `[{"hosts": 1, "rate": 480, "p95": "180ms"}, {"hosts": "2", "rate": 900, "p95": null}]`, Hosts, []int{1, 2}, 0},
		{"JSON in an object", `{"levels": [{"nodes": 4, "rate": 480}]}`, Hosts, []int{4}, 0},
		{"as spreadsheets write it", "\ufeffhosts,rate\r\n1,480\r\n2,900\r\n", Hosts, []int{1, 2}, 0},
	} {
		m, err := ReadTable(strings.NewReader(c.text), "t")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var n []int
		for _, l := range m.Levels {
			n = append(n, l.N)
		}
		if m.Axis != c.axis || m.Hosts != c.hosts || len(n) != len(c.n) || n[0] != c.n[0] || n[len(n)-1] != c.n[len(n)-1] {
			t.Errorf("%s: axis %s, N %v, hosts %d", c.name, m.Axis, n, m.Hosts)
		}
	}
}

func TestReadTableFigures(t *testing.T) {
	m, err := ReadTable(strings.NewReader("hosts,users,rate,p95,errors,apdex,latency\n3,24,480,1.5 s,0.2%,0.93,20ms\n"), "levels.csv")
	if err != nil {
		t.Fatal(err)
	}
	l := m.Levels[0]
	if l.Users != 24 || l.Source != "levels.csv, line 2" || l.Figures["p95"] != float64(1500*time.Millisecond) || l.Figures["errors"] != 0.2 ||
		l.Figures["apdex"] != 0.93 || l.Figures[Latency] != float64(20*time.Millisecond) {
		t.Errorf("got %+v", l)
	}
}

// Each message says where it is, what is wrong and what to write.
func TestReadTableRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "hosts,rate and 1,480"},
		{"no rows", "hosts,rate\n", "hosts,rate and 1,480"},
		{"a column that there is not", "hosts,rate,p9 5\n1,2,3\n", `"p9 5" is no column`},
		{"a column twice", "hosts,nodes,rate\n1,1,2\n", "two columns are called hosts"},
		{"no rate", "hosts,p95\n1,20ms\n", "line 2 has no rate"},
		{"no number of anything", "rate\n480\n", "write hosts, workers or users"},
		{"half a host", "hosts,rate\n1.5,480\n", `line 2: hosts is "1.5"; write a whole number`},
		{"no hosts", "hosts,rate\n0,480\n", "line 2"},
		{"a rate that is none", "hosts,rate\n1,480\n2,fast\n", `line 3: rate is "fast"`},
		{"a rate below 0", "hosts,rate\n1,-4\n", "above 0"},
		{"an infinite rate", "hosts,rate\n1,Inf\n", "above 0"},
		{"a latency without a unit", "hosts,rate,p95\n1,480,180\n", "for example 180ms"},
		{"hosts and workers both vary", "hosts,workers,rate\n1,1,100\n2,2,190\n", "both vary"},
		{"a number is missing", "hosts,users,rate\n1,8,100\n2,,190\n", "the column users is empty in some rows"},
		{"a row that is too short", "hosts,rate\n1\n", "wrong number of fields"},
		{"JSON that is none", "[{", "no JSON list"},
		{"JSON with more behind it", "[] []", "something stands behind"},
		{"a list in JSON", `[{"hosts": [1], "rate": 2}]`, "element 1: hosts is neither"},
		{"nothing in JSON", `{}`, "there is no level"},
		{"too long", strings.Repeat("#\n", maxTable), "is longer than"},
	} {
		_, err := ReadTable(strings.NewReader(c.text), "levels.csv")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "levels.csv") {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add("hosts,rate,p95\n1,480,20ms\n2,900,\n")
	f.Add(`[{"hosts": 1, "rate": 480}]`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadTable(strings.NewReader(text), "t")
		if err != nil {
			return
		}
		if len(m.Levels) == 0 || m.Axis == "" {
			t.Fatalf("no error and no level: %+v", m)
		}
		for _, l := range m.Levels {
			if l.N < 1 || !(l.PerSecond > 0) {
				t.Fatalf("level %+v", l)
			}
		}
	})
}
