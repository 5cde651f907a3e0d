package evidence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// An application that Passenger has started is told by its title and the folder that it
// runs in; the folder may be named by a link. Others in that folder are not it.
func TestEmbeddedApp(t *testing.T) {
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Fatalf("ruby: %v; run `make deps`", err)
	}
	root := t.TempDir()
	link := filepath.Join(t.TempDir(), "current")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	start := func(title, opts string) {
		cmd := exec.Command("ruby", "-e", "$0 = ARGV[0]; STDOUT.puts 'up'; STDOUT.flush; STDIN.read", title)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "RUBYOPT="+opts, "SECRET=hidden")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
		line := make([]byte, 2)
		await.NoError(t, "ruby", func() error { _, err := out.Read(line); return err })
	}
	start("rake jobs:work", "-W1")
	st := &stack.Stack{Services: []stack.Service{{Name: "httpd", Kind: stack.Apache, Host: stack.LocalHost},
		{Name: "rails", Kind: stack.App, Host: stack.LocalHost, Root: link, RunsIn: "httpd"}}}
	look := func() (AppProcess, bool) {
		tk := &taker{ctx: t.Context(), st: st, snap: &Snapshot{}}
		if err := tk.embeddedApp(host.NewLocal(), st.Service("rails")); err != nil {
			t.Fatal(err)
		}
		p, ok := tk.snap.Apps["rails"]
		return p, ok
	}
	if p, ok := look(); ok {
		t.Errorf("nothing of Passenger's runs there, and %q is taken for it", p.Argv)
	}
	start("Passenger RubyApp: shop (production)", "-W0")
	p, ok := look()
	if !ok || p.Dir != root || !strings.Contains(filepath.Base(p.Exe), "ruby") || p.Env["RUBYOPT"] != "-W0" || p.Env["SECRET"] != "" {
		t.Errorf("found %t: %+v", ok, p)
	}
}
