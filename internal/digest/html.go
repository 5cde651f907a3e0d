package digest

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"kasoku/internal/ui"
)

//go:embed html_page.html
var pageSource string

//go:embed html_style.css
var styleSource string

// page escapes by context (html/template); only the style sheet is trusted.
var page = template.Must(template.New("digest").Funcs(template.FuncMap{
	"css":          func() template.CSS { return template.CSS(styleSource) },
	"percent":      func(f float64) string { return fmt.Sprintf("%.1f", 100*min(max(f, 0), 1)) },
	"cells":        pageCells,
	"sectionCells": func(s Section, r ViewRow) []pageCell { return pageCells(View{Head: s.Head}, r) },
	"inc":          func(i int) int { return i + 1 },
}).Parse(pageSource))

// pageCell is one cell with its column's head.
type pageCell struct {
	Head
	Value string
	Last  bool
}

func pageCells(v View, r ViewRow) []pageCell {
	var out []pageCell
	for i, c := range r.Cells {
		out = append(out, pageCell{v.Head[i], c, i == len(r.Cells)-1})
	}
	return out
}

// WriteHTML writes a view as one file without scripts that loads nothing.
func WriteHTML(w io.Writer, v View) error {
	var b bytes.Buffer // nothing is written of a page that fails half-way
	if err := page.Execute(&b, v); err != nil {
		return fmt.Errorf("write HTML: %w", err)
	}
	// Control characters are no HTML; the page's own text has none.
	if _, err := io.WriteString(w, ui.Clean(b.String())); err != nil {
		return fmt.Errorf("write HTML: %w", err)
	}
	return nil
}
