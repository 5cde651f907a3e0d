package apache

import (
	"fmt"
	"strings"
)

// maxUses bounds how deep macros use macros, and how many directives they
// write out in all.
const maxUses = 50

// macro is a <Macro name parameters…> section.
type macro struct {
	at     place
	params []string
	body   []*line
}

// define notes the macro of a <Macro> section (mod_macro).
func (s *state) define(at place, d *Directive, body []*line) {
	if len(d.Args) > 0 {
		s.macros[strings.ToLower(d.Args[0])] = macro{at: at, params: d.Args[1:], body: body}
	}
}

// use writes a macro out where Use names it. A macro that is not defined gives
// nothing: its definition may be in a module's hands.
func (r *reader) use(at place, d *Directive) ([]*Directive, error) {
	if len(d.Args) == 0 {
		return nil, nil
	}
	m, ok := r.state.macros[strings.ToLower(d.Args[0])]
	if !ok {
		return nil, nil
	}
	given := d.Args[1:]
	if len(given) != len(m.params) {
		return nil, fmt.Errorf("%s %s: the macro takes %d arguments, not %d", d.where(), d.Args[0], len(m.params), len(given))
	}
	if r.uses >= maxUses {
		return nil, fmt.Errorf("%s %s: macros use macros more than %d deep", d.where(), d.Args[0], maxUses)
	}
	var lines []*line
	for _, l := range m.body {
		lines = append(lines, &line{text: substitute(l.text, m.params, given), num: l.num})
	}
	nodes, err := nest(lines)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", d.where(), d.Args[0], atPath(m.at.file.Path, err))
	}
	r.uses++
	defer func() { r.uses-- }()
	return r.expand(place{file: m.at.file, macro: true, chain: at.chain, key: at.key}, nodes, d, d.State)
}

// substitute puts values in the place of parameters: at each place the longest
// parameter that stands there.
func substitute(text string, params, given []string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		best := -1
		for p, name := range params {
			if name != "" && strings.HasPrefix(text[i:], name) && (best < 0 || len(name) > len(params[best])) {
				best = p
			}
		}
		if best < 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(given[best])
		i += len(params[best])
	}
	return b.String()
}
