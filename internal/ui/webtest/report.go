package webtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// mostReport is the largest report in bytes: what a mail takes.
const mostReport = 2_000_000

// Report opens the report in path as somebody does who got it by mail: as a
// file, without a network. It checks that nothing is asked of anybody, how it
// looks and prints, its size, and that the elements whose IDs want names say
// that text.
func (b *Tab) Report(name, path string, want map[string]string) {
	b.t.Helper()
	if info, err := os.Stat(path); err != nil || info.Size() > mostReport {
		b.t.Errorf("%s: %v, more than %d bytes", path, err, mostReport)
	}
	var mu sync.Mutex
	var asked []string
	chromedp.ListenTarget(b.ctx, func(ev any) {
		if e, ok := ev.(*network.EventRequestWillBeSent); ok && !strings.HasPrefix(e.Request.URL, "file://") && !strings.HasPrefix(e.Request.URL, "data:") {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, e.Request.URL)
		}
	})
	b.Do(network.Enable(), network.EmulateNetworkConditions(true, 0, -1, -1))
	b.Said() // of what was open before
	full, err := filepath.Abs(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Open("file://" + full)
	mu.Lock()
	asked = nil // from here on; what was open before may have tried again
	mu.Unlock()
	b.Open("file://" + full)
	for id, text := range want {
		if got := Eval[string](b, `(document.getElementById("`+id+`")?.textContent || "(none)").replaceAll("\u00a0", " ")`); got != text {
			b.t.Errorf("%s: %s says %q, the store %q", name, id, got, text)
		}
	}
	b.Check(name)
	b.prints(name)
	if said := b.Said(); said != "" {
		b.t.Errorf("%s: %s", name, said)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) > 0 {
		b.t.Errorf("%s asks for %v", name, asked)
	}
	b.Do(network.EmulateNetworkConditions(false, 0, -1, -1))
}

// paper is A4 without the margins that the report sets (16 mm, 15 mm), in
// pixels of 1/96 inch.
var paper = Look{Name: "print", Width: 680, Height: 1000}

// prints: on paper nothing is folded away or wider than the sheet, and a PDF
// comes of it.
func (b *Tab) prints(name string) {
	b.t.Helper()
	b.As(paper)
	b.Do(emulation.SetEmulatedMedia().WithMedia("print"))
	b.Shot(name + "-print")
	if over := Eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		b.t.Errorf("%s: it is %d pixels wider than the paper", name, over)
	}
	if folded := Eval[int](b, `[...document.querySelectorAll("details > :not(summary)")].filter((e) => e.textContent.trim() && !e.getBoundingClientRect().height && getComputedStyle(e).display !== "none").length`); folded > 0 {
		b.t.Errorf("%s: %d parts are folded away on paper", name, folded)
	}
	pdf := b.PDF()
	b.Keep(name+".pdf", pdf)
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
		b.t.Errorf("%s: it does not print: %d bytes", name, len(pdf))
	}
	b.Do(emulation.SetEmulatedMedia().WithMedia(""))
	b.As(Looks[0])
}
