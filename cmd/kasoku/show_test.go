package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// TestShowRun: a run is shown as one page, and with --all completely.
func TestShowRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "kasoku.yaml")
	text := "version: 1\nname: x\nservices:\n  - {name: app, kind: app, root: " + dir + ", listen: [\"127.0.0.1:1\"], control: {start: [\"true\"]}}\nload: {url: \"http://127.0.0.1:1\", scenario: s.yaml}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(filepath.Join(dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	ev := &evidence.Evidence{Load: &load.Result{Requests: 5}}
	for i := range 25 {
		ev.Routes = append(ev.Routes, digest.Route{Method: "GET", Route: fmt.Sprintf("/page%02d/\x1b[31m日本", i), Count: 1, Status: [6]int64{2: 1}})
	}
	for _, r := range []*store.Run{{Kind: store.Diagnostic, Label: "full", Evidence: ev}, {Kind: store.Probe, Label: "bare"}} {
		if err := st.SaveRun(r); err != nil {
			t.Fatal(err)
		}
	}
	st.Close()
	show := func(want int, args ...string) string {
		var out, errs bytes.Buffer
		if code := run(append([]string{"--file", file, "show"}, args...), &out, &errs); code != want {
			t.Errorf("show %v ended with %d, want %d: %s", args, code, want, errs.String())
		}
		return out.String() + errs.String()
	}
	page := show(ui.OK, "1")
	if strings.Contains(page, "/page10/") || !strings.Contains(page, "/page09/") || !strings.Contains(page, "… 15 more: kasoku show 1 --all") || strings.Contains(page, "\x1b") {
		t.Errorf("not a page:\n%s", page)
	}
	if all := show(ui.OK, "run/1", "--all"); !strings.Contains(all, "/page24/") || strings.Contains(all, "more:") {
		t.Errorf("not all:\n%s", all)
	}
	if json := show(ui.OK, "1", "--json"); !strings.Contains(json, `"routes"`) {
		t.Errorf("JSON without routes:\n%s", json)
	}
	if text := show(ui.BadInput, "2"); !strings.Contains(text, "run 2 holds no evidence") {
		t.Error(text)
	}
	show(ui.BadInput, "3")
}
