package apache

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

// pick returns the n-th directive of a name in a configuration, active or not.
func pick(t testing.TB, c *Config, name string, n int) *Directive {
	t.Helper()
	var found []*Directive
	c.Root.Walk(func(d *Directive) bool {
		if d.Is(name) {
			found = append(found, d)
		}
		return true
	})
	if n >= len(found) {
		t.Fatalf("there are %d %s", len(found), name)
	}
	return found[n]
}

func TestEdits(t *testing.T) {
	tests := []struct {
		why, was string
		edit     func(c *Config) error
		want     string
	}{
		{"an argument keeps what is around it", "  Timeout\t60  \n", func(c *Config) error { return pick(t, c, "timeout", 0).SetArgs("30") }, "  Timeout\t30  \n"},
		{"quotes stay", "Foo 'a' \"b\" c\n", func(c *Config) error { return pick(t, c, "Foo", 0).SetArgs("x'y", `z"`, "q r") }, "Foo 'x\\'y' \"z\\\"\" \"q r\"\n"},
		{"arguments are added and taken away", "A 1 2 3\nB 1\n", func(c *Config) error {
			return errors.Join(pick(t, c, "A", 0).SetArgs("1"), pick(t, c, "B", 0).SetArgs("1", "2", "a b"))
		}, "A 1\nB 1 2 \"a b\"\n"},
		{"a line that goes on stays so", "CustomLog \\\n  /a/b \\\n  common\n", func(c *Config) error { return pick(t, c, "CustomLog", 0).SetArgs("/a/c", "common") }, "CustomLog \\\n  /a/c \\\n  common\n"},
		{"a section's argument", "<Directory \"/a b\" >\n</Directory>\n", func(c *Config) error { return pick(t, c, "Directory", 0).SetArgs("/c>d") }, "<Directory \"/c>d\" >\n</Directory>\n"},
		{"a section without arguments gets one", "<Foo>\n</Foo>\n", func(c *Config) error { return pick(t, c, "Foo", 0).SetArgs("a") }, "<Foo a>\n</Foo>\n"},
		{"a variable's neighbour", "Define X /v\nFoo ${X}/a b\n", func(c *Config) error { return pick(t, c, "Foo", 0).SetArgs("/v/a", "c") }, "Define X /v\nFoo ${X}/a c\n"},
		{"a regular expression stays readable", "R ^/a x\n", func(c *Config) error { return pick(t, c, "R", 0).SetArgs(`^/\.b\\c$`, `x\`) }, "R ^/\\.b\\\\\\c$ \"x\\\\\"\n"},
		{"appended to a section in its indentation", "<VirtualHost *>\n\tA 1\n\n</VirtualHost>\n", func(c *Config) error { return pick(t, c, "VirtualHost", 0).Append("B 2\n<C>\n  D 1\n</C>") }, "<VirtualHost *>\n\tA 1\n\n\tB 2\n\t<C>\n\t  D 1\n\t</C>\n</VirtualHost>\n"},
		{"before the comment above", "A 1\n# about B\nB 1\n", func(c *Config) error { return pick(t, c, "B", 0).InsertBefore("X 1") }, "A 1\nX 1\n# about B\nB 1\n"},
		{"after a section", "<A>\n</A>\nB 1\n", func(c *Config) error { return pick(t, c, "A", 0).InsertAfter("X 1") }, "<A>\n</A>\nX 1\nB 1\n"},
		{"a file without a line end stays without", "A 1", func(c *Config) error { return c.Root.Append("B 1") }, "A 1\nB 1"},
		{"and gives its line end up again", "A 1\nB 1", func(c *Config) error { return pick(t, c, "B", 0).Remove() }, "A 1"},
		{"CRLF stays CRLF", "A 1\r\n<B>\r\n</B>\r\n", func(c *Config) error { return pick(t, c, "B", 0).Append("C 1\nD 1") }, "A 1\r\n<B>\r\n    C 1\r\n    D 1\r\n</B>\r\n"},
		{"a section goes whole", "A 1\n<B>\n C 1\n</B>\nD 1\n", func(c *Config) error { return pick(t, c, "B", 0).Remove() }, "A 1\nD 1\n"},
		{"an inactive directive can be edited", "<IfModule nope>\n A 1\n</IfModule>\n", func(c *Config) error { return pick(t, c, "A", 0).SetArgs("2") }, "<IfModule nope>\n A 2\n</IfModule>\n"},
		{"a value that counts is edited where it is", "Timeout 9\n<IfModule so_module>\n Timeout 8\n</IfModule>\n", func(c *Config) error { return c.Set("TIMEOUT", nil, "7") }, "Timeout 9\n<IfModule so_module>\n Timeout 7\n</IfModule>\n"},
		{"a former name counts", "MaxClients 9\n", func(c *Config) error { return c.Set("MaxRequestWorkers", nil, "7") }, "MaxClients 7\n"},
		{"a new value stands beside its like", "<IfModule so_module>\n StartServers 2\n</IfModule>\n", func(c *Config) error { return c.Set("ServerLimit", nil, "7") }, "<IfModule so_module>\n StartServers 2\n ServerLimit 7\n</IfModule>\n"},
		{"a virtual host's own value", "KeepAlive On\n<VirtualHost *>\n</VirtualHost>\n", func(c *Config) error { return c.Set("KeepAlive", c.VirtualHosts()[0], "Off") }, "KeepAlive On\n<VirtualHost *>\n    KeepAlive Off\n</VirtualHost>\n"},
	}
	for _, tt := range tests {
		files := memory.Files{mainPath: tt.was}
		c := load(t, files)
		if err := tt.edit(c); err != nil || mainText(c) != tt.want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", tt.why, err, mainText(c), tt.want)
		}
		checkFresh(t, c, files)
	}
}

func TestRefusals(t *testing.T) {
	was := "A 1\n<Macro M>\n B 1\n</Macro>\nUse M\n<C>\n</C>\n# x\\"
	tests := []struct {
		why  string
		edit func(c *Config) error
		want string
	}{
		{"an argument with a line end", func(c *Config) error { return pick(t, c, "A", 0).SetArgs("1\nB 2") }, "cannot be written"},
		{"a directive from a macro", func(c *Config) error { return pick(t, c, "B", 0).SetArgs("2") }, "comes from a macro"},
		{"a macro's body", func(c *Config) error { return pick(t, c, "Macro", 0).Append("B 2") }, "text or code"},
		{"a line before that goes on at the end of the file", func(c *Config) error { return c.Root.Append("B 2") }, "backslash"},
		{"an open section", func(c *Config) error { return pick(t, c, "C", 0).Append("<D>") }, "never closed"},
		{"a closing tag too many", func(c *Config) error { return pick(t, c, "C", 0).Append("</C>\n<C>") }, "closes no section"},
		{"text that ends in a backslash", func(c *Config) error { return pick(t, c, "C", 0).Append(`B \`) }, "backslash"},
		{"no text", func(c *Config) error { return pick(t, c, "C", 0).Append(" \n") }, "empty"},
		{"an include of what is not there", func(c *Config) error { return pick(t, c, "C", 0).Append("Include nope") }, "not exist"},
		{"the arguments of a file", func(c *Config) error { return c.Root.SetArgs("x") }, "has none"},
		{"a value of which many count", func(c *Config) error { return c.Set("Listen", nil, "81") }, "have one value"},
		{"what was removed", func(c *Config) error {
			d := pick(t, c, "A", 0)
			if err := errors.Join(d.Remove(), c.Root.First("Macro").InsertBefore("A 1")); err != nil {
				return err
			}
			return d.SetArgs("2")
		}, "removed before"},
	}
	for _, tt := range tests {
		c := loadText(t, was)
		if err := tt.edit(c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
		if mainText(c) != was || len(c.Changed()) > 0 {
			t.Errorf("%s: the text is %q", tt.why, mainText(c))
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"<A>\n":                             "apache2.conf:1: <A> is never closed",
		"<A>\n</B>":                         "apache2.conf:2: </B> stands where </A> is needed",
		"\n</A>":                            "apache2.conf:2: </A> closes no section",
		"<A b\n</A>":                        "has no closing >",
		"Include nope":                      "not exist",
		"Include nope*":                     "no file matches",
		"Include":                           "takes one file",
		"Include apache2.*":                 "in a circle",
		"<Macro M $x>\n</Macro>\nUse M":     "takes 1 arguments, not 0",
		"<Macro M>\n<A>\n</Macro>\nUse M":   "never closed",
		"<Macro M>\nUse M\n</Macro>\nUse M": "use macros more than",
		strings.Repeat("<A>\n", 300):        "nested more than",
	} {
		m := memory.Files{mainPath: text}
		if _, err := Load(mainPath, Options{}, m.Read, m.Glob); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	failing := func(string) ([]byte, error) { return nil, fs.ErrPermission }
	if _, err := Load(mainPath, Options{}, failing, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the cause is lost: %v", err)
	}
}

// A file that is included twice is one text seen at two places.
func TestSharedFile(t *testing.T) {
	files := memory.Files{
		mainPath:              "<VirtualHost a>\nInclude /x\n</VirtualHost>\n<VirtualHost b>\nInclude /x\n</VirtualHost>\n",
		"/x":                  "# c\nTimeout 5\n",
		"/etc/apache2/unused": "A",
	}
	c := load(t, files)
	hosts := c.VirtualHosts()
	first, second := hosts[0].First("Timeout"), hosts[1].First("Timeout")
	if err := first.SetArgs("6"); err != nil {
		t.Fatal(err)
	}
	if second.Args[0] != "6" || second.Line != 2 || second.File.Path != "/x" {
		t.Errorf("the other place has %+v", second)
	}
	if err := second.InsertBefore("KeepAlive Off\nA 1"); err != nil {
		t.Fatal(err)
	}
	if first.Line != 4 || hosts[0].First("KeepAlive") == nil {
		t.Errorf("line %d, %v", first.Line, hosts[0].First("KeepAlive"))
	}
	if got := c.Changed(); len(got) != 1 || string(got["/x"]) != "KeepAlive Off\nA 1\n# c\nTimeout 6\n" {
		t.Errorf("changed %q", got)
	}
	if err := first.Remove(); err != nil || !second.gone {
		t.Errorf("removed at one place only: %v", err)
	}
	checkFresh(t, c, files)
}

func TestValues(t *testing.T) {
	c := load(t, memory.Files{
		mainPath: `LoadModule mpm_event_module x.so
Timeout 300
EnableSendfile On
CustomLog /a common
<IfModule mpm_prefork_module>
 MaxRequestWorkers 10
</IfModule>
<IfModule mpm_event_module>
 MaxRequestWorkers 20
</IfModule>
<IfDirective Foo>
 KeepAlive Off
</IfDirective>
<Directory />
 AllowOverride None
</Directory>
<Directory /srv/*/www/>
 AllowOverride All
 EnableSendfile Off
</Directory>
<Directory /srv/a>
 AllowOverride FileInfo
</Directory>
<VirtualHost *>
 AccessFileName .ht .htx
 CustomLog /b common
 CustomLog /c common
 LogLevel info
 <Directory /srv/a/www>
  AllowOverride AuthConfig
 </Directory>
 <DirectoryMatch ^/x>
  LogLevel debug
 </DirectoryMatch>
</VirtualHost>
HostnameLookups On
`})
	host := c.VirtualHosts()[0]
	for _, tt := range []struct {
		name, folder string
		vhost        *Directive
		want         string
		set          int
		sure         bool
	}{
		{"MaxRequestWorkers", "", host, "20", 1, true},
		{"ServerLimit", "", nil, "16", 0, true},
		{"StartServers", "", nil, "3", 0, true},
		{"Timeout", "", host, "300", 1, true},
		{"HostnameLookups", "", host, "On", 1, true},
		{"KeepAlive", "", nil, "On", 0, false},
		{"KeepAlive", "", host, "On", 0, false},
		{"CustomLog", "", nil, "", 1, true},
		{"CustomLog", "", host, "", 2, true},
		{"LogLevel", "", nil, "warn", 0, true},
		{"LogLevel", "", host, "info", 1, true},
		{"LogLevel", "/y", host, "info", 1, false},
		{"LogLevel", "/y", nil, "warn", 0, true},
		{"AllowOverride", "/", nil, "None", 1, true},
		{"AllowOverride", "/srv/a", nil, "FileInfo", 1, true},
		{"AllowOverride", "/srv/a/www/x", nil, "All", 1, true},
		{"AllowOverride", "/srv/a/www/x", host, "AuthConfig", 1, true},
		{"AllowOverride", "/srv/b/www", host, "All", 1, true},
		{"AllowOverride", "/srv/b/www2", host, "None", 1, true},
		{"EnableSendfile", "/srv/b/www", host, "Off", 1, true},
		{"EnableSendfile", "/srv/b", host, "On", 1, true},
	} {
		var v Value
		var err error
		if tt.folder == "" {
			v, err = c.Value(tt.name, tt.vhost)
		} else {
			v, err = c.ValueFor(tt.name, tt.vhost, tt.folder)
		}
		if err != nil || v.Text != tt.want || len(v.Set) != tt.set || v.Sure != tt.sure {
			t.Errorf("%s for %q (host %v): %+v, %v, want %+v", tt.name, tt.folder, tt.vhost != nil, v, err, tt)
		}
	}
	if _, err := c.Value("Nope", nil); err == nil {
		t.Error("an unknown directive has a value")
	}
	for folder, want := range map[string]string{
		"/srv/a/www": "[/srv/a/.ht /srv/a/.htx /srv/a/www/.ht /srv/a/www/.htx]",
		"/var/www":   "[]",
	} {
		if got, err := c.AccessFiles(host, folder); err != nil || fmt.Sprint(got) != want {
			t.Errorf("access files of %s: %v, %v, want %s", folder, got, err, want)
		}
	}
	if c.MPM() != "event" {
		t.Errorf("MPM %q", c.MPM())
	}
	if err := c.Set("KeepAlive", nil, "Off"); err == nil {
		t.Error("a value that may be overridden was set")
	}
}

func TestModules(t *testing.T) {
	files := memory.Files{
		"/e/mods-available/a.load": "# Depends: b c\nLoadModule a",
		"/e/mods-available/b.load": "LoadModule b\n# Conflicts: c", // below a directive: no header
		"/e/mods-available/b.conf": "",
		"/e/mods-available/c.load": "# text\n# Conflicts: x y\n",
		"/e/mods-available/y.load": "",
		"/e/mods-enabled/y.load":   "",
		"/e/mods-available/p.load": "# Depends: q",
		"/e/mods-available/q.load": "# Depends: p",
	}
	m, err := LoadModules("/e", files.Read, files.Glob)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Enable("a"); err == nil || !strings.Contains(err.Error(), "y is enabled and conflicts") {
		t.Errorf("%v, %v", got, err)
	}
	delete(files, "/e/mods-enabled/y.load")
	if m, err = LoadModules("/e", files.Read, files.Glob); err != nil {
		t.Fatal(err)
	}
	got, err := m.Enable("a")
	want := "[{/e/mods-enabled/b.conf ../mods-available/b.conf false} {/e/mods-enabled/b.load ../mods-available/b.load false} {/e/mods-enabled/c.load ../mods-available/c.load false} {/e/mods-enabled/a.load ../mods-available/a.load false}]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	for _, l := range got {
		files[l.Path] = files["/e/mods-available/"+strings.TrimPrefix(l.Path, "/e/mods-enabled/")]
	}
	if m, err = LoadModules("/e", files.Read, files.Glob); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Enable("a"); err != nil || len(got) != 0 {
		t.Errorf("a second time: %v, %v", got, err)
	}
	if got, err := m.disable("b", nil); err == nil || !strings.Contains(err.Error(), "a is enabled and depends on b") {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := m.disable("b", []string{"a"}); err != nil || len(got) != 3 || !got[0].Remove || got[0].Path != "/e/mods-enabled/a.load" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := m.disable("y", nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	for _, name := range []string{"nope", "p"} {
		if got, err := m.Enable(name); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, err := LoadModules("/nowhere", files.Read, files.Glob); err == nil {
		t.Error("a folder without modules was taken")
	}
	// A folder that cannot be listed is not one without modules.
	for _, sub := range []string{"mods-available", "mods-enabled"} {
		denied := func(pattern string) ([]string, error) {
			if strings.Contains(pattern, sub) {
				return nil, fs.ErrPermission
			}
			return files.Glob(pattern)
		}
		if _, err := LoadModules("/e", files.Read, denied); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "/e/"+sub) {
			t.Errorf("%s cannot be listed: %v", sub, err)
		}
	}
}

// A new directive goes behind one of its kind that is in the file, not behind
// one that a macro writes out: it would stand in the macro's body, and count
// wherever the macro is used.
func TestSetBesideMacro(t *testing.T) {
	was := "<Macro M>\n Timeout 30\n</Macro>\nUse M\nServerName a\n"
	files := memory.Files{mainPath: was}
	c := load(t, files)
	if err := c.Set("KeepAlive", nil, "Off"); err != nil {
		t.Fatal(err)
	}
	if got := mainText(c); got != was+"KeepAlive Off\n" {
		t.Errorf("made %q", got)
	}
	checkFresh(t, c, files)
}

// Sections may be nested as deep as the bound says, and no deeper.
func TestNestedSections(t *testing.T) {
	for depth, ok := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		files := memory.Files{mainPath: strings.Repeat("<IfModule !x>\n", depth) + strings.Repeat("</IfModule>\n", depth)}
		_, err := Load(mainPath, Options{Version: "2.4.66"}, files.Read, files.Glob)
		if ok && err != nil || !ok && (err == nil || !strings.Contains(err.Error(), "nested more than 200 deep")) {
			t.Errorf("%d deep: %v", depth, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := Environment([]byte("# comment\nunset HOME\nif [ x ]; then\n\tSUFFIX=\"-a\"\nelse\n\tSUFFIX=\nfi\nexport A=/run$SUFFIX/x # why\nB='$A'\nexport C=\"${A}/c ${D:-d}\"\nE=$(id)\nF=`id`\n"))
	want := map[string]string{"SUFFIX": "", "A": "/run/x", "B": "$A", "C": "/run/x/c d"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
