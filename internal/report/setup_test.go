package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

// TestSetup: who repeats a session finds the versions, machines, seed and times
// in every form.
func TestSetup(t *testing.T) {
	m := sample(t)
	m.Kasoku, m.Session.Scenario = "v1.2.3", strings.Repeat("07", 32)
	page, md := strings.ReplaceAll(render(t, HTML, m), "\u00a0", " "), render(t, Markdown, m)
	for name, text := range map[string]string{
		"Kasoku": "v1.2.3", "Stack": "bookshop", "Scenario": "shop, seed 7, engine epoll, hash 070707070707",
		"As found":   "run 1: 8 users, window 10.0 s, warm-up at most 30.0 s (took 4.00 s), configuration 080808080808",
		"Host local": "2 CPUs, 4.00 GiB of memory, Linux 6.1.0-18-amd64",
		"Services":   "db: MariaDB 10.11.6-MariaDB; php: PHP 8.2.29; web: nginx 1.22.1",
	} {
		if want := `<th scope="row">` + name + "</th><td>" + text + "</td>"; !strings.Contains(page, want) {
			t.Errorf("the page does not hold %q", want)
		}
		if want := "| " + name + " | " + mdText(text) + " |"; !strings.Contains(md, want) {
			t.Errorf("Markdown does not hold %q", want)
		}
	}
	var back Model
	if err := json.Unmarshal([]byte(render(t, JSON, m)), &back); err != nil {
		t.Fatal(err)
	}
	if s := back.Setup; back.Kasoku != "v1.2.3" || len(s.Runs) != 2 || len(s.Runs[1].ConfigHash) != 64 || s.Seed != 7 || len(s.Services) != 3 || s.Hosts[0].Memory != 4<<30 {
		t.Errorf("JSON holds %+v", s)
	}
}

// TestSetupOfCaches: what a cache tells itself is its version; what is not known
// is left out.
func TestSetupOfCaches(t *testing.T) {
	run := &store.Run{Evidence: &evidence.Evidence{Load: &load.Result{Window: time.Second}, System: evidence.System{CPUs: 1}, Hosts: map[string]*evidence.System{"db1": {CPUs: 4}},
		Services: map[string]evidence.ServiceUse{"mc": {}, "kv": {}, "app": {}},
		Counters: map[string]evidence.CounterDelta{"mc": {Value: map[string]string{"version": "1.6.18"}}, "kv": {Value: map[string]string{"redis_version": "7.0.15"}}}}}
	m := &Model{Setup: setupOf(run, nil)}
	var all []string
	for _, f := range setupRows(m) {
		all = append(all, f.Name+"="+f.Text())
	}
	if got, want := strings.Join(all, "|"), "As found=run 0: 0 users, window 1.00 s|Host local=1 CPU|Host db1=4 CPUs|Services=app; kv: Redis 7.0.15; mc: memcached 1.6.18"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
