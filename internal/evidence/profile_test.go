package evidence

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

func frames(names ...string) []stackFrame {
	var out []stackFrame
	for _, n := range names {
		out = append(out, stackFrame{name: n, file: "app.php", line: int64(len(n))})
	}
	return out
}

func TestProfileSharesAreOfAllSamples(t *testing.T) {
	b := newProfileBuilder("wall", 10)
	b.add(frames("leaf", "middle", "main"), 6, 60)
	b.add(frames("middle", "middle", "main"), 3, 30) // recursive: counted once in Total
	b.add(frames("sleep", "main"), 1, 10)
	b.add(nil, 5, 50)
	b.add(frames("leaf"), 0, 0)
	p := Profile{Service: "php", Tool: "excimer", Wall: true, Period: 10}
	if err := p.fill(b.p, 0, 1); err != nil {
		t.Fatal(err)
	}
	want := []ProfileFrame{
		{"leaf", "app.php:4", 0.6, 0.6, false},
		{"middle", "app.php:6", 0.3, 0.9, false},
		{"sleep", "app.php:5", 0.1, 0.1, true},
		{"main", "app.php:4", 0, 1, false},
	}
	if p.Samples != 10 || len(p.Top) != len(want) {
		t.Fatalf("%d samples, %+v", p.Samples, p.Top)
	}
	for i, w := range want {
		g := p.Top[i]
		if math.Abs(g.Self-w.Self)+math.Abs(g.Total-w.Total) > 1e-9 || g.Function != w.Function || g.File != w.File || g.Waiting != w.Waiting {
			t.Errorf("frame %d is %+v, not %+v", i, g, w)
		}
	}
	if busy := p.Busy(); len(busy) != 3 || busy[2].Function != "main" {
		t.Errorf("busy: %+v", busy)
	}
	read, err := profile.Parse(bytes.NewReader(p.Data))
	if err != nil || len(read.Sample) != 3 || read.Period != 10 {
		t.Fatalf("the artifact: %v %v", read, err)
	}
}

// The share of what a function makes is told from that of what others make.
func TestShareWithinAFunction(t *testing.T) {
	const write = "main.(*log).write"
	b := newProfileBuilder("cpu", 10)
	b.add(frames("runtime.mallocgc", "compress/gzip.NewWriter", write, "main.main"), 30, 300)
	b.add(frames("runtime.mallocgc", "compress/gzip.NewWriter", "main.helper", write+".func1", "main.main"), 20, 200)
	b.add(frames("compress/gzip.NewWriter", "main.(*log).writeAll", "main.main"), 40, 400)
	b.add(frames("compress/flate.(*compressor).deflate", write, "main.main"), 110, 1100)
	data := func() []byte {
		var out bytes.Buffer
		if err := b.p.Write(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	share, err := ShareWithin(data(), write, []string{"compress/gzip.NewWriter"})
	if err != nil || math.Abs(share-0.25) > 1e-9 {
		t.Errorf("%v, %v", share, err)
	}
	if _, err := ShareWithin([]byte("no profile"), write, nil); err == nil {
		t.Error("text is a profile")
	}
	b = newProfileBuilder("cpu", 10)
	b.add(frames("compress/gzip.NewWriter", write), 99, 990)
	if share, err := ShareWithin(data(), write, []string{"compress/gzip.NewWriter"}); err != nil || share != 0 {
		t.Errorf("of 99 samples: %v, %v", share, err)
	}
}

// TestProfileKeepsCallers: main has no time of its own, but all of it below.
func TestProfileKeepsCallers(t *testing.T) {
	b := newProfileBuilder("cpu", 10)
	for i := range 100 {
		b.add(frames(fmt.Sprintf("leaf%d", i), fmt.Sprintf("caller%d", i), "main"), int64(100-i), int64(100-i))
	}
	p := Profile{}
	if err := p.fill(b.p, 0, 1); err != nil {
		t.Fatal(err)
	}
	last := p.Top[len(p.Top)-1]
	if len(p.Top) != mostFrames+1 || p.Top[0].Function != "leaf0" || last.Function != "main" || last.Total != 1 {
		t.Errorf("%d: %+v", len(p.Top), p.Top)
	}
}

func TestProfileNamesTheHottestLine(t *testing.T) {
	b := newProfileBuilder("wall", 10)
	b.add([]stackFrame{{"f", "a.php", 7}, {"main", "a.php", 1}}, 2, 20)
	b.add([]stackFrame{{"g", "a.php", 9}, {"f", "a.php", 3}, {"main", "a.php", 2}}, 5, 50)
	p := Profile{}
	if err := p.fill(b.p, 0, 1); err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Top {
		if want := map[string]string{"f": "a.php:7", "g": "a.php:9", "main": "a.php:2"}[f.Function]; f.File != want {
			t.Errorf("%s is at %s, not %s", f.Function, f.File, want)
		}
	}
}

func TestProfileDropsWhatProgramsAttach(t *testing.T) {
	b := newProfileBuilder("cpu", 10)
	b.add(frames("f"), 1, 10)
	b.p.Comments = []string{"secret-comment"}
	b.p.Sample[0].Label = map[string][]string{"user": {"secret-label"}}
	p := Profile{}
	if err := p.fill(b.p, 0, 1); err != nil {
		t.Fatal(err)
	}
	read, err := profile.Parse(bytes.NewReader(p.Data))
	if err != nil || strings.Contains(read.String(), "secret") || len(read.Comments)+len(read.Sample[0].Label) > 0 {
		t.Errorf("%v %v", read, err)
	}
}

func TestProfileRefusesOtherProfiles(t *testing.T) {
	for name, pp := range map[string]*profile.Profile{
		"no values":  {},
		"one value":  {SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}},
		"not valid":  {SampleType: []*profile.ValueType{{}, {}}, Sample: []*profile.Sample{{Value: []int64{1}}}},
		"no mapping": {SampleType: []*profile.ValueType{{}, {}}, Location: []*profile.Location{{ID: 0}}},
	} {
		if err := (&Profile{}).fill(pp, 0, 1); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestWaitingFunctions(t *testing.T) {
	for name, want := range map[string]bool{
		"epoll_wait": true, "__poll": true, "do_epoll_wait": true, "futex_wait_queue": true, "clock_nanosleep": true, "usleep()": true,
		"mysqli_query": true, "PDOStatement::execute": true, "Memcached::get": true, "Redis::hGetAll": true, "runtime.gopark": true, "curl_exec": true,
		"App\\Poll::show": false, "pollution": false, "strlen": false, "JOIN::exec": false, "runtime.mallocgc": false, "PDOStatement::fetchAll": false,
	} {
		if waits(name) != want {
			t.Errorf("waits(%q) is %t", name, !want)
		}
	}
}

// TestWaitingIsSeenFromCPUTime: what matters is the CPU time that was there to
// be had.
func TestWaitingIsSeenFromCPUTime(t *testing.T) {
	b := newProfileBuilder("wall", 10).withCPU()
	b.add(frames("query", "main"), 100, 1000, 50)
	b.add(frames("render", "main"), 100, 1000, 200)
	b.add(frames("few", "main"), 5, 50, 0)
	for chance, want := range map[float64]string{1: "query render", 0.5: "query"} {
		p := Profile{Wall: true}
		if err := p.fill(b.p, 0, 1); err != nil {
			t.Fatal(err)
		}
		p.markWaiting(b.p, chance)
		var got []string
		for _, f := range p.Top {
			if f.Waiting {
				got = append(got, f.Function)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("with %g of a CPU these wait: %v, not %s", chance, got, want)
		}
	}
	for _, c := range []struct{ queue, want float64 }{{0, 1}, {2, 1}, {8, 0.25}} {
		if got := cpuChance(&System{CPUs: 2, RunQueue: c.queue}); got != c.want {
			t.Errorf("run queue %g: %g", c.queue, got)
		}
	}
}

func TestFewSamplesAreTold(t *testing.T) {
	p := Profile{Samples: 25, Period: 10 * time.Millisecond, Top: []ProfileFrame{{Function: "f", Self: 0.5}}}
	if text := p.samplesText(); !strings.Contains(text, "25 samples of 10ms") || !strings.Contains(text, "±20 points") || !strings.Contains(text, "f (50 %)") {
		t.Error(text)
	}
	p.Samples = 5000
	if text := p.samplesText(); strings.Contains(text, "few") {
		t.Error(text)
	}
}

func TestPerfScriptOfMariaDB(t *testing.T) {
	var samples []perfSample
	bad, err := parsePerfScript(bytes.NewReader(fixture(t, "perf_script.txt")), func(s perfSample) { samples = append(samples, s) })
	if err != nil || bad != 0 {
		t.Fatal(bad, err)
	}
	if len(samples) != 41 {
		t.Fatalf("%d samples", len(samples))
	}
	first := samples[0]
	if first.pid != 10034 || first.period != 10101010 || first.at != 1880.049198 || len(first.stack) != 18 {
		t.Errorf("%+v", first)
	}
	if got := first.stack[1]; got != (stackFrame{name: "handler::ha_index_read_map", file: "/usr/sbin/mariadbd"}) {
		t.Errorf("%+v", got)
	}
}

func TestPerfScriptLines(t *testing.T) {
	const text = `12/34  1.5:   10101010 
	ffffffff8100 do_sys_poll ([kernel.kallsyms])
	    7f0edda5 [unknown] ([unknown])
	    7f0edda6 std::map<int, (anonymous namespace)::Row>::find(int const&) (/opt/a b/prog (deleted))
	    7f0edda7 [unknown] (/opt/a b/prog)

12/35  2.5:   1
	               0 [unknown] ([unknown])
nonsense
	without a sample
`
	var got []perfSample
	bad, err := parsePerfScript(strings.NewReader(text), func(s perfSample) { got = append(got, s) })
	if err != nil || bad != 2 || len(got) != 2 {
		t.Fatal(bad, err, got)
	}
	want := []stackFrame{{name: "do_sys_poll", file: "[kernel.kallsyms]"},
		{name: "std::map<int, (anonymous namespace)::Row>::find(int const&)", file: "/opt/a b/prog"}, {name: "[unknown]", file: "/opt/a b/prog"}}
	if len(got[0].stack) != len(want) {
		t.Fatalf("%+v", got[0].stack)
	}
	for i := range want {
		if got[0].stack[i] != want[i] {
			t.Errorf("%+v is not %+v", got[0].stack[i], want[i])
		}
	}
	if got[1].stack[0].name != "[unknown]" {
		t.Errorf("%+v", got[1])
	}
	if _, err := parsePerfScript(strings.NewReader("PERFILE2\x00\x01 binary\n"), func(perfSample) {}); err == nil {
		t.Error("a binary file was accepted")
	}
	if _, err := parsePerfScript(strings.NewReader(""), func(perfSample) {}); err != nil {
		t.Error("no sample is no error:", err)
	}
}

func TestStacks(t *testing.T) {
	const text = "{main}\t/app/index.php:3;App\\login\t/app/user dir/user.php:120 7 2\n\nbroken 4 0\nf\tx.php:1 0 0\nf\tx.php:y 1 1\nx\nf\tx.php:1 5\n{main}\t/a.php:1 0 2\n"
	var got [][]stackFrame
	var counts []int64
	bad, err := parseStacks(strings.NewReader(text), func(s []stackFrame, wall, cpu int64) { got, counts = append(got, s), append(counts, wall, cpu) })
	if err != nil || bad != 5 || len(got) != 2 || !slices.Equal(counts, []int64{7, 2, 0, 2}) {
		t.Fatal(bad, err, got, counts)
	}
	if got[0][0] != (stackFrame{"App\\login", "/app/user dir/user.php", 120}) || got[0][1] != (stackFrame{"{main}", "/app/index.php", 3}) {
		t.Errorf("%+v", got[0])
	}
}

func TestFPMSlowLogOfPHP(t *testing.T) {
	var got [][]stackFrame
	bad, err := parseFPMSlowLog(bytes.NewReader(fixture(t, "fpm_slow.log")), func(s []stackFrame) { got = append(got, s) })
	if err != nil || bad != 0 || len(got) != 3 {
		t.Fatal(bad, err, got)
	}
	for _, s := range got {
		if len(s) != 6 || s[0] != (stackFrame{"usleep", "/srv/app/index.php", 2}) || s[3].name != "{closure}" || s[5] != (stackFrame{"main", "/srv/app/index.php", 4}) {
			t.Errorf("%+v", s)
		}
	}
	if bad, err := parseFPMSlowLog(strings.NewReader("what\n[0x1] f() x:3\n"), func([]stackFrame) { t.Error("no entry") }); bad != 2 || err != nil {
		t.Error(bad, err)
	}
}

func FuzzPerfScript(f *testing.F) {
	if b, err := os.ReadFile("testdata/perf_script.txt"); err == nil {
		f.Add(b[:min(len(b), 4000)])
	}
	f.Add([]byte("1/2 1: 2\n\tff f (x)\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newProfileBuilder("cpu", 10)
		_, _ = parsePerfScript(bytes.NewReader(data), func(s perfSample) { b.add(s.stack, 1, s.period) })
		fuzzFill(t, b.p)
	})
}

func FuzzStacks(f *testing.F) {
	f.Add([]byte("{main}\t/app/index.php:3;App\\login\t/app/user.php:120 7 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newProfileBuilder("wall", 10).withCPU()
		_, _ = parseStacks(bytes.NewReader(data), func(s []stackFrame, wall, cpu int64) { b.add(s, wall, wall*phpPeriod, cpu*phpPeriod) })
		fuzzFill(t, b.p)
	})
}

func FuzzFPMSlowLog(f *testing.F) {
	if b, err := os.ReadFile("testdata/fpm_slow.log"); err == nil {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newProfileBuilder("wall", 10)
		_, _ = parseFPMSlowLog(bytes.NewReader(data), func(s []stackFrame) { b.add(s, 1, 10) })
		fuzzFill(t, b.p)
	})
}

func FuzzPprof(f *testing.F) {
	b := newProfileBuilder("cpu", 10)
	b.add(frames("a", "b"), 1, 10)
	var out bytes.Buffer
	if err := b.p.WriteUncompressed(&out); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		pp, err := parsePprof(bytes.NewReader(data))
		if err != nil {
			return
		}
		p := Profile{}
		_ = p.fill(pp, 0, len(pp.SampleType)-1)
	})
}

// fuzzFill: whatever was read, shares are shares and the artifact can be read.
func fuzzFill(t *testing.T, pp *profile.Profile) {
	t.Helper()
	p := Profile{}
	if err := p.fill(pp, 0, 1); err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Top {
		if !(f.Self >= 0 && f.Self <= 1 && f.Total >= f.Self && f.Total <= 1) {
			t.Fatalf("%+v", f)
		}
	}
	if _, err := profile.Parse(bytes.NewReader(p.Data)); err != nil {
		t.Fatal(err)
	}
}
