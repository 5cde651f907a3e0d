package main

import (
	"strings"
	"testing"
	"time"
)

const events = `{"Time":"2026-11-27T08:00:00Z","Action":"start","Package":"a"}
{"Time":"2026-11-27T08:00:00Z","Action":"run","Package":"a","Test":"TestX"}
a word of a build
{"Time":"2026-11-27T08:00:02Z","Action":"pass","Package":"a","Test":"TestX/sub","Elapsed":2}
{"Time":"2026-11-27T08:00:02Z","Action":"fail","Package":"a","Test":"TestX","Elapsed":2.5}
{"Time":"2026-11-27T08:00:03Z","Action":"skip","Package":"b","Test":"TestY","Elapsed":0}
{"Time":"2026-11-27T08:00:03Z","Action":"pass","Package":"b","Elapsed":7}
{"Time":"2026-11-27T08:00:04Z","Action":"fail","Package":"a","Elapsed":3}
`

func TestRead(t *testing.T) {
	got, err := read(strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	if got.wall != 4*time.Second || got.sum != 10 || got.failed != 1 || len(got.tests) != 2 {
		t.Errorf("%+v", got)
	}
	var b strings.Builder
	got.print(&b, 1)
	want := `2 packages, 2 tests, 1 failed: 4s; packages one after the other 10s

  seconds  package
      7.0  b

  seconds  test
      2.5  a TestX  (fail)
`
	if b.String() != want {
		t.Errorf("got:\n%s", b.String())
	}
	if _, err := read(strings.NewReader("no event\n")); err == nil {
		t.Error("a file without events is no run")
	}
}
