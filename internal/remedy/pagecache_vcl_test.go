package remedy_test

import (
	"testing"

	"kasoku/internal/remedy/remedytest"
)

// What a VCL says of an answer runs behind what Kasoku writes. It may not keep a
// page for longer; all else goes on.
func TestVarnishKeepsNothingForLonger(t *testing.T) {
	const sub = "sub vcl_backend_response {\n    "
	for name, c := range map[string]struct{ vcl, says string }{
		"times":           {sub + "set beresp.ttl = 120s;\n    set beresp.grace = 6h;\n}\n", "default.vcl:4: sub vcl_backend_response sets for how long answers are kept (set beresp.ttl)"},
		"grace":           {sub + "if (beresp.status < 500) { set beresp.grace = 6h; }\n}\n", "(set beresp.grace)"},
		"keep":            {sub + "set\n beresp.keep=1h;\n}\n", "default.vcl:4: sub vcl_backend_response sets"},
		"in a sub":        {"sub times {\n    set beresp.ttl = 1h;\n}\n" + sub + "call times;\n}\n", "default.vcl:4: sub times sets"},
		"the built-in's":  {"sub vcl_beresp_stale { set beresp.ttl = 1h; }\n", "sub vcl_beresp_stale sets"},
		"another":         {sub + "set beresp.http.X-A = 1;\n}\n" + sub + "set beresp.ttl = 1h;\n}\n", "default.vcl:7: "},
		"variants":        {sub + "unset beresp.http.vary;\n}\n", "changes what tells which answers are kept, and for whom (unset beresp.http.vary)"},
		"variants quoted": {sub + "set beresp.http.\"Vary\" = \"Accept-Encoding\";\n}\n", "for whom (set beresp.http.)"},
		"cookies":         {sub + "unset beresp.http.Set-Cookie;\n}\n", "unset beresp.http.Set-Cookie"},
		"private":         {sub + "set beresp.http.Cache-Control = \"public\";\n}\n", "set beresp.http.Cache-Control"},
		"a file":          {sub + "include \"rules.vcl\";\n}\n", "includes what is not read"},
		"code":            {sub + "C{ f(); }C\n}\n", "does what is not known"},
	} {
		t.Run(name, func(t *testing.T) { remedytest.WantNone(t, varnished(plainVCL+c.vcl), "varnish.pages", c.says) })
	}
	const harmless = sub + `# set beresp.ttl = 1h;
    set beresp.http.x-url = bereq.url;
    unset beresp.http.Server;
    if (beresp.http.Surrogate-Control ~ "ESI/1.0" && beresp.ttl > 1s) {
        set beresp.do_esi = true;
    }
    if (beresp.status >= 500) {
        set beresp.uncacheable = true;
        return (deliver);
    }
}
sub vcl_backend_error { set beresp.ttl = 1s; }
`
	in := varnished(plainVCL + harmless)
	p := remedytest.Want(t, in, "varnish.pages")
	remedytest.Has(t, remedytest.After(p, ""), harmless[len(sub):], "set beresp.ttl = 300.000s;")
	// What was written there itself is no reason against another page.
	remedytest.Put(in, p.Changes)
	in.Evidence.Load.Pages = append(in.Evidence.Load.Pages, strangersPage("/news"))
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "varnish.pages"), ""), "/news")
}
