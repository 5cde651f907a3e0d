package accesslog

import "bytes"

// byForm wants of a template's times that they are such by their form, because
// the lines alone say that they have the format: 3.10 is a ratio, and a dash in
// the place of the request's time is another value.
func (f *Format) byForm() {
	for i := range f.ops {
		o := &f.ops[i]
		if (o.kind == kindRequestTime || o.kind == kindUpstreamTime) && o.unit == 0 {
			o.form, o.needed = true, o.kind == kindRequestTime
		}
	}
}

// fits: the text has the form that the place wants.
func (p *place) fits(v []byte) bool {
	if p.form && !isTimeForm(v) {
		return false
	}
	if p.decimals == 0 {
		return true
	}
	_, fraction, _ := bytes.Cut(v, []byte("."))
	return len(fraction) == int(p.decimals) && isDigits(fraction)
}

// fitsAll is fits for each of the values that nginx joins.
func (p *place) fitsAll(v []byte) bool {
	if !p.form && p.decimals == 0 {
		return true
	}
	for len(v) > 0 {
		end := bytes.IndexAny(v, ", ")
		if end < 0 {
			end = len(v)
		}
		if one := v[:end]; len(one) > 0 && string(one) != "-" && string(one) != ":" && !p.fits(one) {
			return false
		}
		v = v[min(end+1, len(v)):]
	}
	return true
}
