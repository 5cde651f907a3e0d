package prove

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		about   string
		seen    []string
		now     string
		differs string // "" if it is as the pattern
	}{
		{"one answer, the same", []string{"a b"}, "a b", ""},
		{"one answer, another", []string{"a b\nc"}, "a b\nd", `line 2: "d" instead of "c"`},
		{"a token differs each time", []string{`<input value="x1">`, `<input value="x2">`}, `<input value="x3">`, ""},
		{"beside the token another word", []string{`<b id="1">ann</b>`, `<b id="2">ann</b>`}, `<b id="3">bob</b>`, `bob</b>" instead of "…`},
		{"a varying line may not become longer", []string{"n 1", "n 2"}, "n 3 4", "instead of"},
		{"a line of any form", []string{"x", "", "z"}, "1 2 3", ""},
		{"a line more", []string{"a", "a"}, "a\nb", "2 lines instead of 1"},
		{"another number of lines each time", []string{"a", "a\nb"}, "c", ""},
		{"titles in Japanese", []string{"日本の年表 12 件", "日本の年表 13 件"}, "日本の歴史 14 件", `"日本の歴史 14 件" instead of "日本の年表 … 件"`},
		{"an image, the same", []string{"\xff\n1", "\xff\n1"}, "\xff\n1", ""},
		{"an image that differs each time", []string{"\xff\n1", "\xff\n2"}, "\xff\n3", ""},
		{"an image instead of a text", []string{"a", "a"}, "\xff", "instead of"},
		{"bytes that are no text", []string{"\xff\xfe", "\xff\xfe"}, "\xff\xff", "2 other bytes"},
	} {
		p := NewPattern([]byte(c.seen[0]))
		for _, s := range c.seen[1:] {
			p.Merge([]byte(s))
		}
		got := p.Differs([]byte(c.now))
		if c.differs == "" && got != "" || !strings.Contains(got, c.differs) {
			t.Errorf("%s: %q, want %q", c.about, got, c.differs)
		}
	}
}

func TestPatternKnown(t *testing.T) {
	p := NewPattern([]byte("aaaaaaaa=1111"))
	if k := p.Known(); k != 1 {
		t.Errorf("of one answer %v is known", k)
	}
	p.Merge([]byte("aaaaaaaa=2222"))
	if k := p.Known(); k < 0.5 || k > 0.6 {
		t.Errorf("with a varying word %v is known, want 9 of 17 bytes", k)
	}
	p.Merge([]byte("b\nc"))
	if p.Known() != 0 || !p.Loose {
		t.Errorf("%+v", p)
	}
	if k := NewPattern(nil).Known(); k != 1 {
		t.Errorf("of an empty answer %v is known", k)
	}
}

// Whatever was merged into a pattern is like it, also when it was stored.
func TestPatternHoldsWhatItSaw(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`([a-c=]{0,3}(\n)?){0,4}`), rapid.SampledFrom([]string{"\xff\n1", "\xfe"}))
	rapid.Check(t, func(t *rapid.T) {
		seen := rapid.SliceOfN(text, 1, 4).Draw(t, "seen")
		p := NewPattern([]byte(seen[0]))
		for _, s := range seen[1:] {
			p.Merge([]byte(s))
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		stored := &Pattern{}
		if err := json.Unmarshal(data, stored); err != nil {
			t.Fatal(err)
		}
		for _, s := range seen {
			if why := p.Differs([]byte(s)); why != "" {
				t.Fatalf("%q of %q: %s", s, seen, why)
			}
			if why := stored.Differs([]byte(s)); why != "" {
				t.Fatalf("%q of %q, stored: %s", s, seen, why)
			}
		}
	})
}

func TestWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		if got := strings.Join(words(s), ""); got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
	if got := strings.Join(words(`id="a_1" 日本`), "|"); got != `id|=|"|a_1|"| |日本` {
		t.Error(got)
	}
}
