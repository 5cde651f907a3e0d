package foreign

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/load"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// judged is what Kasoku makes of an output.
func judged(t testing.TB, c Command, stdout, stderr []byte, exit int) (*load.Result, error) {
	t.Helper()
	c.Argv = []string{"bench"}
	r, err := Compile(nil, c, "", "")
	if err != nil {
		t.Fatal(err)
	}
	res := &load.Result{Window: 2 * time.Second, Started: time.Unix(1, 0)}
	return res, r.judge(readOutput(stdout, stderr, exit), res)
}

func TestFormats(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	for _, c := range []struct {
		file, stderr string
		exit         int
		engine       string
		score        float64
		requests     int64
		succeeded    int64
		mismatches   int64
		timeouts     int64
		errors       int64
		workload     int
		latency      load.Percentiles
		sample       string // in the first sample
	}{
		{file: "wrk.txt", engine: "wrk", score: 88204.17, requests: 97020, succeeded: 97020, workload: 4, latency: load.Percentiles{Mean: 45970, Max: 2270 * us}},
		{file: "wrk-latency.txt", engine: "wrk", score: 89816.03, requests: 98775, succeeded: 98775, workload: 4, latency: load.Percentiles{Mean: 43460, P50: 42 * us, P90: 59 * us, P99: 87 * us, Max: 1100 * us}},
		{file: "wrk-errors.txt", engine: "wrk", requests: 42616, mismatches: 42616, workload: 2, latency: load.Percentiles{Mean: 46430, Max: 1960 * us}, sample: "Non-2xx or 3xx responses: 42616"},
		{file: "wrk-read-errors.txt", engine: "wrk", errors: 31171, workload: 2, sample: "read 31171"},
		{file: "wrk-timeouts.txt", engine: "wrk", workload: 2},
		// Times of a second and more have a unit of one letter and a space behind it.
		{file: "wrk-slow.txt", engine: "wrk", score: 2.64, requests: 16, succeeded: 16, workload: 4, latency: load.Percentiles{Mean: 1310 * ms, P50: 1330 * ms, P90: 1780 * ms, P99: 1840 * ms, Max: 1840 * ms}},
		{file: "wrk2.txt", engine: "wrk", score: 2000.28, requests: 60018, succeeded: 60018, workload: 100, latency: load.Percentiles{Mean: 6600 * us, P50: 6670 * us, P90: 9140 * us, P99: 11180 * us, Max: 12500 * us}},
		{file: "ab.txt", engine: "ab", score: 36142.84, requests: 2000, succeeded: 2000, workload: 4, latency: load.Percentiles{Mean: 111 * us}},
		{file: "ab-errors.txt", engine: "ab", requests: 2000, mismatches: 2000, workload: 4, latency: load.Percentiles{Mean: 28 * us}, sample: "Non-2xx responses:      2000"},
		// 32866 answers in 1.0006 s; by Little's law 3.3 connections were busy.
		{file: "hey.txt", engine: "hey", score: 32846.29, requests: 32866, succeeded: 32866, workload: 3, latency: load.Percentiles{Mean: 100 * us, P50: 100 * us, P90: 200 * us, P95: 200 * us, P99: 700 * us, Max: 7900 * us}},
		{file: "hey-errors.txt", engine: "hey", requests: 26324, mismatches: 26324, workload: 5, latency: load.Percentiles{Mean: 200 * us, P50: 100 * us, P90: 200 * us, P95: 200 * us, P99: 2200 * us, Max: 9 * ms}, sample: "status 503"},
		{file: "hey-refused.txt", engine: "hey", errors: 20, sample: "connection refused"},
		{file: "hey-timeouts.txt", engine: "hey", timeouts: 4, sample: "deadline exceeded"},
		{file: "bombardier.txt", engine: "bombardier", score: 69643.62, requests: 69604, succeeded: 69604, workload: 4, latency: load.Percentiles{Mean: 56360, Max: 5340 * us}},
		{file: "bombardier-full.txt", engine: "bombardier", score: 55675.61, requests: 55788, succeeded: 55788, workload: 4, latency: load.Percentiles{Mean: 70550, Max: 14450 * us}},
		{file: "bombardier-errors.txt", engine: "bombardier", requests: 71686, mismatches: 71686, workload: 4, latency: load.Percentiles{Mean: 54590, P50: 29 * us, P90: 85 * us, P95: 123 * us, P99: 519 * us, Max: 7890 * us}, sample: "status 5xx"},
		{file: "bombardier-refused.txt", engine: "bombardier", errors: 20, latency: load.Percentiles{Mean: 48950, Max: 305 * us}, sample: "connection refused"},
		{file: "bombardier.json", engine: "bombardier", score: 46269.31, requests: 46265, succeeded: 46265, workload: 4, latency: load.Percentiles{Mean: 85032, P50: 77 * us, P90: 144 * us, P95: 173 * us, P99: 245 * us, Max: 3727 * us}},
		{file: "vegeta-ok.txt", engine: "vegeta", score: 200.95, requests: 200, succeeded: 200, latency: load.Percentiles{Mean: 209170, P50: 182013, P90: 277370, P95: 354750, P99: 822023, Max: 1497 * us}},
		{file: "vegeta-errors.txt", engine: "vegeta", requests: 200, mismatches: 200, latency: load.Percentiles{Mean: 204252, P50: 160421, P90: 257972, P95: 300786, P99: 865848, Max: 5394 * us}, sample: "503 Service Temporarily Unavailable"},
		{file: "vegeta-ok.json", engine: "vegeta", score: 200.948, requests: 200, succeeded: 200, latency: load.Percentiles{Mean: 209170, P50: 182013, P90: 277370, P95: 354750, P99: 822023, Max: 1497421}},
		{file: "vegeta-errors.json", engine: "vegeta", requests: 200, mismatches: 200, latency: load.Percentiles{Mean: 204252, P50: 160421, P90: 257972, P95: 300786, P99: 865848, Max: 5393742}, sample: "503 Service Temporarily Unavailable"},
		{file: "k6.txt", engine: "k6", score: 9442.24, requests: 9552, succeeded: 9552, workload: 4, latency: load.Percentiles{Mean: 346250, P50: 159650, P90: 633740, P95: 1230 * us, Max: 17960 * us}},
		{file: "k6-noisy.txt", engine: "k6", score: 10379.985, requests: 10417, succeeded: 10417, workload: 4, latency: load.Percentiles{Mean: 337010, P50: 219640, P90: 560410, P95: 912890, Max: 15720 * us}},
		{file: "k6-checks.txt", engine: "k6", requests: 20176, mismatches: 20176, workload: 4, latency: load.Percentiles{Mean: 159880, P50: 103830, P90: 292710, P95: 396510, Max: 6780 * us}, sample: "check failed: status is 200"},
		// Exit status 99 with a summary: the benchmark ran and said no.
		{file: "k6-thresholds.txt", stderr: "k6-thresholds.err", exit: 99, engine: "k6", requests: 19335, mismatches: 19335, workload: 2, latency: load.Percentiles{Mean: 82110, P50: 57160, P90: 122540, P95: 174700, Max: 13460 * us}, sample: "thresholds on metrics 'http_req_failed' have been crossed"},
		{file: "k6-v1.txt", engine: "k6", score: 6.56109, requests: 45, succeeded: 45, workload: 1, latency: load.Percentiles{Mean: 140360 * us, P50: 140960 * us, P90: 146880 * us, P95: 148210 * us, Max: 154630 * us}},
		{file: "k6-export.json", engine: "k6", score: 14957.565, requests: 14960, succeeded: 14960, workload: 4, latency: load.Percentiles{Mean: 224067, P50: 156218, P90: 423214, P95: 530924, Max: 8296562}},
		{file: "k6-export-checks.json", engine: "k6", requests: 22174, mismatches: 22174, workload: 4, latency: load.Percentiles{Mean: 145902, P50: 95685, P90: 275576, P95: 386424, Max: 4232888}, sample: "22174 requests or checks failed"},
		{file: "k6-handle.json", engine: "k6", score: 14514.25, requests: 14521, succeeded: 14521, workload: 2, latency: load.Percentiles{Mean: 103048, P50: 74155, P90: 153894, P95: 204673, Max: 7879178}},
		{file: "k6-handle-thresholds.json", exit: 99, engine: "k6", requests: 13538, mismatches: 13538, workload: 2, latency: load.Percentiles{Mean: 121487, P50: 72354, P90: 141846, P95: 251447, Max: 13901340}, sample: "thresholds on metrics 'http_req_failed' have been crossed"},
		{file: "oha.txt", engine: "oha", score: 10017.03, requests: 50000, succeeded: 50000, workload: 10, latency: load.Percentiles{Mean: ms, P50: ms, P90: 1200 * us, P95: 1200 * us, P99: 1300 * us, Max: 2600 * us}},
		{file: "oha-429.txt", engine: "oha", score: 5.3332, requests: 601, succeeded: 160, mismatches: 441, workload: 16, latency: load.Percentiles{Mean: 821300 * us, P50: 173500 * us, P90: 2766300 * us, P95: 3187100 * us, P99: 3520200 * us, Max: 3923500 * us}, sample: "status 429"},
		{file: "oha.json", engine: "oha", score: 500, requests: 1090, succeeded: 1000, mismatches: 90, timeouts: 1, errors: 10, workload: 1, latency: load.Percentiles{Mean: 2 * ms, P50: 2 * ms, P90: 4 * ms, P95: 5 * ms, P99: 10 * ms, Max: 50 * ms}, sample: "status 500"},
		{file: "isucon-private-isu.txt", engine: "isucon", score: 1857, requests: 2005, succeeded: 1994, mismatches: 11, sample: "リクエストがタイムアウトしました (GET /)"},
		{file: "isucon-cli.txt", engine: "isucon", score: 1710, requests: 1436, succeeded: 1434, mismatches: 2},
		{file: "isucon5.txt", engine: "isucon", score: 268.9, requests: 269, succeeded: 269},
		{file: "isucon7.txt", engine: "isucon", score: 2120, requests: 2120, succeeded: 2120, sample: "timed out (POST /login)"},
		{file: "isucon7-fail.txt", engine: "isucon", requests: 1, mismatches: 1, sample: "did not pass: the check before the load failed"},
		{file: "isucon9.txt", engine: "isucon", score: 2310, requests: 2310, succeeded: 2310, sample: "POST /login"},
		{file: "isucon9-fail.txt", engine: "isucon", requests: 1, mismatches: 1, sample: "did not pass: POST /initialize"},
		{file: "isucon11.txt", engine: "isucon", score: 1234, requests: 1299, succeeded: 1234, mismatches: 65, timeouts: 12, sample: "validation: mismatch: GET /api/isu"},
		{file: "isucon11-fail.txt", exit: 1, engine: "isucon", requests: 1, mismatches: 1, sample: "Critical error"},
		{file: "isucon11-final.txt", engine: "isucon", score: 1234, requests: 1299, succeeded: 1234, mismatches: 65, timeouts: 12},
		{file: "isucon11-final-fail.txt", engine: "isucon", requests: 65, mismatches: 65, timeouts: 12, sample: "did not pass: failed"},
		{file: "isucon12.txt", engine: "isucon", score: 990, requests: 991, succeeded: 990, mismatches: 1, sample: "validation-error"},
		{file: "isucon12-fail.txt", exit: 1, engine: "isucon", requests: 3, mismatches: 3, sample: "PASSED: false"},
		{file: "slog-text.txt", engine: "isucon", score: 3490, requests: 3490, succeeded: 3490},
		{file: "slog-fail.json", engine: "isucon", requests: 1, mismatches: 1, sample: "did not pass"},
		// What follows RESULT: is a table of counts, no judgement.
		{file: "isucandar.txt", engine: "isucon", score: 2841, requests: 2841, succeeded: 2841, sample: "timeout"},
		{file: "isucon13.txt", engine: "isucon", score: 3481, requests: 3481, succeeded: 3481},
	} {
		t.Run(c.file, func(t *testing.T) {
			var stderr []byte
			if c.stderr != "" {
				stderr = fixture(t, c.stderr)
			}
			res, err := judged(t, Command{}, fixture(t, c.file), stderr, c.exit)
			if err != nil {
				t.Fatal(err)
			}
			if res.Engine != c.engine || math.Abs(res.Score-c.score) > 1e-3*math.Max(1, c.score) {
				t.Errorf("engine %s, score %v; want %s, %v", res.Engine, res.Score, c.engine, c.score)
			}
			got := []int64{res.Requests, res.Succeeded, res.Mismatches, res.Timeouts, res.Errors, int64(res.Workload)}
			want := []int64{c.requests, c.succeeded, c.mismatches, c.timeouts, c.errors, int64(c.workload)}
			for i, name := range []string{"requests", "succeeded", "mismatches", "timeouts", "errors", "workload"} {
				if got[i] != want[i] {
					t.Errorf("%s %d, want %d", name, got[i], want[i])
				}
			}
			if res.Latency != c.latency {
				t.Errorf("latency %+v\nwant    %+v", res.Latency, c.latency)
			}
			switch {
			case c.sample == "" && len(res.Samples) > 0:
				t.Errorf("samples %+v", res.Samples)
			case c.sample != "" && (len(res.Samples) == 0 || !strings.Contains(res.Samples[0].Got, c.sample)):
				t.Errorf("first sample %+v, want one with %q", res.Samples, c.sample)
			}
			// Each is also read when its name is given.
			if _, err := judged(t, Command{Format: c.engine}, fixture(t, c.file), stderr, c.exit); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoResult: a benchmark that could not run is an error that says what to do.
func TestNoResult(t *testing.T) {
	for _, c := range []struct {
		name           string
		command        Command
		stdout, stderr string
		exit           int
		want           []string
	}{
		{"refused wrk", Command{}, "", string(fixture(t, "wrk-refused.txt")), 1, []string{"ended with 1", "unable to connect"}},
		{"refused ab", Command{}, "", string(fixture(t, "ab-refused.txt")), 111, []string{"ended with 111", "Connection refused"}},
		{"nothing", Command{}, "", "", 0, []string{"no format that is known", "load.command.score", "printed nothing"}},
		{"a number with a name", Command{}, "warm 7\nall done, total points = 1,234.5 of 9\nlines: 3\n", "tick 3\n", 0,
			[]string{"write load.command.score: {regexp: 'points\\s*=\\s*([\\d.,]+)'} if 1,234.5 is it", "lines: 3\ntick 3"}},
		{"two numbers with names", Command{}, "total: 9\nops: 5\n", "", 0,
			[]string{"{regexp: 'ops\\s*:\\s*([\\d.,]+)'} if 5 is it, or {regexp: 'total\\s*:\\s*([\\d.,]+)'} if 9 is it"}},
		{"other words", Command{}, "all good\n", "", 0, []string{"wrk, ab, k6", "all good"}},
		{"wrong format named", Command{Format: "k6"}, string(fixture(t, "wrk.txt")), "", 0, []string{"as that of k6", "summary is missing"}},
		{"no match", Command{Score: &Value{Regexp: `points: (\d+)`}}, "score 3\n", "", 0, []string{"no score", `points: (\d+) matches nothing`, "score 3"}},
		{"no number", Command{Score: &Value{Regexp: `score: (\w+)`}}, "score: NaN\n", "", 0, []string{`"NaN"`, "not a number"}},
		{"no path", Command{Score: &Value{JSON: "$.points"}}, `{"score":3}`, "", 0, []string{"$.points matches nothing"}},
		{"no requests", Command{Score: &Value{Regexp: `\d+`}, Requests: &Value{JSON: "$.n"}}, "7", "", 0, []string{"load.command.requests", "$.n matches nothing"}},
		{"no latency", Command{Score: &Value{Regexp: `\d+`}, Latency: &Latency{P99: &Value{JSON: "$.n"}}}, "7", "", 0, []string{"load.command.latency.p99"}},
		{"died before the score", Command{Score: &Value{Regexp: `score: (\d+)`}}, "panic: oh", "", 2, []string{"ended with 2", "panic: oh"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := judged(t, c.command, []byte(c.stdout), []byte(c.stderr), c.exit)
			if err == nil {
				t.Fatalf("no error, but %+v", res)
			}
			for _, w := range append(c.want, "load.command (bench)") {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in: %v", w, err)
				}
			}
		})
	}
}

// TestCustom: what kasoku.yaml says goes before the format.
func TestCustom(t *testing.T) {
	score := &Value{Regexp: `score: ([0-9.,]+)`}
	for _, c := range []struct {
		name      string
		command   Command
		stdout    string
		exit      int
		score     float64
		requests  int64
		succeeded int64
		mism      int64
		errors    int64
		p99       time.Duration
	}{
		{"last match", Command{Score: score}, "score: 1\nscore: 1,234.5\n", 0, 1234.5, 1235, 1235, 0, 0, 0},
		{"json with everything", Command{Format: Custom, Score: &Value{JSON: "$.r.score"}, Requests: &Value{JSON: "$.n"}, Errors: &Value{JSON: "$.bad[0]"}, Latency: &Latency{Unit: "us", P99: &Value{JSON: "$.p99"}}},
			"log\n{\"r\":{\"score\":\"12\"},\"n\":100,\"bad\":[4],\"p99\":1500}\n", 0, 12, 100, 96, 0, 4, 1500 * time.Microsecond},
		{"latency with a unit", Command{Score: score, Latency: &Latency{P99: &Value{Regexp: `p99=(\S+)`}}}, "score: 3 p99=1.5s", 0, 3, 3, 3, 0, 0, 1500 * time.Millisecond},
		{"latency in ms", Command{Score: score, Latency: &Latency{P99: &Value{Regexp: `p99=(\S+)`}}}, "score: 3 p99=1.5", 0, 3, 3, 3, 0, 0, 1500 * time.Microsecond},
		{"fail_if", Command{Score: score, FailIf: &Pattern{Regexp: `(?i)wrong`}}, "score: 3\nWRONG answer", 0, 0, 1, 0, 1, 0, 0},
		{"fail_if without a score", Command{Score: score, FailIf: &Pattern{Regexp: `wrong`}}, "wrong answer", 1, 0, 1, 0, 1, 0, 0},
		{"exit status with a score", Command{Score: score}, "score: 3\n", 1, 0, 1, 0, 1, 0, 0},
		{"negative score", Command{Score: &Value{Regexp: `score: (\S+)`}}, "score: -3\n", 0, -3, 0, 0, 0, 0, 0},
		{"zero score", Command{Score: score}, "score: 0\n", 0, 0, 0, 0, 0, 0, 0},
		{"score beside a known format", Command{Score: &Value{Regexp: `Transfer/sec: *([0-9.]+)MB`}}, string(fixture(t, "wrk.txt")), 0, 106.24, 97020, 97020, 0, 0, 0},
		{"colours and progress lines", Command{Score: score}, "\x1b[32m1%\r50%\rscore: \x1b[1m7\x1b[0m\n", 0, 7, 7, 7, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := judged(t, c.command, []byte(c.stdout), nil, c.exit)
			if err != nil {
				t.Fatal(err)
			}
			if res.Score != c.score || res.Requests != c.requests || res.Succeeded != c.succeeded || res.Mismatches != c.mism || res.Errors != c.errors || res.Latency.P99 != c.p99 {
				t.Errorf("%+v", res)
			}
			if strings.Contains(c.name, "score") && !strings.Contains(c.name, "known") && res.Engine != Custom {
				t.Errorf("engine %s", res.Engine)
			}
			if (c.mism+c.errors > 0) != (len(res.Samples) > 0) {
				t.Errorf("samples %+v", res.Samples)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		command    Command
		path, want string
	}{
		{Command{}, "argv", "missing"},
		{Command{Argv: []string{"b"}, Format: "k7"}, "format", "wrk, ab, k6"},
		{Command{Argv: []string{"b"}, Format: "custom"}, "format", "needs a score"},
		{Command{Argv: []string{"b"}, Score: &Value{}}, "score", "write either"},
		{Command{Argv: []string{"b"}, Score: &Value{Regexp: "a", JSON: "$.a"}}, "score", "write either"},
		{Command{Argv: []string{"b"}, Score: &Value{Regexp: "("}}, "score", "RE2"},
		{Command{Argv: []string{"b"}, Score: &Value{Regexp: "(a)(b)"}}, "score", "2 groups"},
		{Command{Argv: []string{"b"}, Errors: &Value{JSON: "a.b"}}, "errors", "does not begin with $"},
		{Command{Argv: []string{"b"}, Latency: &Latency{Unit: "h"}}, "latency.unit", "write ns, us, ms or s"},
		{Command{Argv: []string{"b"}, Latency: &Latency{P50: &Value{}}}, "latency.p50", "write either"},
		{Command{Argv: []string{"b"}, FailIf: &Pattern{}}, "fail_if.regexp", "missing"},
		{Command{Argv: []string{"b"}, FailIf: &Pattern{Regexp: "["}}, "fail_if.regexp", "RE2"},
		{Command{Argv: []string{"b"}, Environment: map[string]string{"A=B": ""}}, "environment", "NAME: value"},
		{Command{Argv: []string{"b"}, Timeout: 7 * time.Hour}, "timeout", "too long"},
		{Command{Argv: []string{"b"}, Timeout: time.Second, Warmup: time.Second}, "warmup", "time limit of 1s"},
	} {
		got := c.command.Check()
		if len(got) != 1 || got[0].Path != c.path || !strings.Contains(got[0].Text, c.want) {
			t.Errorf("%+v: %+v, want %s: …%s…", c.command, got, c.path, c.want)
		}
	}
	good := Command{Argv: []string{"b"}, Score: &Value{JSON: "$.a"}, Latency: &Latency{Unit: "s", Mean: &Value{Regexp: "1"}}}
	if got := good.Check(); len(got) != 0 {
		t.Error(got)
	}
}

// TestDocuments: the result is found wherever it stands.
func TestDocuments(t *testing.T) {
	const result = `{"pass":true,"score":7,"messages":[]}`
	for name, out := range map[string]string{
		"alone":                      result,
		"after a log":                "starting\n[info] {not json}\n" + result + "\n",
		"over several lines":         "log\n{\n  \"pass\": true,\n  \"score\": 7\n}\ndone\n",
		"after a log of JSON lines":  strings.Repeat("{\"level\":\"info\",\"score\":{}}\n", 4000) + result,
		"after many broken lines":    strings.Repeat("{oh\n", 5000) + result,
		"after many unclosed braces": strings.Repeat("{\"a\":[\n", 5000) + result,
		"before other JSON":          result + "\n{\"level\":\"info\"}\n",
	} {
		var res *load.Result
		var err error
		took := await.CPU(t, func() { res, err = judged(t, Command{}, []byte(out), nil, 0) })
		if err != nil || res.Score != 7 || res.Engine != "isucon" {
			t.Errorf("%s: %v %v %v", name, res.Engine, res.Score, err)
		}
		if took > 5*time.Second {
			t.Errorf("%s: %s", name, took)
		}
	}
}

// FuzzJudge: no output makes a format panic, run for long or tell nonsense.
func FuzzJudge(f *testing.F) {
	files, err := filepath.Glob("testdata/*.[tjc]*")
	if err != nil || len(files) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, name := range files {
		f.Add(fixture(f, filepath.Base(name)), 0)
	}
	for _, text := range []string{siege3, h2loadNew, locustOld, jmeterRun, jtlRows, gatling3, gatling311, artillery1, artillery2, k6Full} {
		f.Add([]byte(text), 0)
	}
	f.Fuzz(func(t *testing.T, out []byte, exit int) {
		for _, name := range append(Formats(), "") {
			c := Command{Format: name}
			if name == Custom {
				c.Score = &Value{Regexp: `score\D*(\S+)`}
			}
			res, err := judged(t, c, out, nil, exit)
			if err != nil {
				continue
			}
			if math.IsNaN(res.Score) || math.IsInf(res.Score, 0) || math.IsNaN(res.RequestsPerSecond) {
				t.Fatalf("%s: score %v, %v/s", name, res.Score, res.RequestsPerSecond)
			}
			if min(res.Requests, res.Succeeded, res.Mismatches, res.Timeouts, res.Errors, int64(res.Workload)) < 0 || len(res.Samples) > load.MaxSamples {
				t.Fatalf("%s: %+v", name, res)
			}
		}
	})
}
