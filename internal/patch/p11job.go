package patch

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/lazyregexp"
)

// job is what a pipeline of programs makes of a text.
type job struct {
	printed bool   // printf or echo gives the text
	echo    bool   // which takes some texts for options, or changes them
	line    string // what is behind the text: a line's end, or nothing
	sum     string // "sha512"; "" for base64
	raw     bool   // the sum's bytes, not its digits
	// before and after stand around the digits.
	before, after string
}

// sums are the digests of the standard library: the digits of one, its package, and its
// function.
var sums = map[string]struct {
	digits    int
	path, fun string
}{
	"md5": {32, "crypto/md5", "Sum"}, "sha1": {40, "crypto/sha1", "Sum"}, "sha224": {56, "crypto/sha256", "Sum224"}, "sha256": {64, "crypto/sha256", "Sum256"},
	"sha384": {96, "crypto/sha512", "Sum384"}, "sha512": {128, "crypto/sha512", "Sum512"},
}

// isTool: what is known of the program is known here.
func isTool(name string) bool {
	_, sum := sums[strings.TrimSuffix(name, "sum")]
	return sum && strings.HasSuffix(name, "sum") || slices.Contains([]string{"shasum", "openssl", "base64"}, name)
}

// hole stands for the text in a script.
const hole = "\x00"

// checkJob understands the arguments, or the script.
func (s *started) checkJob() *Refusal {
	var pipeline [][]string
	if s.script != nil {
		var text strings.Builder
		for _, p := range s.script {
			text.WriteString(p.text)
			if p.hole != nil {
				text.WriteString(hole)
			}
		}
		var why *Refusal
		if pipeline, why = commands(text.String()); why != nil {
			return why
		}
	} else {
		var words []string
		for _, a := range s.argv {
			text, ok := s.f.constant(a)
			if !ok {
				return refuse("arguments", "%s is a value of the program", short(s.f.text(a)))
			}
			words = append(words, text)
		}
		pipeline = [][]string{words}
	}
	var why *Refusal
	s.does, why = jobOf(pipeline)
	return why
}

// commands of a script that is nothing but a pipeline, with their words.
func commands(script string) ([][]string, *Refusal) {
	out := [][]string{nil}
	var word strings.Builder
	inWord := false
	end := func() {
		if inWord {
			out[len(out)-1] = append(out[len(out)-1], word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(script); i++ {
		switch c := script[i]; {
		case c == ' ' || c == '\t':
			end()
		case c == '|':
			end()
			out = append(out, nil)
		case c == '\'' || c == '"':
			to := strings.IndexByte(script[i+1:], c)
			if to < 0 {
				return nil, refuse("script", "its quotes do not close")
			}
			text := script[i+1 : i+1+to]
			if strings.Contains(text, hole) {
				return nil, refuse("quotes", "the text is quoted, and stands in quotes again")
			}
			if c == '"' && strings.ContainsAny(strings.ReplaceAll(text, `\n`, ""), "$`\\!") {
				return nil, refuse("script", "it has %s in quotes", text)
			}
			inWord = true
			word.WriteString(text)
			i += to + 1
		case strings.IndexByte("$`\\;&<>()*?[]{}~#!\n", c) >= 0:
			return nil, refuse("script", "it is more than a pipeline: %q", c)
		default:
			inWord = true
			word.WriteByte(c)
		}
	}
	end()
	if slices.ContainsFunc(out, func(words []string) bool { return len(words) == 0 || strings.Contains(words[0], "=") }) {
		return nil, refuse("script", "it is more than a pipeline")
	}
	return out, nil
}

// jobOf understands a pipeline: what gives the text, what makes the sum of it, and what
// takes the sum out of what that prints.
func jobOf(pipeline [][]string) (*job, *Refusal) {
	j := &job{}
	if j.prints(pipeline[0]) {
		pipeline = pipeline[1:]
	}
	if len(pipeline) == 0 {
		return nil, refuse("script", "nothing reads the text")
	}
	for _, c := range pipeline {
		if slices.ContainsFunc(c, func(w string) bool { return strings.Contains(w, hole) }) {
			return nil, refuse("input", "the text is no argument of printf or echo")
		}
	}
	forms, why := j.makes(pipeline[0])
	if why != nil {
		return nil, why
	}
	return j, j.takes(forms, pipeline[1:])
}

// prints understands printf and echo of the text.
func (j *job) prints(words []string) bool {
	switch {
	case slices.Equal(words, []string{"printf", "%s", hole}):
		j.printed = true
	case slices.Equal(words, []string{"printf", `%s\n`, hole}):
		j.printed, j.line = true, "\n"
	case slices.Equal(words, []string{"echo", "-n", hole}):
		j.printed, j.echo = true, true
	case slices.Equal(words, []string{"echo", hole}):
		j.printed, j.echo, j.line = true, true, "\n"
	}
	return j.printed
}

// digits stand for the digits of a sum, or for a text in base64: none of two is like the
// other, so that what depends on them is seen.
var digits = [2]string{strings.Repeat("0123456789abcdef", 8), strings.Repeat("fdb97531eca86420", 8)}

// makes understands the program that makes the sum: the forms in which it may print the
// first and the second digits, as versions of it differ.
func (j *job) makes(words []string) ([][2]string, *Refusal) {
	name, args := words[0][strings.LastIndex(words[0], "/")+1:], words[1:]
	unknown := refuse("arguments", "the arguments of %s are not understood", name)
	form := "%  -\n"
	switch {
	case name == "openssl" && len(args) > 0:
		if slices.Equal(args, []string{"base64", "-A"}) || slices.Equal(args, []string{"enc", "-base64", "-A"}) {
			return [][2]string{digits}, nil
		}
		return j.openssl(args, unknown)
	case name == "base64":
		if !slices.Equal(args, []string{"-w0"}) && !slices.Equal(args, []string{"-w", "0"}) && !slices.Equal(args, []string{"--wrap=0"}) {
			return nil, refuse("output", "base64 ends a line after each 76 digits, where -w 0 is not there")
		}
		return [][2]string{digits}, nil
	case name == "shasum" && len(args) == 2 && args[0] == "-a":
		j.sum = "sha" + args[1]
	case isTool(name) && len(args) == 0 && name != "shasum":
		j.sum = strings.TrimSuffix(name, "sum")
	default:
		return nil, unknown
	}
	if sums[j.sum].digits == 0 {
		return nil, unknown
	}
	return j.forms(form), nil
}

// forms are what is printed, where % stands for the digits.
func (j *job) forms(forms ...string) (out [][2]string) {
	for _, f := range forms {
		n := sums[j.sum].digits
		out = append(out, [2]string{strings.Replace(f, "%", digits[0][:n], 1), strings.Replace(f, "%", digits[1][:n], 1)})
	}
	return out
}

func (j *job) openssl(args []string, unknown *Refusal) ([][2]string, *Refusal) {
	if args[0] != "dgst" {
		args = append([]string{"dgst", "-" + args[0]}, args[1:]...)
	}
	reversed := false
	for _, a := range args[1:] {
		name := strings.TrimPrefix(a, "-")
		switch {
		case a == "-r":
			reversed = true
		case a == "-binary":
			j.raw = true
		case a == "-hex":
		case strings.HasPrefix(a, "-") && sums[name].digits > 0 && j.sum == "":
			j.sum = name
		default:
			return nil, unknown
		}
	}
	switch {
	case j.sum == "" || j.raw && reversed:
		return nil, unknown
	case j.raw:
		return j.forms("%"), nil
	case reversed:
		return j.forms("% *stdin\n"), nil
	}
	upper := strings.ToUpper(j.sum)
	return j.forms("(stdin)= %\n", upper+"(stdin)= %\n", strings.Replace(upper, "SHA", "SHA2-", 1)+"(stdin)= %\n"), nil
}

// takes runs what follows on each form that may be printed: all must come to the same.
func (j *job) takes(forms [][2]string, filters [][]string) *Refusal {
	if j.raw && len(filters) > 0 {
		return refuse("output", "what follows is given bytes")
	}
	for i, form := range forms {
		var around [2][2]string
		for k, text := range form {
			var why *Refusal
			if around[k][0], around[k][1], why = j.around(text, digits[k], filters); why != nil {
				return why
			}
		}
		switch {
		case around[0] != around[1]:
			return refuse("output", "what is taken depends on the sum")
		case i == 0:
			j.before, j.after = around[0][0], around[0][1]
		case around[0] != [2]string{j.before, j.after}:
			return refuse("output", "versions of openssl put other texts in front of the sum")
		}
	}
	if j.sum == "" && len(filters) > 0 && !slices.EqualFunc(filters, [][]string{{"tr", "-d", `\n`}}, slices.Equal[[]string]) {
		return refuse("output", "what follows is given base64") // of any length
	}
	return nil
}

// around is what stands before and after the digits in what comes out.
func (j *job) around(text, digits string, filters [][]string) (before, after string, why *Refusal) {
	for _, words := range filters {
		var ok bool
		if text, ok = filtered(words, text); !ok {
			return "", "", refuse("output", "%s is not understood", strings.Join(words, " "))
		}
	}
	if j.sum != "" {
		digits = digits[:sums[j.sum].digits]
	}
	before, after, found := strings.Cut(text, digits)
	if !found {
		return "", "", refuse("output", "the sum is not taken as a whole")
	}
	return before, after, nil
}

var printsField = lazyregexp.New(`^\{ *print +\$(NF|[1-9]) *;? *\}$`)

// filtered is what a program makes of one line of text; false if it is not understood.
func filtered(words []string, text string) (string, bool) {
	line, end := strings.TrimSuffix(text, "\n"), "\n"
	args := words[1:]
	switch words[0] {
	case "sed":
		if len(args) == 2 && args[0] == "-e" {
			args = args[1:]
		}
		if len(args) != 1 {
			return "", false
		}
		out, ok := substituted(args[0], line)
		return out + end, ok
	case "awk":
		if len(args) != 1 || printsField.FindStringSubmatch(args[0]) == nil {
			return "", false
		}
		fields, which := strings.Fields(line), printsField.FindStringSubmatch(args[0])[1]
		n, err := strconv.Atoi(which)
		if err != nil {
			n = len(fields)
		}
		if n > len(fields) || n == 0 {
			return "", false
		}
		return fields[n-1] + end, true
	case "cut":
		return cut(strings.Join(args, " "), line)
	case "tr":
		return strings.ReplaceAll(text, "\n", ""), slices.Equal(args, []string{"-d", `\n`})
	case "head":
		n := 0
		if len(args) == 2 && args[0] == "-c" {
			n, _ = strconv.Atoi(args[1])
		}
		return text[:min(max(n, 0), len(text))], n > 0
	}
	return "", false
}

var cuts = lazyregexp.New(`^(?:-d ? -f ?([1-9])|-f ?([1-9]) -d ? |-c ?1?-([0-9]+))$`)

// cut is `cut -d ' ' -f 1` or `cut -c 1-64` of one line.
func cut(args, line string) (string, bool) {
	m := cuts.FindStringSubmatch(strings.Replace(args, "-d  ", "-d ", 1))
	if m == nil {
		return "", false
	}
	if m[3] != "" {
		n, err := strconv.Atoi(m[3])
		return line[:min(n, len(line))] + "\n", err == nil && n > 0
	}
	n, _ := strconv.Atoi(m[1] + m[2])
	fields := strings.Split(line, " ")
	if len(fields) < n || len(fields) == 1 {
		return "", false
	}
	return fields[n-1] + "\n", true
}

var plainPattern = lazyregexp.New(`^\^?(?:[A-Za-z0-9 =()_:-]|\.\*)*\$?$`)

// substituted is s/pattern/text/ of sed on one line, where the pattern is of plain
// characters and `.*`.
func substituted(script, line string) (string, bool) {
	if len(script) < 4 || script[0] != 's' {
		return "", false
	}
	parts := strings.Split(script[1:], script[1:2])
	if len(parts) != 4 || parts[3] != "" && parts[3] != "g" || !strings.Contains("/|,#:", script[1:2]) || strings.ContainsAny(parts[2], `&\`) || !plainPattern.MatchString(parts[1]) || parts[1] == "" {
		return "", false
	}
	pattern, err := regexp.CompilePOSIX(strings.NewReplacer("(", `\(`, ")", `\)`).Replace(parts[1]))
	if err != nil {
		return "", false
	}
	done := parts[3] == "g"
	at := pattern.FindStringIndex(line)
	if at == nil {
		return line, true
	}
	if done && pattern.FindStringIndex(line[at[1]:]) != nil {
		return "", false
	}
	return line[:at[0]] + parts[2] + line[at[1]:], true
}
