package front_test

import (
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
)

// whereScript is a page that tells who answers, and for whom.
const whereScript = `umask 022; printf '<?php echo "by ", gethostname(), " for ", $_SERVER["REMOTE_ADDR"], " at ", $_SERVER["SERVER_PORT"];' >/var/www/html/where.php`

// TestNginxInFrontOfTwoHosts: clients ask an Apache whose host is busy, and a
// second host could do the same. nginx comes before the first and passes requests
// to both; each knows for whom. Then both hosts are as they were.
func TestNginxInFrontOfTwoHosts(t *testing.T) {
	t.Parallel() // disposable hosts are mostly waited for
	x := startLab(t, 2)
	x.sh(whereScript)
	x.did("set the hosts up")
	first, second, page := x.seenOn("h1"), x.seenOn("h2"), x.page("/where.php")
	client, _, _ := strings.Cut(strings.TrimPrefix(page, "200 OK by h1 for "), " ")
	if page != "200 OK by h1 for "+client+" at 80" || strings.Contains(second, "/var/www/html") {
		t.Fatalf("%s\n%s", page, second)
	}
	p := bed.Want(t, x.plan(&evidence.Evidence{
		System:   evidence.System{Host: "h1", CPUs: 2, User: 18, Idle: 2, ServicesCPU: 18, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30},
		Hosts:    map[string]*evidence.System{"h2": {Host: "h2", CPUs: 2, Idle: 20, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30}},
		Load:     &load.Result{Workload: 20, Window: 10 * time.Second, Requests: 1000, Succeeded: 1000, Routes: []load.RouteResult{{Route: "GET /where.php", Requests: 1000, Total: 80 * time.Second}}},
		Services: map[string]evidence.ServiceUse{"httpd": {CPU: 16, Processes: 20}}}), id)
	if !strings.HasSuffix(p.ID, "nginx.spare-host:front:httpd2") || p.Bound < 1.5 {
		t.Fatalf("%s, at most ×%.2f", p.ID, p.Bound)
	}
	under := x.prepare(p, func() {
		if now := x.page("/where.php"); now != page {
			t.Errorf("while it is prepared: %s, want %s", now, page)
		}
	})
	tx, err := x.exec.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
	if err != nil {
		t.Fatal(err)
	}
	x.did("switched")
	by := map[string]int{}
	for range 40 {
		by[x.page("/where.php")]++
	}
	const tail = " at 80"
	if by[page] == 0 || by["200 OK by h2 for "+client+tail] == 0 || len(by) != 2 {
		t.Errorf("answers with nginx in front: %v", by)
	}
	if err := x.exec.Revert(t.Context(), tx.ID); err != nil {
		t.Fatal(err)
	}
	x.did("put back")
	if now := x.page("/where.php"); now != page {
		t.Errorf("put back: %s, want %s", now, page)
	}
	x.takeAway(under)
	if now := x.seenOn("h1"); now != first {
		t.Errorf("the first host is not as before:\n%s\nit was:\n%s", now, first)
	}
	if now := x.seenOn("h2"); now != second {
		t.Errorf("the second host is not as before:\n%s\nit was:\n%s", now, second)
	}
}
