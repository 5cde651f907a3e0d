package load

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/await"
	_ "kasoku/internal/rapidseed"
)

// insideShop is the origin of the tests.
func insideShop(link []byte) ([]byte, bool) {
	t := target{origin: "http://shop.test:80"}
	return t.inside(link)
}

func found(page, base string) []string {
	return words(findAssets(nil, []byte(page), []byte(base), insideShop))
}

func words(targets [][]byte) []string {
	var out []string
	for _, b := range targets {
		out = append(out, string(b))
	}
	return out
}

func TestFindAssets(t *testing.T) {
	tests := []struct{ name, page, want string }{
		{"style sheet", `<link rel=stylesheet href=/a.css>`, "/a.css"},
		{"capitals", `<LINK REL="StyleSheet" HREF='/a.css'/>`, "/a.css"},
		{"relations", `<link rel="shortcut icon" href=i.ico><link rel=preload as=font href=f.woff2><link rel=modulepreload href=m.js>` +
			`<link rel=canonical href=/c><link rel=alternate href=/feed><link rel=preconnect href=//x><link href=/none>`, "/dir/i.ico /dir/f.woff2 /dir/m.js"},
		{"disabled", `<link rel=stylesheet disabled href=/a.css>`, ""},
		{"scripts", `<script src=a.js></script><script type=module src=m.js></script><script nomodule src=old.js></script>` +
			`<script type="application/json" src=d.json></script><script>var x = "<img src=no.png>"</script>`, "/dir/a.js /dir/m.js"},
		{"image", `<img src=a.png alt="x > y"><img alt='<img src=no.png>' src = "b.png" >`, "/dir/a.png /dir/b.png"},
		{"srcset by density", `<img src=a.png srcset="a2.png 2x">`, "/dir/a.png"},
		{"srcset by width", `<img src=a.png srcset=" s.png 480w, l.png 800w">`, "/dir/s.png"},
		{"srcset alone", `<img srcset="a.png, b.png 2x"><img srcset=",c.png">`, "/dir/a.png /dir/c.png"},
		{"picture", `<picture><source media="(max-width: 1px)" srcset=m.png><source srcset="a.avif 1x"><source srcset=b.webp><img src=c.png></picture><img src=d.png>`, "/dir/a.avif /dir/d.png"},
		{"picture by media only", `<picture><source media=print srcset=m.png><img src=c.png></picture>`, "/dir/c.png"},
		{"video", `<video poster=p.jpg><source src=a.webm><source src=b.mp4></video><video src=c.mp4></video><video preload=none src=d.mp4><source src=e.mp4></video>`, "/dir/p.jpg /dir/a.webm /dir/c.mp4"},
		{"input", `<input type=image src=go.png><input type=text src=no.png>`, "/dir/go.png"},
		{"inline style", `<style>body{background:url(bg.png)}</style><p style="background:url(&quot;p.png&quot;)">`, "/dir/bg.png /dir/p.png"},
		{"comment", `<!-- <img src=no.png> --><img src=a.png><!--><img src=b.png>-->`, "/dir/a.png /dir/b.png"},
		{"text elements", `<title><img src=1></title><textarea><img src=2></textarea ><noscript><img src=3></noscript><template><img src=4></template><img src=5>`, "/dir/5"},
		{"closing tag of another", `<script>"</scripts>"<img src=no></SCRIPT	><img src=yes>`, "/dir/yes"},
		{"no tag", `a < b <3 <> </> <img src=a>`, "/dir/a"},
		{"entities", `<img src="/i?a=1&amp;b=2&#38;c&#x3d;3&copy=4&lt;">`, "/i?a=1&b=2&c=3&copy=4%3C"},
		{"twice", `<img src=a><img src=./a><img src=/dir/a#x>`, "/dir/a"},
		{"first attribute counts", `<img src=a src=b>`, "/dir/a"},
		{"base", `<base target=x><base href="/other/x"><base href=/no/><img src=a>`, "/other/a"},
		{"base of another origin", `<base href="http://cdn.test/"><img src=a><img src=/b><img src=http://shop.test:80/c>`, "/c"},
		{"origins", `<img src=http://cdn.test/a><img src=//cdn.test/b><img src=HTTP://Shop.test:80/c><img src=//shop.test:80/d><img src=http://shop.test:8080/e><img src=https://shop.test:80/f>`, "/c /d"},
		{"no addresses", `<img src=""><img src><img src="#x"><img src="data:image/png;base64,xx"><img src=javascript:x><img src=blob:x><img src=about:blank>`, ""},
		{"a path with a colon", `<img src=./a:b><img src=/a:b>`, "/dir/a:b /a:b"},
		{"white space", "<img src=' \n/a\nb c.png\t'>", "/ab%20c.png"},
		{"backslashes", `<img src="\a\b?c\d">`, `/a/b?c\d`},
		{"not ASCII", `<img src="/é.png">`, "/%C3%A9.png"},
		{"query alone", `<img src="?x">`, "/dir/page?x"},
		{"cut within a tag", `<img src=a><img src=b`, "/dir/a"},
		{"cut within a value", `<img src=a><img src="b>`, "/dir/a"},
		{"script without end", `<img src=a><script><img src=b>`, "/dir/a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(found(tt.page, "/dir/page?q"), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFindStyleAssets(t *testing.T) {
	tests := []struct{ name, sheet, want string }{
		{"url", `a{background:URL( bg.png )}b{background:url("c d.png") , url('e.png')}`, "/css/bg.png /css/c%20d.png /css/e.png"},
		{"import", `@import "a.css";@import url(b.css) screen;@IMPORT url('c.css');`, "/css/a.css /css/b.css /css/c.css"},
		{"comment", `/* url(no.png) */a{b:url(a.png)}/* url(`, "/css/a.png"},
		{"text", `a::after{content:"url(no.png)"}b{b:url(a.png)}`, "/css/a.png"},
		{"another function", `a{b:myurl(no.png);c:-url(no.png)}`, ""},
		{"data", `a{b:url(data:image/svg+xml;utf8,<svg xmlns='x'/>)}c{b:url(#mark)}`, ""},
		{"font", `@font-face{font-family:x;src:url(a.eot);src:url(a.eot?#iefix) format("embedded-opentype"),url(a.woff2) format("woff2"),url(a.woff)}a{b:url(c.png)}`, "/css/a.woff2 /css/c.png"},
		{"font within the sheet", `@font-face{src:url(data:font/woff2;base64,xx),url(a.woff)}`, ""},
		{"fonts", `@font-face{src:local("x"),url(a.woff)}@font-face{src:url(b.ttf)}`, "/css/a.woff /css/b.ttf"},
		{"namespace", `@namespace svg url(http://www.w3.org/2000/svg);a{b:url(a.png)}`, "/css/a.png"},
		{"escapes", `a{b:url(a\ b\(1\).png)}c{b:url("\41.png")}`, "/css/a%20b(1).png"},
		{"up", `a{b:url(../img/a.png)}`, "/img/a.png"},
		{"cut", `a{b:url(a.png`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := words(findStyleAssets(nil, []byte(tt.sheet), []byte("/css/site.css"), insideShop))
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Links resolve as net/url does it (RFC 3986, 5.4 has the first ones).
func TestLinksAsRFC(t *testing.T) {
	base, err := url.Parse("http://shop.test:80/b/c/d;p?q")
	if err != nil {
		t.Fatal(err)
	}
	check := func(t interface{ Fatalf(string, ...any) }, ref string) {
		l := linker{base: []byte("/b/c/d;p?q"), inside: insideShop}
		kind, got := l.resolve([]byte(ref))
		u, err := base.Parse(ref)
		if err != nil {
			return
		}
		u.Fragment = ""
		want := strings.TrimPrefix(u.String(), "http://shop.test:80")
		if kind != ownLink || string(got) != want {
			t.Fatalf("%q: %s (kind %d), want %s", ref, got, kind, want)
		}
	}
	for _, ref := range []string{"g", "./g", "g/", "/g", "?y", "g?y", "g?y/./x", "g;x", "g;x?y#s", ".", "./", "..", "../", "../g", "../..", "../../", "../../g",
		"../../../g", "/./g", "/../g", "g.", ".g", "g..", "..g", "./../g", "./g/.", "g/./h", "g/../h"} {
		check(t, ref)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", ".", "..", "b.c", "d"}), 1, 6).Draw(t, "parts")
		lead := rapid.SampledFrom([]string{"", "/", "./", "../"}).Draw(t, "lead")
		tail := rapid.SampledFrom([]string{"", "/", "?x=/../y"}).Draw(t, "tail")
		check(t, lead+strings.Join(parts, "/")+tail)
	})
}

// What is foreign is counted, the rest bounded.
func TestFindAssetsBounds(t *testing.T) {
	var s assetScan
	s.begin([]byte("/"), insideShop)
	s.page([]byte(`<img src=http://cdn.test/a><img src=//cdn.test/b><img src=data:x><img src=c>`))
	if s.foreign != 2 || len(s.found) != 1 {
		t.Errorf("%d foreign, %d found", s.foreign, len(s.found))
	}
	var many bytes.Buffer
	for i := range 10 * maxFound {
		fmt.Fprintf(&many, "<img src=%d>", i)
	}
	if got := found(many.String(), "/"); len(got) != maxFound {
		t.Errorf("%d found", len(got))
	}
	if got := found(`<img src="`+strings.Repeat("a", maxLink+1)+`"><img src=b>`, "/"); len(got) != 1 {
		t.Errorf("found %d, of a link without bound", len(got))
	}
	// Whatever a page repeats, it is read once from begin to end.
	for _, unit := range []string{"<", "<a ", "<a b='", "<!--", "<script>", "</script", "<style>", "<img src=x>", "<img style='url(", "<p style=\"(/*\">", "&", "<a =", "<picture>", "<base href=x>"} {
		page := strings.Repeat(unit, maxScanned/len(unit))
		if took := await.CPU(t, func() { found(page, "/") }); took > 2*time.Second {
			t.Errorf("%d × %q took %s", maxScanned/len(unit), unit, took)
		}
	}
	for _, unit := range []string{"url(", "url('", "@import ", "/*", "\"", "\\", "@font-face{", "url(x)", "@namespace "} {
		sheet := strings.Repeat(unit, maxScanned/len(unit))
		if took := await.CPU(t, func() { findStyleAssets(nil, []byte(sheet), []byte("/"), insideShop) }); took > 2*time.Second {
			t.Errorf("%d × %q took %s", maxScanned/len(unit), unit, took)
		}
	}
}

func TestPageAndStyle(t *testing.T) {
	for text, want := range map[string][2]bool{
		"text/html": {true, false}, "Text/HTML; charset=utf-8": {true, false}, "application/xhtml+xml": {true, false},
		"text/css": {false, true}, "text/css ;charset=x": {false, true}, "text/html2": {}, "": {}, "image/png": {},
	} {
		if got := [2]bool{isPage([]byte(text)), isStyle([]byte(text))}; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// drain fetches all that a queue wants, and what the sheets among it want.
func drain(q *assetQueue, sheets map[string]string) []string {
	var out []string
	for {
		target, ok := q.pop()
		if !ok {
			return out
		}
		out = append(out, string(target))
		if text, ok := sheets[string(target)]; ok {
			q.sheet([]byte(text), target)
		}
	}
}

// A page's assets, then those of its style sheets, each once.
func TestAssetQueue(t *testing.T) {
	q := assetQueue{memory: newAssetMemory(insideShop)}
	page := []byte(`<link rel=stylesheet href=/a.css><img src=/listed.png><img src=/b.png><img src=http://cdn.test/x>`)
	sheets := map[string]string{"/a.css": `@import "sub/c.css";a{b:url(b.png)}`, "/sub/c.css": `@import "../a.css";a{b:url(d.png)}`}
	all := []asset{{target: []byte("/other.png")}, {target: []byte("/listed.png")}}
	want := []string{"/a.css", "/b.png", "/sub/c.css", "/sub/d.png"}
	for i := range 4 { // looked through twice, then remembered
		q.begin(all, []int{1})
		q.page(page, []byte("/"))
		if got := drain(&q, sheets); !slices.Equal(got, want) {
			t.Errorf("visit %d: %q", i, got)
		}
	}
	if q.foreign != 4 {
		t.Errorf("%d foreign", q.foreign)
	}
	// A sheet in the browser's cache still refers to what it refers to.
	q.begin(nil, nil)
	q.kept([]byte("/a.css"))
	q.kept([]byte("/unknown.css"))
	if got := drain(&q, nil); !slices.Equal(got, []string{"/sub/c.css", "/b.png"}) {
		t.Errorf("kept: %q", got)
	}
}

// Pages that repeat cost no allocation, and neither do those that do not.
func TestAssetQueueDoesNotAllocate(t *testing.T) {
	q := assetQueue{memory: newAssetMemory(insideShop)}
	page := []byte(`<html><link rel=stylesheet href=/a.css><img src="b.png?x&amp;y"><p>Visit 0000` + strings.Repeat("<p>text</p>", 100))
	sheet, base, name := []byte(`a{b:url(c.png)}`), []byte("/dir/"), []byte("/a.css")
	at := bytes.Index(page, []byte("0000"))
	visit := func() {
		q.begin(nil, nil)
		q.page(page, base)
		q.sheet(sheet, name)
		for _, ok := q.pop(); ok; _, ok = q.pop() {
		}
	}
	for range 3 {
		visit()
	}
	if n := testing.AllocsPerRun(100, visit); n != 0 {
		t.Errorf("%v allocations for the same page", n)
	}
	if n := testing.AllocsPerRun(100, func() { page[at]++; visit() }); n != 0 {
		t.Errorf("%v allocations for another page each time", n)
	}
}

// What is remembered has a bound.
func TestAssetMemoryBounds(t *testing.T) {
	m := newAssetMemory(insideShop)
	for i := range 3 * maxLists {
		list := m.put(uint64(i), [][]byte{[]byte("/a")}, 0)
		m.noteSheet([]byte(fmt.Sprint("/", i)), list)
	}
	long := bytes.Repeat([]byte("x"), maxLink)
	for i := range 2 * maxListBytes / maxLink {
		m.put(uint64(i), [][]byte{long}, 0)
	}
	if len(m.lists) > maxLists || len(m.sheets) > maxLists || m.bytes > maxListBytes {
		t.Errorf("%d lists, %d sheets, %d bytes", len(m.lists), len(m.sheets), m.bytes)
	}
}

func TestParseAssets(t *testing.T) {
	s := mustParse(t, steps("- {request: GET /, assets: auto}\n- {request: GET /b, name: b, assets: [auto, /x.css]}\n- {request: GET /c, assets: /y.css}")+
		"score: {weights: {GET /found.css: 2, GET / (assets): 3}}\n")
	st := s.sessions[0].steps
	if st[0].auto == nil || st[1].auto == nil || st[2].auto != nil || len(st[0].assets) != 0 || len(st[1].assets) != 1 || len(st[2].assets) != 1 {
		t.Errorf("%+v", st)
	}
	if got := s.Routes()[st[0].auto.route]; got != "GET / (assets)" || !st[0].auto.step.expect.wants(200) {
		t.Errorf("route %q", got)
	}
	for text, want := range map[string]string{"[auto, auto]": "auto twice", "automatic": "or write auto", `["/${user.login}.png"]`: "make it a step"} {
		if _, err := Parse("s.yaml", []byte(steps("- {request: GET /, assets: "+text+"}"))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestReadCache(t *testing.T) {
	for text, want := range map[string]cacheMode{"none": cacheNone, "session": cacheSession, "user": cacheUser} {
		d, n, err := openDocument("s.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c := compiler{document: d}
		if got := c.readCache(n, "visit"); got != want || d.err() != nil || c.readCache(nil, "") != cacheNone {
			t.Errorf("%s: %d %v", text, got, d.err())
		}
	}
	d, n, _ := openDocument("s.yaml", []byte("always"))
	c := compiler{document: d}
	if c.readCache(n, "visit"); d.err() == nil || !strings.Contains(d.err().Error(), `s.yaml:1:1: visit: cache is "always"; write none, session`) {
		t.Errorf("%v", d.err())
	}
}

func FuzzFindAssets(f *testing.F) {
	f.Add([]byte(`<base href=/x/><link rel=icon href=a><img srcset="b 1x"><style>@import "c";a{b:url(d)}</style><script src='e'></script>`), []byte("/dir/page?q"))
	f.Add([]byte(`<picture><source srcset=a><img src=b></picture><p style="x:url(&quot;c\ d&quot;)"><!-- -->`), []byte("x"))
	f.Add([]byte(`@font-face{src:url(a.eot),url(b)}/**/@import url( "c" );`), []byte(""))
	f.Add([]byte(`@import"0"`), []byte("/ /#"))
	f.Fuzz(func(t *testing.T, page, base []byte) {
		if len(page) > 1<<16 {
			return
		}
		for _, list := range [][][]byte{findAssets(nil, page, base, insideShop), findStyleAssets(nil, page, base, insideShop)} {
			if len(list) > maxFound {
				t.Fatalf("%d found", len(list))
			}
			for i, target := range list {
				if target[0] != '/' || bytes.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
					t.Fatalf("%q cannot stand in a request line", target)
				}
				for _, before := range list[:i] {
					if bytes.Equal(before, target) {
						t.Fatalf("%q twice", target)
					}
				}
			}
		}
	})
}

func BenchmarkFindAssets(b *testing.B) {
	page := []byte(`<!doctype html><link rel=stylesheet href=/a.css>` + strings.Repeat(`<div class="row"><p>Some text of a usual length, which is a paragraph.</p><a href="/item?id=1&amp;x=2">more</a></div>`, 150) + `<img src=b.png>`)
	base := []byte("/")
	var s assetScan
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		s.found = s.found[:0]
		s.begin(base, insideShop)
		s.page(page)
	}
}
