package record

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// maxPlan of JMeter in bytes.
	maxPlan = 64 << 20
	// maxPlanDepth of elements in elements.
	maxPlanDepth = 500
)

// jmx is an element of a test plan with its place.
type jmx struct {
	tag      string
	attrs    map[string]string
	text     string
	line     int
	children []*jmx
	chars    []byte // text as far as it is read
}

// readJMX reads a plan; XML entities of its own are not known and are refused.
func readJMX(r io.Reader) (*jmx, error) {
	in := &io.LimitedReader{R: r, N: maxPlan + 1}
	d := xml.NewDecoder(in)
	// Plans are written in UTF-8; what says otherwise is read byte by byte.
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	root := &jmx{}
	stack := []*jmx{root}
	for {
		t, err := d.Token()
		line, _ := d.InputPos()
		if errors.Is(err, io.EOF) {
			break
		}
		if in.N <= 0 {
			return nil, fmt.Errorf("larger than %d MiB", maxPlan>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		top := stack[len(stack)-1]
		switch t := t.(type) {
		case xml.StartElement:
			e := &jmx{tag: t.Name.Local, line: line, attrs: map[string]string{}}
			for _, a := range t.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, e)
			if stack = append(stack, e); len(stack) > maxPlanDepth {
				return nil, fmt.Errorf("line %d: nested deeper than %d", line, maxPlanDepth)
			}
		case xml.EndElement:
			top.text, top.chars = string(top.chars), nil
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.chars = append(top.chars, t...)
		}
	}
	for _, e := range root.children {
		if e.tag == "jmeterTestPlan" {
			return e, nil
		}
	}
	return nil, errors.New("it has no jmeterTestPlan, so it is no plan of JMeter")
}

// property of an element by its name; "" if it has none.
func (e *jmx) property(name string) string {
	if p := e.find(name); p != nil {
		return p.text
	}
	return ""
}

// find the property with this name.
func (e *jmx) find(name string) *jmx {
	for _, c := range e.children {
		if c.attrs["name"] == name {
			return c
		}
	}
	return nil
}

// list are the entries of a collection property, which may stand in an element
// property.
func (e *jmx) list(names ...string) []*jmx {
	for _, name := range names {
		if e = e.find(name); e == nil {
			return nil
		}
	}
	return e.children
}

func (e *jmx) enabled() bool { return !strings.EqualFold(e.attrs["enabled"], "false") }

// name as a person gave it.
func (e *jmx) name() string { return e.attrs["testname"] }
