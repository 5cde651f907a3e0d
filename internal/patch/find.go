package patch

import (
	"cmp"
	"slices"
)

// Find returns the places of all shapes in the order of their files and lines: those that
// are offered, and those that are refused.
func (p *Program) Find() []*Place {
	defer p.php.keep()()
	var out []*Place
	for _, s := range Shapes() {
		if s.find != nil && len(p.packages) > 0 {
			out = append(out, s.find(p)...)
		}
	}
	if p.php != nil {
		out = append(out, findPHP(p)...)
	}
	slices.SortStableFunc(out, func(a, b *Place) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Shape, b.Shape))
	})
	number(out)
	for _, one := range out {
		if one.lead != nil {
			one.With = one.lead.ID
		}
	}
	for _, one := range out {
		if one.Refused == nil {
			if _, err := Files([]*Place{one}); err != nil {
				one.refused(refuse("compiles", "%v", err))
			}
		}
	}
	return out
}
