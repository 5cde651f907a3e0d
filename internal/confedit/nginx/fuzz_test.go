package nginx

import (
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

// FuzzLoad: every text that nginx's rules take prints as it is; setting the
// arguments of a directive changes that directive's text alone, reads back,
// and makes the tree that a fresh reading gives; a failed edit changes nothing.
func FuzzLoad(f *testing.F) {
	f.Add("a 1;\r\nb { c \"x\\\"\" 'y'; # d\n}\nmap $a ${b} { ~^x{2} \"{;}\"; }", 1, "v w", "z")
	f.Add("location ~ \\.php$ { content_by_lua_block { local a = \"}\" -- }\n } if ($a = 'b') { return 404; } }", 0, "", "}")
	f.Fuzz(func(t *testing.T, src string, which int, one, two string) {
		files := memory.Files{"/etc/nginx/nginx.conf": src}
		c, err := Load("/etc/nginx/nginx.conf", "", files.Read, files.Glob)
		if err != nil {
			return
		}
		if mainText(c) != src {
			t.Fatalf("%q printed as %q", src, mainText(c))
		}
		var all []*Directive
		c.Root.Walk(func(d *Directive) bool { all = append(all, d); return true })
		if len(all) == 0 || strings.Contains(one+two, "\x00") {
			return
		}
		d := all[int(uint(which)%uint(len(all)))]
		if d.Name == "include" || len(d.Args) == 0 {
			return
		}
		was := d.node.text()
		at := strings.Index(src, was)
		if err := d.SetArgs(one, two); err != nil {
			if mainText(c) != src {
				t.Fatalf("a failed edit made %q of %q", mainText(c), src)
			}
			return
		}
		now := mainText(c)
		if fresh := d.node.text(); at >= 0 && strings.Count(src, was) == 1 && now != src[:at]+fresh+src[at+len(was):] {
			t.Fatalf("%q became %q, but only %q was to become %q", src, now, was, fresh)
		}
		checkConsistent(t, c, files)
	})
}
