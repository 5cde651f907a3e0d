package record

import "strings"

// cmdCommands reads what browsers write for cmd.exe: carets are taken away,
// then words are read as a Windows program reads its command line.
func cmdCommands(text string) []command {
	var out []command
	var list command
	var now *word
	var buf []byte
	line, quoted := 1, false
	add := func(s string) {
		if now == nil {
			now = &word{line: line}
		}
		buf = append(buf, s...)
	}
	end := func(whole bool) {
		if now != nil {
			now.text = string(buf)
			list, now, buf = append(list, *now), nil, buf[:0]
		}
		if whole && len(list) > 0 {
			out, list = append(out, list), nil
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		escaped := false
		if c == '^' && i+1 < len(text) {
			i++
			c, escaped = text[i], true
			if c == '\n' { // goes on in the next line; an empty one after it is a line end
				line++
				if i+1 < len(text) && text[i+1] == '\n' {
					i++
					line++
					add("\n")
				}
				continue
			}
		}
		switch {
		case c == '\n':
			line++
			if quoted && !escaped {
				add("\n")
				continue
			}
			end(true)
		case c == '\\':
			slashes, quote, last := cmdSlashes(text, i)
			if i = last; !quote {
				add(strings.Repeat(`\`, slashes))
				continue
			}
			add(strings.Repeat(`\`, slashes/2))
			if slashes%2 == 1 {
				add(`"`)
			} else {
				quoted = !quoted
			}
		case c == '"':
			quoted = !quoted
			add("")
		case !quoted && (c == ' ' || c == '\t'):
			end(false)
		case !quoted && !escaped && c == '&':
			end(true)
		default:
			add(text[i : i+1])
		}
	}
	end(true)
	return out
}

// cmdSlashes counts the backslashes that begin at i, each of which may have a
// caret before it, and says whether a quote follows: then two of them mean one,
// and an odd one makes the quote a character (Microsoft C, "Parsing C
// command-line arguments"). last is the place of the last byte that belongs to
// them.
func cmdSlashes(text string, i int) (slashes int, quote bool, last int) {
	for last = i; ; {
		slashes++
		next := last + 1
		if next < len(text) && text[next] == '^' {
			next++
		}
		if next >= len(text) {
			return slashes, false, last
		}
		switch text[next] {
		case '\\':
			last = next
		case '"':
			return slashes, true, next
		default:
			return slashes, false, last
		}
	}
}
