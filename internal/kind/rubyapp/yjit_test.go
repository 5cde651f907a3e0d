package rubyapp

import "testing"

func TestYJIT(t *testing.T) {
	for exe, want := range map[string]struct {
		version string
		has     bool
	}{
		"/usr/bin/ruby3.1":                   {"3.1", true},
		"/opt/rbenv/versions/3.2.2/bin/ruby": {"3.2", true},
		"/opt/rubies/ruby-2.7.8/bin/ruby":    {"2.7", false},
		"/opt/rubies/ruby-4.0.0/bin/ruby":    {"4.0", true},
		"/usr/bin/ruby":                      {"", false},
	} {
		v := Version(exe)
		if v != want.version || HasYJIT(v) != want.has {
			t.Errorf("%s: %q, %t", exe, v, HasYJIT(v))
		}
	}
	for _, c := range []struct {
		options, enabled string
		words            []string
		want             bool
	}{
		{"", "", []string{"puma", "-w", "2"}, false},
		{"-W0 --yjit", "", nil, true},
		{"", "1", nil, true},
		{"", "", []string{"ruby", "--disable=jit", "app.rb"}, true},
	} {
		if JITChosen(c.options, c.enabled, c.words) != c.want {
			t.Errorf("%+v", c)
		}
	}
}
