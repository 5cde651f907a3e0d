package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	// figure is a number with its sign, its unit and what is joined to it ("1m56s", "10.11.19").
	figure = regexp.MustCompile(`[×+−-]?(?:(?:[0-9]+h)?[0-9]+m[0-9]+s\b|[0-9]+h[0-9]+m\b|[0-9][0-9,.]*(?:e-?[0-9]+)?(?: ?%| ?(?:ns|µs|ms|min|[hms]|[KMGT]iB|B|[kM])\b)?)`)
	// several are figures that are one: "3m14s", "2026-11-20", "01:00:00".
	several = regexp.MustCompile(`#(?:[:/]?#)+`)
	absent  = regexp.MustCompile(`(^| )–( |$)`)
	patchID = regexp.MustCompile(`\bP[0-9]+-[0-9a-f]{4}\b`)
	// underWay is what a terminal shows only for as long as it is so.
	underWay = regexp.MustCompile(`^   (?:setup|warm-up|measure|teardown) +[0-9.]+ s `)
	bars     = regexp.MustCompile(`[▁▂▃▄▅▆▇█|]{5,}`)
)

// form is a line without its figures and the width of its columns.
func form(line string) string {
	line = strings.Join(strings.Fields(line), " ")
	line = bars.ReplaceAllString(patchID.ReplaceAllString(line, "P-…"), "█")
	line = several.ReplaceAllString(figure.ReplaceAllString(line, "#"), "#")
	for absent.MatchString(line) {
		line = absent.ReplaceAllString(line, "$1#$2")
	}
	return line
}

func forms(lines []string) []string {
	var out []string
	for _, l := range lines {
		if strings.TrimSpace(l) != "" && !underWay.MatchString(l) {
			out = append(out, form(l))
		}
	}
	return out
}

// differs says where a page shows something else than is printed, "" if it does not.
// Figures may differ. A line "…" of the page stands for any lines; one that ends with it
// goes on.
func differs(shown, printed []string) string { return compared(forms(shown), forms(printed)) }

// compared does it for lines that shall be equal.
func compared(page, real []string) string {
	skip := false
	at := 0
	for _, want := range page {
		if want == "…" {
			skip = true
			continue
		}
		from := at
		for {
			if at >= len(real) {
				return fmt.Sprintf("the page shows %q; printed is\n%s", want, strings.Join(real[from:], "\n"))
			}
			start, cut := strings.CutSuffix(want, " …")
			found := real[at] == want || cut && strings.HasPrefix(real[at], start)
			at++
			if found {
				break
			}
			if !skip {
				return fmt.Sprintf("the page shows %q where %q is printed; printed is\n%s", want, real[at-1], strings.Join(real[from:], "\n"))
			}
		}
		skip = false
	}
	if !skip && at < len(real) {
		return fmt.Sprintf("the page leaves out, without a line \"…\",\n%s", strings.Join(real[at:], "\n"))
	}
	return ""
}

func TestDiffers(t *testing.T) {
	printed := []string{"score 48.2 points/s   4 users", "right 241   wrong 0", "", "cpu: apache       51 %      21.3 ms", "kept: improved, ×6.47 (95 %: ×5.68 to ×7.37), 4 runs, 25s"}
	for _, row := range []struct {
		shown string
		same  bool
	}{
		{"score 1,234 points/s 8 users\nright 3 wrong –\ncpu: apache  5.1 % 213 µs\nkept: improved, +47 % (95 %: −5.68 % to ×7.37), 16 runs, 1m25s", true},
		{"score 48.2 points/s   4 users\n…", true},
		{"…\ncpu: apache 6 % 1.00 s\n…", true},
		{"score 48.2 points/s …\nright 1 wrong 2\n…", true},
		{"score 48.2 points/s 4 users", false},
		{"right 241 wrong 0\n…", false},
		{"score 48.2 requests/s 4 users\n…", false},
		{"…\ncpu: nginx 6 % 1.00 s\n…", false},
		{"…\ncpu: apache 6 % 1.00 s\nright 1 wrong 2", false},
	} {
		if d := differs(strings.Split(row.shown, "\n"), printed); (d == "") != row.same {
			t.Errorf("%q: %s", row.shown, d)
		}
	}
	for line, want := range map[string]string{
		"after pair 1: ×6.54 (386 against 59.0)":              "after pair #: # (# against #)",
		"p = 1.2e-05 after 2 pairs, below 0.00033":            "p = # after # pairs, below #",
		"period 2026-11-20 01:00:00 to 01:29:59 UTC (29m59s)": "period # # to # UTC (#)",
		"7.10 %  25.5 MiB  –  –":                              "# # # #",
		"P10-a804   main.go:9  name":                          "P-… main.go:# name",
	} {
		if got := form(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
