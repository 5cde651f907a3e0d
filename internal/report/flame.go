package report

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"kasoku/internal/ui"
)

// FlameOptions of FlameSVG. The zero value is good for a page.
type FlameOptions struct {
	// Title is the picture's name for those who cannot see it.
	Title string
	// Width in pixels; 0 means 840, the report's column.
	Width float64
	// MaxBytes is the largest picture; 0 means 150,000. The narrowest functions
	// that it has no room for are left out.
	MaxBytes int
	// Value names the profile's value to draw, "alloc_space"; if it has none of
	// that name the last one, which is time in CPU profiles.
	Value string
	// Waiting functions are drawn grey.
	Waiting map[string]bool
}

// Sizes of a flame graph, pixels.
const (
	flameWidth = 840
	flameRow   = 17
	// flameChar is the mean width of a character at 11 px sans serif.
	flameChar = 6.1
	// flameLeast is the narrowest function that is drawn. Narrower than half a
	// pixel, nobody sees it.
	flameLeast = 0.5
	// flameText is the narrowest function that shows its name: three letters.
	flameText = 3*flameChar + 4
	// flameDepth rows at most: a page of 2,000 pixels.
	flameDepth = 120
	// flameBytes of one picture, so that a report with ten stays a page that a
	// mail takes.
	flameBytes = 150_000
)

// flameStyle makes the picture complete in itself, light and dark. Names begin
// with k-, because several pictures share a page.
const flameStyle = `<style>.k-f rect{stroke:#fcfcfa;stroke-width:.6}.k-f text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;fill:#1c1c1a;pointer-events:none}` +
	`.k-0{fill:#e8b48a}.k-1{fill:#e9c28d}.k-2{fill:#e6a58a}.k-3{fill:#efcf98}.k-k{fill:#a9bfd6}.k-w{fill:#d3d1c8}.k-r{fill:#e8e7e1}.k-f g:hover rect{stroke:#1c1c1a;stroke-width:1.2}` +
	`@media screen and (prefers-color-scheme:dark){.k-f rect{stroke:#16171a}.k-f text{fill:#f0efe9}.k-0{fill:#8a5530}.k-1{fill:#876228}.k-2{fill:#8a4632}.k-3{fill:#7d6a2a}.k-k{fill:#3f5f80}.k-w{fill:#4a4b4d}.k-r{fill:#2f3034}.k-f g:hover rect{stroke:#e2e1dc}}</style>`

// flame is one function in the tree of calls.
type flame struct {
	name, file string
	line       int64
	value      int64
	children   map[[2]string]*flame
}

func (f *flame) child(name, file string, line int64) *flame {
	key := [2]string{name, file}
	c := f.children[key]
	if c == nil {
		c = &flame{name: name, file: file, line: line, children: map[[2]string]*flame{}}
		f.children[key] = c
	}
	return c
}

// widest first, so that what matters is on the left.
func (f *flame) sorted() []*flame {
	out := make([]*flame, 0, len(f.children))
	for _, c := range f.children {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *flame) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.name, b.name), cmp.Compare(a.file, b.file))
	})
	return out
}

// flameTree adds the samples up from the outermost function.
func flameTree(p *profile.Profile, value int) *flame {
	root := &flame{name: "all", children: map[[2]string]*flame{}}
	for _, s := range p.Sample {
		v := s.Value[value]
		if v <= 0 || root.value > math.MaxInt64-v {
			continue
		}
		at := root
		at.value += v
		for i := len(s.Location) - 1; i >= 0; i-- {
			loc := s.Location[i]
			if len(loc.Line) == 0 {
				at = at.child("[unknown]", "", 0)
				at.value += v
			}
			for j := len(loc.Line) - 1; j >= 0; j-- {
				if fn := loc.Line[j].Function; fn != nil {
					at = at.child(fn.Name, fn.Filename, loc.Line[j].Line)
					at.value += v
				}
			}
		}
	}
	return root
}

// FlameSVG draws a profile as one picture that needs nothing else: callers
// above what they call, width by share, the details in each function's title.
// It is an error if the profile is empty or not valid.
func FlameSVG(w io.Writer, p *profile.Profile, o FlameOptions) error {
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("draw a flame graph: %w", err)
	}
	value := len(p.SampleType) - 1
	for i, t := range p.SampleType {
		if t.Type == o.Value {
			value = i
		}
	}
	if o.Width <= 0 {
		o.Width = flameWidth
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = flameBytes
	}
	if value < 0 {
		return errors.New("draw a flame graph: the profile has no values")
	}
	root := flameTree(p, value)
	if root.value == 0 {
		return errors.New("draw a flame graph: the profile has no samples")
	}
	d := &flameDrawing{o: o, root: root, unit: p.SampleType[value].Unit}
	d.place(root, 0, 0)
	_, err := io.WriteString(w, d.svg())
	return err
}

// flameBox is one function with its place.
type flameBox struct {
	*flame
	x, w  float64
	depth int
}

// flameDrawing is one picture under way.
type flameDrawing struct {
	o     FlameOptions
	root  *flame
	unit  string
	boxes []flameBox // callers before what they call
}

// place finds the places of a function and of all that it calls.
func (d *flameDrawing) place(f *flame, x float64, depth int) {
	w := d.o.Width * float64(f.value) / float64(d.root.value)
	if w < flameLeast || depth >= flameDepth {
		return
	}
	d.boxes = append(d.boxes, flameBox{f, x, w, depth})
	for _, c := range f.sorted() {
		d.place(c, x, depth+1)
		x += d.o.Width * float64(c.value) / float64(d.root.value)
	}
}

// svg draws the widest boxes that MaxBytes has room for. A caller is never
// narrower than what it calls, and of equals it comes first, so that no box
// hangs in the air.
func (d *flameDrawing) svg() string {
	slices.SortStableFunc(d.boxes, func(a, b flameBox) int { return cmp.Compare(b.value, a.value) })
	var boxes strings.Builder
	depth := 0
	room := d.o.MaxBytes - len(d.frame(flameDepth, ""))
	for _, b := range d.boxes {
		text := d.draw(b)
		if boxes.Len()+len(text) > room {
			break
		}
		boxes.WriteString(text)
		depth = max(depth, b.depth)
	}
	return d.frame(depth+1, boxes.String())
}

// frame is the picture around its boxes.
func (d *flameDrawing) frame(rows int, boxes string) string {
	return fmt.Sprintf(`<svg class="k-f" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %d" width="%s" style="max-width:100%%;height:auto" role="img" aria-label="%s">%s%s</svg>`,
		px(d.o.Width), rows*flameRow, px(d.o.Width), html.EscapeString(shownName(d.o.Title)), flameStyle, boxes)
}

func (d *flameDrawing) draw(f flameBox) string {
	var b strings.Builder
	y := f.depth * flameRow
	fmt.Fprintf(&b, `<g><title>%s</title><rect class="%s" x="%s" y="%d" width="%s" height="%d"/>`,
		html.EscapeString(d.title(f.flame)), d.class(f.flame, f.depth), px(f.x), y, px(f.w), flameRow-1)
	if f.w >= flameText {
		// Cut to the room there is.
		fmt.Fprintf(&b, `<text x="%s" y="%d">%s</text>`, px(f.x+3), y+12, html.EscapeString(ui.Truncate(shownName(f.name), int((f.w-4)/flameChar))))
	}
	b.WriteString("</g>")
	return b.String()
}

// mostName bounds the names in titles; C++ has some of kilobytes.
const mostName = 200

func shownName(s string) string {
	return ui.Truncate(strings.Join(strings.Fields(ui.Clean(s)), " "), mostName)
}

func (d *flameDrawing) title(f *flame) string {
	text := shownName(f.name)
	if f.file != "" {
		text += "\n" + shownName(f.file)
		if f.line > 0 {
			text += fmt.Sprintf(":%d", f.line)
		}
	}
	return text + fmt.Sprintf("\n%.1f %%, %s", 100*float64(f.value)/float64(d.root.value), flameValue(f.value, d.unit))
}

func flameValue(v int64, unit string) string {
	switch unit {
	case "nanoseconds":
		return ui.Duration(time.Duration(v))
	case "bytes":
		return ui.Bytes(v)
	}
	return fmt.Sprintf("%d %s", v, unit)
}

// class is the colour: the root, the kernel and waiting have their own, others
// one of four by name, so that neighbours differ and a name keeps its colour.
func (d *flameDrawing) class(f *flame, depth int) string {
	switch {
	case depth == 0:
		return "k-r"
	case d.o.Waiting[f.name]:
		return "k-w"
	case strings.HasPrefix(f.file, "[kernel"):
		return "k-k"
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, f.name)
	return fmt.Sprintf("k-%d", h.Sum32()%4)
}
