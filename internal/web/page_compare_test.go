package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/store"
)

// TestCompareResources: two runs side by side tell what each host used, and
// where a right answer's time went.
func TestCompareResources(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	_, page := b.get(fmt.Sprintf("/compare?run=%d&run=%d", p.before, p.after))
	page = strings.ReplaceAll(page, "\u00a0", " ")
	for _, want := range []string{"What the hosts used", `<th scope="row">CPU in use</th><td class="n">90 %</td><td class="n">90 %</td><td class="n">0.0 %</td>`, "Memory in use at most",
		"Resources in use", `<th scope="row">disk</th><td class="n">4.0 %</td><td class="n">4.0 %</td>`, "Time of a right answer", "SELECT b.title FROM cart_items"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
}

// TestCompareWithoutEvidence: a run that holds no evidence is compared by what
// it has.
func TestCompareWithoutEvidence(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	bare := &store.Run{Kind: store.Scored, Label: "only a score", Started: begun, Score: 238}
	must(t, p.store.SaveRun(bare))
	path := fmt.Sprintf("/compare?run=%d&run=%d", p.before, bare.ID)
	status, page := b.get(path)
	page = strings.ReplaceAll(page, "\u00a0", " ")
	checkPage(t, path, page)
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, page)
	}
	for _, want := range []string{fmt.Sprintf("Run %d holds no evidence", bare.ID), `<th scope="row">Score</th><td class="n">119</td><td class="n">238</td><td class="n">×2.00</td>`,
		`<th scope="row">Right answers/s</th><td class="n">119</td><td class="n">–</td><td class="n"></td>`, `<th scope="row">CPU in use</th><td class="n">90 %</td><td class="n">–</td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	if strings.Contains(page, `id="cpu"`) {
		t.Error("CPU of one run alone")
	}
}

// TestHostUse: several hosts are told apart, what a kernel does not tell is left
// out, and a host that one run does not know is no zero.
func TestHostUse(t *testing.T) {
	sys := func(host string, user float64) evidence.System {
		return evidence.System{Host: host, CPUs: 2, User: user, Idle: 20 - user, PressureCPU: 40, PressureIO: -1, PressureMemory: -1}
	}
	db := sys("db1", 5)
	one := &store.Run{Evidence: &evidence.Evidence{System: sys("web1", 10), Hosts: map[string]*evidence.System{"db1": &db}}}
	two := &store.Run{Evidence: &evidence.Evidence{System: sys("web1", 15)}}
	var got []string
	for _, r := range hostUse(one, two) {
		got = append(got, r.Name+" "+r.A+" "+r.B)
	}
	if want := "db1: CPU in use 25 % –|db1: Some task waited for CPU 40 % –|web1: CPU in use 50 % 75 %|web1: Some task waited for CPU 40 % 40 %"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
}
