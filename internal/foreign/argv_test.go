package foreign

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A command that is one text is split as sh splits words; what only a shell can do is
// refused by its name.
func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"./bench -t 60":                           {"./bench", "-t", "60"},
		"  ./bench\t-t   60 ":                     {"./bench", "-t", "60"},
		"./bench 'a b' \"c d\" e\\ f":             {"./bench", "a b", "c d", "e f"},
		`./bench --name=""`:                       {"./bench", "--name="},
		`./bench "" ''`:                           {"./bench", "", ""},
		`./bench a"b"'c'd`:                        {"./bench", "abcd"},
		`./bench "a\"b\\c\$d\n"`:                  {"./bench", `a"b\c$d\n`},
		`./bench 'a\b"c$d|e'`:                     {"./bench", `a\b"c$d|e`},
		`./bench \$HOME \| \'`:                    {"./bench", "$HOME", "|", "'"},
		"./bench \\\n  -t 60":                     {"./bench", "-t", "60"},
		"wrk -c8 http://127.0.0.1/a?b=1[2]{3}":    {"wrk", "-c8", "http://127.0.0.1/a?b=1[2]{3}"},
		"wrk 'http://127.0.0.1/a?b=1&c=2'":        {"wrk", "http://127.0.0.1/a?b=1&c=2"},
		"env A=1 ./bench a=b #":                   nil,
		"env A=1 ./bench a=b a#b a~b":             {"env", "A=1", "./bench", "a=b", "a#b", "a~b"},
		"sh -c 'cd bench && ./bench | tail -n 1'": {"sh", "-c", "cd bench && ./bench | tail -n 1"},
		"./bänch 'ä b'":                           {"./bänch", "ä b"},
	} {
		got, err := SplitWords(text)
		if !slices.Equal(got, want) || (err != nil) != (want == nil) {
			t.Errorf("%s: %q %v, want %q", text, got, err, want)
		}
	}
	for text, names := range map[string]string{
		"./bench | tail":       `"|" at character 9 needs a shell`,
		"cd x && ./bench":      `"&&" at character 6 needs a shell`,
		"./a || ./b":           `"||"`,
		"./bench &":            `"&" at character 9`,
		"./a; ./b":             `";" at character 4`,
		"./bench > out.txt":    `">"`,
		"./bench 2>> out.txt":  `">>"`,
		"./bench < in.txt":     `"<"`,
		"./bench $(nproc)":     `"$("`,
		"./bench \"$(nproc)\"": `"$("`,
		"./bench ${X}":         `"${"`,
		"./bench $HOME/x":      `"$HOME"`,
		"./bench \"$HOME\"":    `"$HOME"`,
		"./bench `nproc`":      "\"`n\"",
		"./bench *.lua":        `"*"`,
		"~/bench":              `"~"`,
		"(./bench)":            `"("`,
		"A=1 ./bench":          `write "env A=1" before the program`,
		"./a\n./b":             "a second line at character 4",
		"./bench 'a":           "the ' at character 9 is not closed",
		"./bänch \"a":          "the \" at character 9 is not closed",
		"./bench \\":           "nothing follows",
		" \t ":                 "is empty",
	} {
		if got, err := SplitWords(text); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: %q %v, want %s", text, got, err, names)
		}
	}
}

// Words in single quotes come back as they are, whatever they hold.
func TestQuotedWordsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "words")
		words[0] = "p" + strings.ReplaceAll(words[0], "=", "")
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		got, err := SplitWords(strings.Join(quoted, " "))
		if err != nil || !slices.Equal(got, words) {
			t.Fatalf("%q: %q %v", words, got, err)
		}
	})
}

func FuzzSplitWords(f *testing.F) {
	for _, s := range []string{"./bench -t 60", `a 'b c' "d\"e" f\ g`, "a | b", "$(", "\"`", "\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words, err := SplitWords(text)
		if (err == nil) != (len(words) > 0) {
			t.Errorf("%q: %q %v", text, words, err)
		}
	})
}
