package prove

import (
	"testing"

	"kasoku/internal/load"
)

// TestOtherSpelling: nginx writes a Content-Type in its own way, which is no
// other type.
func TestOtherSpelling(t *testing.T) {
	for _, x := range []struct {
		was, is string
		differs bool
	}{
		{"text/css;charset=UTF-8", "text/css; charset=utf-8", false},
		{`text/html; charset="utf-8"`, "TEXT/html;charset=utf-8", false},
		{"text/css;charset=UTF-8", "text/css", true},
		{"text/css;charset=UTF-8", "text/css;charset=latin1", true},
		{"multipart/mixed; boundary=AA", "multipart/mixed; boundary=aa", true},
		{"text/css", "text/plain", true},
		{"", "", false},
		{"", "text/css", true},
		{"not a type;;", "not a type;;", false},
	} {
		p := &Page{}
		v := load.Visit{Status: 200}
		p.add(v, load.Answer{Type: x.was, Body: []byte("same")})
		if why := p.differs(v, load.Answer{Type: x.is, Body: []byte("same")}); (why != "") != x.differs {
			t.Errorf("%q, then %q: %q", x.was, x.is, why)
		}
	}
}
