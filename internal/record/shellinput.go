package record

import (
	"path"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// inputKind says what a word gives to its command's standard input.
type inputKind byte

const (
	noInput   inputKind = iota
	inputText           // the text itself: a here-document, a here-string, a pipe
	inputFile           // the file of that name
)

const (
	// maxExpanded bytes come of all variables of a text together, and
	// maxVariable of one.
	maxExpanded, maxVariable = 16 << 20, maxTarget
	// maxScanned bytes are searched for the ends of $(…).
	maxScanned = 32 << 20
	// maxSubstitution bytes of one $(…), and maxNested of them in each other.
	maxSubstitution, maxNested = 20_000, 3
)

// shellState is what a shell and those of its $(…) have in common.
type shellState struct {
	vars     map[string]string
	expanded int
	scanned  int
}

// hereDocument that the lines after the present one hold.
type hereDocument struct {
	end    string
	plain  bool // the delimiter is quoted: no variables
	indent bool // <<-: tabs before the lines go
}

// pipe gives the output of one command to another, by their places.
type pipe struct{ from, to int }

// redirect reads what follows a < that begins a word.
func (s *shell) redirect() {
	rest := s.text[s.at:]
	switch {
	case strings.HasPrefix(rest, "<<"):
		s.at += 2
		s.coming = inputText
	case strings.HasPrefix(rest, "<"):
		s.at++
		doc := hereDocument{}
		if s.peek() == '-' {
			s.at++
			doc.indent = true
		}
		for s.peek() == ' ' || s.peek() == '\t' {
			s.at++
		}
		from := s.at
		for s.at < len(s.text) && strings.IndexByte(" \t\n;|&()<>", s.text[s.at]) < 0 {
			s.at++
		}
		raw := s.text[from:s.at]
		doc.end = strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(raw)
		if doc.plain = doc.end != raw; doc.end != "" {
			s.docs = append(s.docs, doc)
			s.docOf = append(s.docOf, len(s.out))
		}
	case strings.HasPrefix(rest, "("), strings.HasPrefix(rest, "&"):
		s.add("<")
	default:
		s.coming = inputFile
	}
}

// documents reads the here-documents of the line that ended.
func (s *shell) documents() {
	for i, doc := range s.docs {
		line, begin, end := s.line, s.at, len(s.text)
		next := end
		var body strings.Builder
		for at := begin; at < len(s.text); {
			stop := strings.IndexByte(s.text[at:], '\n')
			after := len(s.text)
			text := s.text[at:]
			if stop >= 0 {
				text, after = s.text[at:at+stop], at+stop+1
			}
			if doc.indent {
				text = strings.TrimLeft(text, "\t")
			}
			s.line++
			if text == doc.end {
				next = after
				break
			}
			body.WriteString(text + "\n")
			at = after
		}
		s.at = next
		w := word{text: body.String(), line: line, input: inputText}
		if !doc.plain {
			w = s.expand(w)
		}
		if s.docOf[i] < len(s.out) {
			s.out[s.docOf[i]] = append(s.out[s.docOf[i]], w)
		} else {
			s.list = append(s.list, w)
		}
	}
	s.docs, s.docOf = nil, nil
}

// expand the variables of a here-document.
func (s *shell) expand(w word) word {
	sub := &shell{text: w.text, line: w.line, state: s.state, depth: s.depth + 1}
	sub.add("")
	for sub.at < len(sub.text) {
		switch c := sub.next(); c {
		case '\\':
			n := sub.next()
			if strings.IndexByte("\\$`", n) < 0 && n != '\n' {
				sub.add(`\`)
			}
			if n != '\n' && n != 0 {
				sub.addByte()
			}
		case '$':
			sub.dollar(true)
		default:
			sub.addByte()
		}
	}
	s.out = append(s.out, sub.out...)
	w.text, w.unknown = string(sub.buf), sub.now.unknown
	return w
}

// plainDefault of a variable is taken: an address, or a number. Another text may
// be a secret, whatever the variable's name.
var plainDefault = lazyregexp.New(`^(?:https?://[\w.:/\[\]-]+|\d{1,5})$`)

// known is the value of a variable that the text set before, or the plain
// default that ${name:-value} has.
func (s *shell) known(name string) (value string, ok bool) {
	bare := name
	fallback, hasFallback := "", false
	if strings.HasPrefix(name, "{") {
		bare = name[1 : len(name)-1]
		if at := strings.Index(bare, ":-"); at > 0 {
			bare, fallback, hasFallback = bare[:at], bare[at+2:], true
		}
	}
	if value, ok = s.state.vars[bare]; !ok && hasFallback && plainDefault.MatchString(fallback) && !isSecretVariable(bare, fallback) {
		value, ok = fallback, true
	}
	if s.state.expanded += len(value); s.state.expanded > maxExpanded {
		return "", false
	}
	return value, ok
}

// substitution reads the commands of $(…) where curl is among them. nested: it
// was; its output is not known.
func (s *shell) substitution() (length int, nested bool) {
	if s.depth >= maxNested || s.state.scanned > maxScanned {
		return 0, false
	}
	text := s.text[s.at:min(len(s.text), s.at+maxSubstitution)]
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
		case c == '\'' && quote == 0, c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
		if depth == 0 {
			length = i + 1
			break
		}
	}
	if s.state.scanned += max(length, 1); length == 0 {
		s.state.scanned += len(text)
		return 0, false
	}
	inner := text[1 : length-1]
	if !strings.Contains(inner, "curl") {
		return length, false
	}
	sub := &shell{text: inner, line: s.line, state: s.state, depth: s.depth + 1}
	for _, list := range sub.commands() {
		if curlAt(list) >= 0 {
			s.out, nested = append(s.out, list), true
		}
	}
	return length, nested
}

// assign keeps the values of a command that only sets variables. kept: there is
// nothing to tell of it.
func (s *shell) assign() (kept bool) {
	words := s.list
	if len(words) > 1 && slices.Contains([]string{"export", "local", "readonly", "declare"}, words[0].text) {
		words = words[1:]
	}
	kept = true
	for _, w := range words {
		name := assignment.FindString(w.text)
		if name == "" || w.input != noInput {
			return false
		}
		value := w.text[len(name):]
		name = strings.TrimSuffix(name, "=")
		switch {
		case w.nested:
		case len(w.unknown) > 0 || isSecretVariable(name, value) || len(value) > maxVariable:
			kept = false
			delete(s.state.vars, name)
		default:
			s.state.vars[name] = value
		}
	}
	return kept
}

// curlAt is the place of the word curl in a command; -1 if there is none.
func curlAt(list command) int {
	return slices.IndexFunc(list, func(w word) bool {
		base := strings.ToLower(path.Base(strings.ReplaceAll(w.text, `\`, "/")))
		return w.input == noInput && (base == "curl" || base == "curl.exe")
	})
}

// joinPipes gives what echo, printf and cat write to the curl behind the pipe.
func (s *shell) joinPipes() []command {
	gone := map[int]bool{}
	for _, p := range s.pipes {
		if p.from < 0 || p.from >= len(s.out) || p.to >= len(s.out) || curlAt(s.out[p.to]) < 0 {
			continue
		}
		if w, ok := outputOf(s.out[p.from]); ok {
			s.out[p.to] = append(s.out[p.to], w)
			gone[p.from] = true
		}
	}
	var out []command
	for i, list := range s.out {
		if !gone[i] {
			out = append(out, list)
		}
	}
	return out
}

// plainFormat is a printf format that writes its one argument.
var plainFormat = lazyregexp.New(`^%s(?:\\n)?$`)

// outputOf a command, where it is plain.
func outputOf(list command) (w word, ok bool) {
	var args []string
	w = word{line: list[0].line, input: inputText}
	for _, one := range list[1:] {
		if one.input != noInput && list[0].text == "cat" && len(list) == 2 {
			return one, true
		}
		args = append(args, one.text)
		w.unknown = append(w.unknown, one.unknown...)
	}
	switch list[0].text {
	case "echo":
		end := "\n"
		for len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-ne" || args[0] == "-en") {
			if strings.Contains(args[0], "n") {
				end = ""
			}
			args = args[1:]
		}
		w.text = strings.Join(args, " ") + end
		return w, true
	case "printf":
		switch {
		case len(args) == 1 && !strings.Contains(args[0], "%"):
			w.text = strings.NewReplacer(`\n`, "\n", `\\`, `\`).Replace(args[0])
			return w, true
		case len(args) == 2 && plainFormat.MatchString(args[0]):
			w.text = args[1]
			return w, true
		}
	case "cat":
		if len(args) == 1 && !strings.HasPrefix(args[0], "-") {
			w.text, w.input = args[0], inputFile
			return w, true
		}
	}
	return word{}, false
}

// inputOf a command: its last redirection; the other words are arguments.
func inputOf(words []word) (args []word, input *word) {
	for _, w := range words {
		if w.input == noInput {
			args = append(args, w)
			continue
		}
		input = &w
	}
	return args, input
}
