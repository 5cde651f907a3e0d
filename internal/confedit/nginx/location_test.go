package nginx

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatchLocation(t *testing.T) {
	const conf = `http { server {
		location = / { id root; }
		location / { id slash; }
		location /images/ { id images; location /images/big/ { id big; } location ~ \.svg$ { id svg; } }
		location ^~ /static/ { id static; }
		location ~ \.(gif|jpg)$ { id gif; }
		location ~* \.JPEG$ { id jpeg; }
		location ~ /\.(?!well-known) { id dot; }
		location /app/ { id app; proxy_pass http://x; }
		location =/exact { id exact; }
		location ^~/near { id near; }
		location ~^/(\w+)/\1$ { id twice; }
		location @named { id named; }
	} }`
	tests := []struct{ uri, want string }{
		{"/", "root"}, {"/x", "slash"}, {"/?a=/images/", "root"},
		{"/images/a.gif", "gif"}, {"/images/a.png", "images"}, {"/images/big/a.png", "big"}, {"/images/big/a.svg", "svg"},
		{"/static/a.gif", "static"}, {"/a.jpeg", "jpeg"}, {"/a.Jpeg", "jpeg"}, {"/a.GIF", "slash"},
		{"/.git/config", "dot"}, {"/.well-known/acme", "slash"}, {"/app", "app"}, {"/app/x", "app"}, {"/apple", "slash"},
		{"/exact", "exact"}, {"/exact/", "slash"}, {"/nearby.gif", "near"}, {"/ab/ab", "twice"}, {"/ab/ac", "slash"},
		{"/images/../x.gif?y", "gif"}, {"/static%2Fa.gif", "static"}, {"//static//a.gif", "static"}, {"/./static/./", "static"}, {"@named", "slash"},
	}
	server := loadText(t, conf).Root.First("http").First("server")
	for _, tt := range tests {
		got := "none"
		if d := MatchLocation(server, tt.uri); d != nil {
			got = d.First("id").Args[0]
		}
		if got != tt.want {
			t.Errorf("%s goes to %s, want %s", tt.uri, got, tt.want)
		}
	}
	empty := loadText(t, "server { location /x { } }").Root.First("server")
	if d := MatchLocation(empty, "/y"); d != nil {
		t.Errorf("/y goes to %v, want the server level", d)
	}
	if d := MatchLocation(nil, "/"); d != nil {
		t.Errorf("no server gives %v", d)
	}
}

func TestPCRE(t *testing.T) {
	tests := []struct {
		expr, s string
		want    bool
	}{
		{`^/(?!admin)`, "/user", true}, {`^/(?!admin)`, "/admin", false}, {`(?<=/)x`, "a/x", true}, {`(?<!/)x$`, "/x", false},
		{`^(a|ab)(c|bcd)$`, "abcd", true}, {`^(?>a+)ab`, "aaab", false}, {`^a++b`, "aab", true}, {`^a{2,3}$`, "aaaa", false}, {`a{x`, "a{x", true},
		{`(?i)ABC(?-i)d`, "abcd", true}, {`(?i:ABC)D`, "abcd", false}, {`^[^/]+$`, "a/b", false}, {`[]a]`, "]", true}, {`[\d-]`, "-", true}, {`[[:alpha:]_]+$`, "ab_", true},
		{`\bfoo\b`, "a foo b", true}, {`(?<n>.)\k<n>`, "abb", true}, {`\Qa.b\E+$`, "a.bb", true}, {`^.$`, "\xc3\xa9", false}, {`a$`, "a\n", true}, {`\x41`, "A", true}, {`^(a*)*$`, "aaab", false},
	}
	for _, tt := range tests {
		re, err := compilePCRE(tt.expr, false)
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
			continue
		}
		if got, sure := re.match(tt.s); got != tt.want || !sure {
			t.Errorf("%s on %q: %v (sure: %v), want %v", tt.expr, tt.s, got, sure, tt.want)
		}
	}
	for _, bad := range []string{"(", ")", "[a", "a**b|*", `\`, "(?<n", "a{3,2}", `\k<x>`, "[z-a]", `[[:no:]]`, `\y`} {
		if _, err := compilePCRE(bad, false); err == nil && bad != "a**b|*" {
			t.Errorf("%s: no error", bad)
		}
	}
	slow, _ := compilePCRE(`^(a+)+$`, false)
	if _, sure := slow.match(strings.Repeat("a", 60) + "b"); sure {
		t.Errorf("an endless match says that it is sure")
	}
}

// genLocations draws location blocks that nginx accepts inside outer.
func genLocations(t *rapid.T, outer string, depth int, id *int) string {
	var b strings.Builder
	used := map[string]bool{}
	for range rapid.IntRange(0, 5-depth).Draw(t, "locations") {
		*id++
		own := *id
		mod := rapid.SampledFrom([]string{"", "", "= ", "^~ ", "~ ", "~* "}).Draw(t, "mod")
		if outer == "~" { // nginx wants nothing but regular expressions inside one
			mod = rapid.SampledFrom([]string{"~ ", "~* "}).Draw(t, "mod")
		}
		name := outer + rapid.SampledFrom([]string{"/", "/a", "/a/", "/a/b", "/B", "/ab", "/a/b/", "c"}).Draw(t, "name")
		if mod == "~ " || mod == "~* " {
			name = rapid.SampledFrom([]string{`\.x$`, `^/a`, `B`, `^/(?!a)`, `^/[ab]/?$`, `b(?=\.)`, `"a{1,2}b"`, `^/.$`, `\bab\b`}).Draw(t, "regex")
		} else if key := strings.TrimSpace(strings.TrimPrefix(mod, "^~")) + name; used[key] {
			continue
		} else {
			used[key] = true
		}
		pass := ""
		if strings.HasSuffix(name, "/") && mod != "~ " && mod != "~* " && rapid.Bool().Draw(t, "pass") {
			pass = " proxy_pass http://127.0.0.1:9;"
		}
		inner := ""
		if mod != "= " && depth < 2 {
			under := name
			if strings.HasPrefix(mod, "~") {
				under = "~"
			}
			inner = genLocations(t, under, depth+1, id)
		}
		fmt.Fprintf(&b, "location %s%s { return 200 %d;%s %s}\n", mod, name, own, pass, inner)
	}
	return b.String()
}

var genURI = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"/", "/a", "/b", "/B", "ab", "c", ".x", "/..", "/.", "%61", "%2F", "%c3%a9", "//", "?a=/b", "%0a"}), 0, 5).Draw(t, "uri")
	return "/" + strings.Join(parts, "")
})
