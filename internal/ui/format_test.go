package ui

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 999: "999", 1000: "1.00k", 1234: "1.23k", 12345: "12.3k", 123456: "123k", 999_499: "999k", 999_600: "1.00M",
		1e6: "1.00M", 2.5e9: "2.50G", 3e15: "3000T", 1.5: "1.50", 9.996: "10.0", 99.96: "100", 999.6: "1.00k", 0.5: "0.500", 0.1: "0.100",
		0.99951: "1.00", 0.0123: "12.3m", 4.56e-5: "45.6µ", -1234: "-1.23k", -0.25: "-0.250", math.Inf(1): "n/a", math.NaN(): "n/a",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 12: "12", 12.34: "12.3", 0.5: "0.5", 999.4: "999", 999.6: "1,000", 1234.4: "1,234",
		1234567: "1,234,567", -1234: "-1,234", 123456: "123,456", math.NaN(): "n/a"} {
		if got := Count(v); got != want {
			t.Errorf("Count(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files", 1200: "1,200 files"} {
		if got := Plural(n, "file", "files"); got != want {
			t.Errorf("Plural(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 s", 12: "12 ns", 1500: "1.50 µs", 1234567: "1.23 ms", 999_600_000: "1.00 s",
		45 * time.Second: "45.0 s", 59960 * time.Millisecond: "1m", time.Minute: "1m", 24*time.Minute + 10*time.Second: "24m10s", 2 * time.Hour: "2h",
		90 * time.Minute: "1h30m", -1500: "-1.50 µs"} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
	if got := Seconds(0.0123); got != "12.3 ms" {
		t.Errorf("Seconds = %q", got)
	}
	if got := Seconds(math.Inf(1)); got != "n/a" {
		t.Errorf("Seconds(+Inf) = %q", got)
	}
}

func TestEffects(t *testing.T) {
	for v, want := range map[float64]string{0.042: "+4.2 %", -0.031: "−3.1 %", 0: "0.0 %", 0.0001: "0.0 %", -0.0001: "0.0 %", 0.5: "+50.0 %", 1: "×2.00", 11.3: "×12.3",
		math.Inf(-1): "n/a"} {
		if got := Percent(v); got != want {
			t.Errorf("Percent(%v) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{1: "×1.00", 1.234: "×1.23", 0.87: "×0.870", 12.34: "×12.3", 1234: "×1,234", math.NaN(): "n/a", -2: "×-2.00"} {
		if got := Factor(v); got != want {
			t.Errorf("Factor(%v) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0 %", 0.012: "1.2 %", 0.5: "50 %", 1: "100 %"} {
		if got := Share(v); got != want {
			t.Errorf("Share(%v) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", 1 << 20: "1.00 MiB", 1023 << 10: "1.00 MiB", 3 << 29: "1.50 GiB"} {
		if got := Bytes(v); got != want {
			t.Errorf("Bytes(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestNumbersStayShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-8, 9e14).Draw(t, "v")
		if s := Number(v); utf8.RuneCountInString(s) > 5 {
			t.Fatalf("Number(%v) = %q", v, s)
		}
	})
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "加速": 4, "ﾊﾝｶｸ": 4, "Ａ": 2, "é": 1, "e\u0301": 1, "한국": 4, "a\u200bb": 2, "×1.23": 5, "…": 1, "\t": 0} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Clean(rapid.String().Draw(t, "s"))
		n := rapid.IntRange(0, 30).Draw(t, "n")
		got := Truncate(s, n)
		if Width(got) > n || !utf8.ValidString(got) {
			t.Fatalf("Truncate(%q, %d) = %q", s, n, got)
		}
		if Width(s) <= n && got != s {
			t.Fatalf("cut without need: %q", got)
		}
	})
}

func TestTableAligns(t *testing.T) {
	var b bytes.Buffer
	err := Table(&b, []string{"route", "n", "note"}, [][]string{
		{"GET /加速", "12", "a\nb", "surplus"}, {"POST /x", "1,234 ms", "1"}, {"short"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "route             n  note\nGET /加速        12  a b\nPOST /x    1,234 ms  1\nshort\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	if err := Table(&b, []string{"a"}, nil); err != nil || b.Len() != 0 {
		t.Errorf("without rows: %q, %v", b.String(), err)
	}
	if err := Table(&b, []string{"source", "what"}, [][]string{{"system", "5.2 s of 2 CPUs, of which others took most"}}); err != nil || !strings.HasPrefix(b.String(), "source  what\n") {
		t.Errorf("a sentence that begins with a number: %v\n%s", err, b.String())
	}
}

func TestTableIsRectangular(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows [][]string
		for _, c := range rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "cells") {
			rows = append(rows, []string{c, "|"})
		}
		var b bytes.Buffer
		if err := Table(&b, []string{"h", "x"}, rows); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		if len(lines) != len(rows)+1 {
			t.Fatalf("%d lines for %d rows", len(lines), len(rows))
		}
		for _, l := range lines {
			if Width(l) != Width(lines[0]) {
				t.Fatalf("ragged: %q", lines)
			}
		}
	})
}
