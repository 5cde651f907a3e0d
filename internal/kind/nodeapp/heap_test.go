package nodeapp

import "testing"

func TestSemiSpace(t *testing.T) {
	for exe, want := range map[string]bool{"/usr/bin/node": true, "/srv/app/.nvm/versions/node/v16.20.2/bin/node": true, "/srv/app/.nvm/versions/node/v16.17.1/bin/node": false,
		"/opt/node-v14.21.3-linux-x64/bin/node": false, "/opt/node-v18.9.1-linux-x64/bin/node": false, "/srv/app/.asdf/installs/nodejs/18.10.0/bin/node": true, "/opt/node-v22.1.0-linux-x64/bin/node": true} {
		if got := TakesSemiSpace(exe); got != want {
			t.Errorf("%s takes it: %t, want %t", exe, got, want)
		}
	}
	for _, c := range []struct {
		set, has string
		words    []string
		want     bool
	}{
		{"", "", []string{"node", "server.js"}, false},
		{"--enable-source-maps", "", []string{"node", "--max-old-space-size=512", "server.js"}, false},
		{"--max-semi-space-size=32", "", nil, true},
		{"", "--trace-warnings --max_semi_space_size=32", nil, true},
		{"", "", []string{"node", "--max-semi-space-size", "32", "server.js"}, true},
		{"", "", []string{"node", "server.js", "max-semi-space-size"}, false},
	} {
		if got := SemiSpaceChosen(c.set, c.has, c.words); got != c.want {
			t.Errorf("%q, %q, %q: chosen %t, want %t", c.set, c.has, c.words, got, c.want)
		}
	}
	if got := WithSemiSpace("--enable-source-maps", 64); got != "--enable-source-maps --max-semi-space-size=64" {
		t.Error(got)
	}
	if got := WithSemiSpace("", 64); got != "--max-semi-space-size=64" {
		t.Error(got)
	}
}
