package ui

import "testing"

func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "one": "one", "One. Two.": "One.",
		"8 classes take 71 % (1.5 of 2.1 s); rows are read. The indexes take 1 MiB.": "8 classes take 71 % (1.5 of 2.1 s); rows are read.",
		"/etc/my.cnf sets none. Data are small.":                                     "/etc/my.cnf sets none.",
		"Values, e.g. The one, stay. Next.":                                          "Values, e.g. The one, stay.",
		"worker_processes is 2; web uses 1. then more":                               "worker_processes is 2; web uses 1. then more",
		"Version 1. It is old. New.":                                                 "Version 1. It is old.",
	} {
		if got := Sentence(text); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}
