package report

import (
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/ui"
)

// asText is a cell that is no code whatever it begins with: see mdTable.
func asText(s string) string { return strings.TrimLeft(s, "`") }

// mdTable writes a table; cells that are not code are escaped.
func (p *page) mdTable(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.line("\n| %s |", strings.Join(head, " | "))
	p.line("|%s", strings.Repeat(" --- |", len(head)))
	for _, r := range rows {
		for i, c := range r {
			if strings.HasPrefix(c, "`") {
				// Within a table a bar ends the cell even in code (GFM 4.10).
				r[i] = strings.ReplaceAll(c, "|", `\|`)
			} else {
				r[i] = mdText(c)
			}
		}
		p.line("| %s |", strings.Join(r, " | "))
	}
}

// mdBlock writes a fenced block whose fence the text cannot close.
func (p *page) mdBlock(lang, text string) {
	text = change.Redact(text)
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	p.line("\n%s%s\n%s\n%s\n", fence, lang, strings.TrimRight(text, "\n"), fence)
}

// mdCode is a code span (CommonMark 6.1): as many back quotes as the text does
// not hold.
func mdCode(s string) string {
	s = mdLine(s)
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// mdEscape is every character that means something within a line, as
// backslash escape (CommonMark 2.4) or, for HTML, as entity. "#", "+", "-" and
// digits matter only at the beginning of a line, where no text is put.
var mdEscape = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "!", `\!`, "@", "&#64;")

// mdEntities is what means something in HTML or in Markdown, for text within the
// line of a tag, where Markdown's own escapes are not read.
var mdEntities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "[", "&#91;", "]", "&#93;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "@", "&#64;", `"`, "&quot;")

// mdText is one line of plain text.
func mdText(s string) string { return mdEscape.Replace(mdLine(s)) }

// mdCoded is one line of text with code between back quotes.
func mdCoded(s string) string {
	var b strings.Builder
	for _, t := range coded(mdLine(s)) {
		if t.Code {
			b.WriteString(mdCode(t.Text))
		} else {
			b.WriteString(mdEscape.Replace(t.Text))
		}
	}
	return b.String()
}

// mdLine is what is shown of a text in one line. Secrets go before anything is
// escaped or cut: what is no longer looks like one.
func mdLine(s string) string { return strings.Join(strings.Fields(ui.Clean(change.Redact(s))), " ") }

func longestRun(s string, of rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r == of {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
