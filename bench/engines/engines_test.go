package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kasoku/bench/load/target"
)

func TestComplete(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: "
	for _, tt := range []struct {
		why, in string
		done    bool
		wrong   string
	}{
		{"nothing yet", "", false, ""},
		{"half a header", head, false, ""},
		{"half a body", head + "4\r\n\r\nab", false, ""},
		{"whole", head + "4\r\n\r\nabcd", true, ""},
		{"empty body", head + "0\r\n\r\n", true, ""},
		{"too much", head + "1\r\n\r\nab", false, "more came"},
		{"another status", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false, "404"},
		{"no length", "HTTP/1.1 200 OK\r\nX: Content-Length\r\n\r\n", false, "no Content-Length"},
		{"no number", head + "4x\r\n\r\n", false, "no number"},
		{"larger than the buffer", head + "99999999999999999999\r\n\r\n", false, "no number up to"},
		{"a little larger", head + "8192\r\n\r\n", false, "is the most"},
		{"endless header", "HTTP/1.1 200 OK\r\n" + strings.Repeat("x", bufferSize), false, "does not end"},
	} {
		done, err := complete([]byte(tt.in))
		if done != tt.done || (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, %v", tt.why, done, err)
		}
	}
}

// TestVariants lets each run for a moment against the real nginx.
func TestVariants(t *testing.T) {
	n, err := target.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	address, err := resolve(n.Address())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variants {
		before, err := n.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const conns = 5
		got, err := v.run(job{address: address, conns: conns, until: time.Now().Add(100 * time.Millisecond)})
		if errors.Is(err, errRefused) {
			t.Logf("%s: %v", v.name, err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
			continue
		}
		after, err := n.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if served := target.Served(before, after); got < conns || got > served || got < served-2*conns { // what was under way before and after
			t.Errorf("%s counts %d answers, nginx %d requests", v.name, got, served)
		}
	}
	if _, err := resolve("[::1]:80"); err == nil {
		t.Error("an IPv6 address is taken")
	}
}
