package front_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
)

const id = "apache.nginx-in-front"

// TestNginxInFront: clients and the application see the same with nginx in
// front as without, Apache's log has the same lines, pages are kept where that
// was planned, later rounds find nginx and plan for it, and all comes back.
func TestNginxInFront(t *testing.T) {
	x := startSite(t)
	x.logged(0)
	before, oldest := x.answers(), x.oldest()
	lines, hash := x.logged(asked), x.bed.Hash(t)
	if !strings.Contains(before, "REMOTE_ADDR=127.0.0.2") || !strings.Contains(before, "403 Forbidden") {
		t.Fatal(before)
	}
	files := x.files()
	reg := bed.Relaxed()
	reg.Staleness = 5 * time.Minute // so that nothing expires meanwhile
	in := x.bed.Look(t, reg)
	p := bed.Want(t, remedy.PlanAll(in), id)
	if p.Fresh == nil || len(p.Prepare) > 0 || !slices.Contains(p.Trades, regulation.Staleness) {
		t.Fatalf("fresh %v, prepare %v, trades %v", p.Fresh, p.Prepare, p.Trades)
	}

	t.Run("with pages", func(t *testing.T) {
		tx := x.bed.Apply(t, p)
		x.bed.Answers(t, "pages kept")
		x.ask("127.0.0.2", "GET", "http://"+x.address+"/", "") // in the cache from here
		was := x.made()
		for range 20 {
			x.ask("127.0.0.2", "GET", "http://"+x.address+"/", "")
		}
		if n := x.made() - was; n != 0 {
			t.Errorf("20 requests of strangers were made %d times", n)
		}
		x.ask("127.0.0.2", "GET", "http://"+x.address+"/", "", "Cookie: session=1")
		if n := x.made() - was; n != 1 {
			t.Errorf("a request with a cookie was made %d times", n)
		}
		for _, again := range x.bed.PlansUnder(t, reg).Plans {
			if again.Remedy == id || again.Remedy == "nginx.page-cache" {
				t.Errorf("%s is planned although it is in force", again.ID)
			}
		}
		x.bed.Revert(t, tx)
	})
	x.asFound(before, hash, files)

	// As if Apache's processes were all in use.
	for i := range in.Diagnosis.Findings {
		if f := &in.Diagnosis.Findings[i]; f.Rule == "apache.front" {
			f.Subject = map[string]string{"about": diagnose.FrontForWorkers, "front": "front"}
		}
	}
	p = bed.Want(t, remedy.PlanAll(in), id)

	t.Run("refused by nginx", func(t *testing.T) {
		broken := bed.Write(t, x.dir, "nginx/conf.d/zz.conf", "no_such_directive on;\n")
		_, err := x.bed.Exec.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
		if err == nil || !strings.Contains(err.Error(), "no_such_directive") {
			t.Errorf("nginx refuses its configuration, and Kasoku says %v", err)
		}
		if err := os.Remove(broken); err != nil {
			t.Fatal(err)
		}
	})
	x.asFound(before, hash, files)

	t.Run("alone", func(t *testing.T) {
		if p.Fresh != nil || !slices.Equal(p.Trades, []regulation.Trade{regulation.Security}) { // Require ip is there
			t.Errorf("fresh %v, trades %v", p.Fresh, p.Trades)
		}
		var tx change.Tx
		t.Logf("switched; clients had no answer for %s at most", x.longestGap(func() { tx = x.bed.Apply(t, p) }))
		x.logged(0)
		if now := x.answers(); now != before {
			t.Errorf("with nginx in front:\n%s\nwithout:\n%s", now, before)
		}
		if now := x.oldest(); now != oldest {
			t.Errorf("HTTP/1.0 without a Host: %s, before %s", now, oldest)
		}
		if now := x.logged(asked); now != lines {
			t.Errorf("Apache logs:\n%s\nbefore:\n%s", now, lines)
		}
		x.bed.Answers(t, "in front")
		bed.Want(t, x.bed.Plans(t), "nginx.page-cache") // a later round acts on what there is now
		t.Logf("put back; clients had no answer for %s at most", x.longestGap(func() { x.bed.Revert(t, tx) }))
	})
	x.asFound(before, hash, files)
}

// asFound expects that nothing is left of nginx.
func (x *site) asFound(answers, hash, files string) {
	x.t.Helper()
	if x.runs() {
		x.t.Error("nginx still runs")
	}
	if now := x.files(); now != files {
		x.t.Errorf("files are\n%s\nwere\n%s", now, files)
	}
	if x.bed.Hash(x.t) != hash {
		x.t.Error("the target is not as before")
	}
	if now := x.answers(); now != answers {
		x.t.Errorf("after undo:\n%s\nbefore:\n%s", now, answers)
	}
}

// files are all of both servers, with their links and times.
func (x *site) files() string {
	x.t.Helper()
	out := bed.Output(x.t, "sh", "-c", `cd "$1" && find apache2 nginx -path '*/mods-available' -prune -o -printf '%p %m %u %g %l\n' -type f -printf '%p %T@\n' -exec sha256sum {} + | sort`, "sh", x.dir)
	left, _ := filepath.Glob("/dev/shm/kasoku-pages-front*")
	return out + strings.Join(left, "\n")
}
