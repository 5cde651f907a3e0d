package textedit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

func TestApply(t *testing.T) {
	for _, tt := range []struct {
		why   string
		edits []Edit
		want  string
	}{
		{"none", nil, "abcdef"},
		{"in any order", []Edit{{From: 4, To: 5, New: "E"}, {From: 0, To: 2}}, "cdEf"},
		{"at the same place, the first first", []Edit{{From: 6, To: 6, New: "1"}, {From: 6, To: 6, New: "2"}}, "abcdef12"},
		{"side by side", []Edit{{From: 0, To: 3, New: "x"}, {From: 3, To: 6, New: "y"}}, "xy"},
	} {
		if got := Apply("abcdef", tt.edits...); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
	}
}

func TestInsertLine(t *testing.T) {
	for _, tt := range []struct {
		text string
		at   int
		want string
	}{
		{"", 0, "x\n"}, {"a", 1, "a\nx"}, {"a\n", 2, "a\nx\n"}, {"a\r\nb", 4, "a\r\nb\r\nx"}, {"a\r\nb", 3, "a\r\nx\r\nb"}, {BOM, 3, BOM + "x\n"},
	} {
		if got := Apply(tt.text, InsertLine("/f", tt.text, tt.at, "x")); got != tt.want {
			t.Errorf("%q at %d: got %q, want %q", tt.text, tt.at, got, tt.want)
		}
	}
}

// TestLinesCoverTheText joins lines and their endings again.
func TestLinesCoverTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\r\n\x00é"))).Draw(t, "text")
		var joined strings.Builder
		for i, l := range Lines(text) {
			if l.Num != i+1 || l.From > l.Body || l.Body > l.To || strings.Contains(text[l.From:l.Body], "\n") {
				t.Fatalf("line %+v of %q", l, text)
			}
			if end := text[l.Body:l.To]; end != "\n" && end != "\r\n" && !(end == "" && l.To == len(text)) {
				t.Fatalf("line %+v of %q ends in %q", l, text, end)
			}
			joined.WriteString(text[l.From:l.To])
		}
		if joined.String() != text {
			t.Fatalf("%q became %q", text, joined.String())
		}
	})
}

// TestMapped decodes a\b as ab and asks where the bytes come from.
func TestMapped(t *testing.T) {
	var m Mapped
	m.Add('a', 10, 11)
	m.Add('b', 11, 13)
	for _, tt := range [][4]int{{0, 2, 10, 13}, {1, 2, 11, 13}, {0, 0, 10, 10}, {1, 1, 11, 11}, {2, 2, 13, 13}} {
		if a, b := m.Span(tt[0], tt[1], 5); a != tt[2] || b != tt[3] {
			t.Errorf("[%d,%d) is [%d,%d), want [%d,%d)", tt[0], tt[1], a, b, tt[2], tt[3])
		}
	}
	m.Truncate(0)
	if a, b := m.Span(0, 0, 5); m.Len() != 0 || a != 5 || b != 5 {
		t.Errorf("an empty text is at [%d,%d)", a, b)
	}
}
