package stack

import (
	"strings"
	"testing"
)

// load.reset takes a command or the word snapshot; what is read with the word only is
// refused beside a command, and the word itself where people use the system.
func TestReset(t *testing.T) {
	const head = "version: 1\nname: x\nservices:\n  - {name: web, kind: nginx, config: /etc/nginx/nginx.conf, listen: [\"127.0.0.1:80\"]}\n"
	for name, c := range map[string]struct{ load, more, want string }{
		"a command":           {load: "reset: [./reset.sh, now]"},
		"snapshot":            {load: "reset: snapshot"},
		"as a list":           {load: "reset: [snapshot]"},
		"with more":           {load: "reset: snapshot\n  snapshot: {databases: [app], except: [app.log], folders: [/srv/up, \"local:/srv/b\"], shared: true}"},
		"a program as a word": {load: "reset: ./reset.sh"},
		"a program in a line": {load: "reset: ./reset.sh --all 'a b'"},
		"for a shell":         {load: "reset: ./reset.sh > /dev/null", want: "k.yaml:8:3: load.reset: \">\" at character 12 needs a shell"},
		"nearly the word":     {load: "reset: snapshoot", want: `load.reset: did you mean "snapshot"?`},
		"empty":               {load: "reset: []", want: "or snapshot"},
		"only with the word":  {load: "reset: [./reset.sh]\n  snapshot: {shared: true}", want: `load.snapshot: is read with "reset: snapshot" only`},
		"a relative folder":   {load: "reset: snapshot\n  snapshot: {folders: [uploads]}", want: `"uploads" (1) is not the absolute path`},
		"everything":          {load: "reset: snapshot\n  snapshot: {folders: [/]}", want: "load.snapshot.folders"},
		"production":          {load: "reset: snapshot", more: "regulation: {production: true}\n", want: "production: true"},
		"production, command": {load: "reset: [./reset.sh]", more: "regulation: {production: true}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parse("k.yaml", []byte(head+"load:\n  scenario: s.yaml\n  url: http://127.0.0.1\n  "+c.load+"\n"+c.more), "/srv/x")
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want == "" && s.Load.Reset.Snapshot() != strings.Contains(c.load, "reset: snap") && name != "as a list":
				t.Errorf("read as %q", s.Load.Reset)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
