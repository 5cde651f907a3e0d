package digest

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes a view for a pull request or a wiki (GitHub's dialect).
func WriteMarkdown(w io.Writer, v View) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", markdownText(v.Title))
	for _, t := range v.Top {
		fmt.Fprintf(&b, "- **%s**\n", markdownText(t))
	}
	for _, f := range v.Facts {
		fmt.Fprintf(&b, "- %s: %s\n", markdownText(f.Name), markdownText(f.Text))
	}
	for _, warning := range v.Warnings {
		fmt.Fprintf(&b, "- **Warning:** %s\n", markdownText(warning))
	}
	markdownTable(&b, v.Head, v.Rows)
	if v.More != "" {
		fmt.Fprintf(&b, "\n%s\n", markdownText(v.More))
	}
	for _, section := range v.Sections {
		fmt.Fprintf(&b, "\n### %s\n", markdownText(section.Title))
		markdownTable(&b, section.Head, section.Rows)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}

func markdownTable(b *strings.Builder, head []Head, rows []ViewRow) {
	if len(rows) > 0 {
		b.WriteString("\n|")
		for _, h := range head {
			b.WriteString(" " + markdownText(h.Name) + " |")
		}
		b.WriteString("\n|")
		for _, h := range head {
			if h.Text {
				b.WriteString("---|")
			} else {
				b.WriteString("--:|")
			}
		}
		b.WriteString("\n")
		for _, r := range rows {
			b.WriteString("|")
			for i, c := range r.Cells {
				if head[i].Code {
					c = markdownCode(c)
				} else {
					c = markdownText(c)
				}
				b.WriteString(" " + c + " |")
			}
			b.WriteString("\n")
		}
	}
}

// markdownText escapes what Markdown or HTML would take for its own
// (CommonMark 2.4), and a table's bars (GFM 4.10).
func markdownText(s string) string {
	s = oneLine(s)
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '&':
			b.WriteString("&amp;")
			continue
		case strings.ContainsRune("\\`*_[]|~", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	// A "@name" would call a person, a "#12" link an issue; a zero-width
	// character would break copying, so an entity stands for the sign.
	return strings.NewReplacer("@", "&#64;", "#", "&#35;", "://", ":&#47;/").Replace(b.String())
}

// markdownCode is a code span with as many backticks as it takes (CommonMark
// 6.1); in a table a bar has to be escaped even there (GFM 4.10).
func markdownCode(s string) string {
	s = strings.ReplaceAll(oneLine(s), "|", `\|`)
	if s == "" {
		return ""
	}
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
