package vcl

import (
	"regexp"
	"slices"
	"testing"
)

// Comments and strings are not code, nor is what an edit marked; lines are those
// of the file.
func TestPlain(t *testing.T) {
	c := loadText(t, `vcl 4.1;
sub vcl_recv { # return (pipe);
    /* return (vcl(a));
     */
    set req.http.a = "return (fail)" + {"
return (synth(1))"};
    # kasoku:begin x
    return (restart);
    # kasoku:end x
    if (req.url!~"^/a") { return(
        synth ( 403 ));
    }
}
`)
	code := c.Block("sub", "vcl_recv").Plain()
	const want = `sub vcl_recv { set req.http.a = "" + "" ; if ( req.url ! ~ "" ) { return ( synth ( 403 ) ) ; } } `
	if code.Text != want {
		t.Errorf("%q, want %q", code.Text, want)
	}
	for _, c := range []struct {
		like  string
		found []Place
	}{
		{`return \( (synth|pipe|vcl|fail|restart)`, []Place{{"return ( synth", 10}}},
		{`403`, []Place{{"403", 11}}},
		{`\bs\w+`, []Place{{"sub", 2}, {"set", 5}, {"synth", 11}}},
		{`pipe|vcl \(|fail|restart`, nil},
	} {
		if found := code.Find(regexp.MustCompile(c.like)); !slices.Equal(found, c.found) {
			t.Errorf("%s: %v, want %v", c.like, found, c.found)
		}
	}
}
