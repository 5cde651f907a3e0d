package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"pgregory.net/rapid"
)

// flameProfile makes a profile of stacks "a;b;c 5", outermost first.
func flameProfile(stacks ...string) *profile.Profile {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}}
	byName := map[string]*profile.Location{}
	for _, s := range stacks {
		at := strings.LastIndexByte(s, ' ')
		var n int64
		fmt.Sscan(s[at+1:], &n)
		x := &profile.Sample{Value: []int64{n, n * 1_000_000}}
		for _, name := range strings.Split(s[:at], ";") {
			loc := byName[name]
			if loc == nil {
				fn := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, Filename: "/app/" + name + ".php"}
				loc = &profile.Location{ID: uint64(len(p.Location) + 1), Line: []profile.Line{{Function: fn, Line: 7}}}
				p.Function, p.Location, byName[name] = append(p.Function, fn), append(p.Location, loc), loc
			}
			x.Location = append([]*profile.Location{loc}, x.Location...)
		}
		p.Sample = append(p.Sample, x)
	}
	return p
}

// svgText checks that a picture is well-formed and loads nothing, and returns
// its titles and texts.
func svgText(t interface{ Fatalf(string, ...any) }, svg []byte) []string {
	var out []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if x.Name.Local == "script" || x.Name.Local == "image" {
				t.Fatalf("<%s>", x.Name.Local)
			}
			for _, a := range x.Attr {
				if a.Name.Local == "href" || strings.HasPrefix(a.Name.Local, "on") {
					t.Fatalf("%s", a.Name.Local)
				}
			}
		case xml.CharData:
			out = append(out, string(x))
		}
	}
}

func draw(t *testing.T, p *profile.Profile, o FlameOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := FlameSVG(&b, p, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFlameShowsShares(t *testing.T) {
	svg := draw(t, flameProfile("main;run;query 60", "main;run;render 30", "main;boot 10"), FlameOptions{Title: "CPU time of app"})
	texts := strings.Join(svgText(t, []byte(svg)), "\n")
	for _, want := range []string{"all\n100.0 %, 100 ms", "main\n/app/main.php:7\n100.0 %", "query\n/app/query.php:7\n60.0 %, 60.0 ms", "boot\n/app/boot.php:7\n10.0 %"} {
		if !strings.Contains(texts, want) {
			t.Errorf("%q is missing in\n%s", want, texts)
		}
	}
	// query is as wide as its share of 840 pixels, below run, at the left.
	if !strings.Contains(svg, `x="0" y="51" width="504"`) || !strings.Contains(svg, "prefers-color-scheme:dark") {
		t.Error(svg)
	}
	count := draw(t, flameProfile("main 3"), FlameOptions{Value: "samples"})
	if !strings.Contains(count, "100.0 %, 3 count") {
		t.Error(count)
	}
}

func TestFlameEscapesNames(t *testing.T) {
	svg := draw(t, flameProfile(`<script>alert("1")</script>&;a\x00b<svg/onload=x> 5`), FlameOptions{Title: `"><script>`})
	texts := svgText(t, []byte(svg))
	if strings.Contains(svg, "<script") || !strings.Contains(strings.Join(texts, ""), `<script>alert("1")</script>&`) {
		t.Error(svg)
	}
}

func TestFlameStaysSmall(t *testing.T) {
	var stacks []string
	for i := range 600 {
		stacks = append(stacks, fmt.Sprintf("main;handler%d;a_function_with_a_rather_long_name_%d;leaf%d %d", i%30, i, i, 1+i%3))
	}
	p := flameProfile(stacks...)
	for option, most := range map[int]int{0: flameBytes, 20_000: 20_000} {
		svg := draw(t, p, FlameOptions{MaxBytes: option})
		if len(svg) > most || len(svg) < most/4 {
			t.Errorf("%d bytes, at most %d wanted and not much less", len(svg), most)
		}
		if !strings.Contains(svg, ">main<") {
			t.Error("the widest function was left out")
		}
		svgText(t, []byte(svg))
	}
}

func TestFlameOfDeepRecursion(t *testing.T) {
	svg := draw(t, flameProfile(strings.Repeat("f;", 5000)+"g 1"), FlameOptions{})
	if n := strings.Count(svg, "<rect"); n != flameDepth {
		t.Errorf("%d rows", n)
	}
}

func TestFlameRefusesEmptyProfiles(t *testing.T) {
	for name, p := range map[string]*profile.Profile{
		"no samples": flameProfile(),
		"no values":  {},
		"all zero":   flameProfile("main 0"),
	} {
		if err := FlameSVG(io.Discard, p, FlameOptions{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Whatever the names and weights are, a picture is well-formed and bounded.
func TestFlameIsAlwaysWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := flameProfile()
		p.Function = []*profile.Function{{ID: 1, Name: rapid.String().Draw(t, "a"), Filename: rapid.String().Draw(t, "file")}, {ID: 2, Name: rapid.String().Draw(t, "b")}}
		p.Location = []*profile.Location{{ID: 1, Line: []profile.Line{{Function: p.Function[0], Line: rapid.Int64().Draw(t, "line")}}}, {ID: 2, Line: []profile.Line{{Function: p.Function[1]}}}, {ID: 3}}
		for _, of := range rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 2), 1, 6), 1, 20).Draw(t, "stacks") {
			s := &profile.Sample{Value: []int64{1, rapid.Int64().Draw(t, "weight")}}
			for _, i := range of {
				s.Location = append(s.Location, p.Location[i])
			}
			p.Sample = append(p.Sample, s)
		}
		var b bytes.Buffer
		if err := FlameSVG(&b, p, FlameOptions{Title: rapid.String().Draw(t, "title"), Waiting: map[string]bool{"a": true}}); err != nil {
			return // nothing positive to draw
		}
		svgText(t, b.Bytes())
		if b.Len() > flameBytes {
			t.Fatalf("%d bytes", b.Len())
		}
	})
}
