package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestClock(t *testing.T) {
	const file = "internal/tune/a_test.go"
	test := func(body string) map[string]string {
		return map[string]string{file: "package tune\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\nfunc f(t T, begun, end time.Time) {\n" + body + "\n}\n"}
	}
	listed := func(list string, files map[string]string) map[string]string {
		files[clockList] = list
		return files
	}
	const sleep = "time.Sleep(1)"
	for _, c := range []struct {
		why   string
		files map[string]string
		want  string // "" for no violation
	}{
		{"a sleep", test(sleep), "a_test.go:9: a test that sleeps"},
		{"a sleep that is handed on", test("g(time.Sleep)"), "a test that sleeps"},
		{"a sleep in other words", test("<-time.After(1)"), "a test that sleeps"},
		{"a limit beside an event", test("select {\ncase <-t.done:\ncase <-time.After(1):\n}"), ""},
		{"a time that is compared", test("if time.Since(begun) > 1 {\n}"), "how long something takes"},
		{"a time that is kept first", test("if took := time.Since(begun); took > 1 {\n}"), "how long something takes"},
		{"the time left", test("if time.Until(end) < 1 {\n}"), "how long something takes"},
		{"a deadline", test("for time.Now().Before(end) {\n}"), "a test that compares the time"},
		{"a difference", test("if time.Now().Sub(begun) > 1 {\n}"), "a test that compares the time"},
		{"a time that is logged", test("t.Logf(\"%s\", time.Since(begun))"), ""},
		{"cause and effect", test("if begun.After(end) {\n}"), ""},
		{"a time of the program's own", test("g(time.Now(), time.Second)"), ""},
		{"virtual time", test("synctest.Test(t, func(t T) { time.Sleep(1); if time.Since(begun) > 1 {\n} })"), ""},
		{"another Sleep", test("time := t.clock\ntime.Sleep(1)"), ""},
		{"a sleep of the program", map[string]string{"internal/tune/a.go": "// Package tune is one.\npackage tune\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n"}, ""},
		{"a sleep of a helper for tests", map[string]string{"internal/host/hosttest/a.go": "// Package hosttest is one.\npackage hosttest\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n"}, "a test that sleeps"},
		{"a sleep where tests wait", map[string]string{"internal/await/a.go": "// Package await is one.\npackage await\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n"}, ""},

		{"a sleep that has a reason", listed("# a note\n\n"+file+"\tthe server's slowness\n", test(sleep)), ""},
		{"one without a reason", listed(file+"\n", test(sleep)), "clock.txt:1: " + file + " has no reason"},
		{"one with an empty reason", listed(file+"\t \n", test(sleep)), "has no reason"},
		{"one that asks no longer", listed(file+"\twas slow\n", test("")), "clock.txt:1: " + file + " does not ask the clock"},
		{"one that is away", listed("internal/tune/b_test.go\twas slow\n", test("")), "does not ask the clock"},
		{"an order that hides one", listed(file+"\ta\ncases/x_test.go\tb\n", test(sleep)), "clock.txt:2: cases/x_test.go stands after"},
		{"one named twice", listed(file+"\ta\n"+file+"\tb\n", test(sleep)), "stands after"},
	} {
		t.Run(c.why, func(t *testing.T) {
			problems, err := check(tree(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, p := range problems {
				got += fmt.Sprintln(p)
			}
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
