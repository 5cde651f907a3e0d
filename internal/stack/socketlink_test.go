package stack

import (
	"context"
	"os"
	"testing"

	"kasoku/internal/await"
)

// A socket's other names lead to the one that its server bound.
func TestRealEndpoint(t *testing.T) {
	l := newLab(t)
	must(t, os.MkdirAll(l.path("run/app"), 0o755))
	l.write("run/app/app-1.sock", "")
	must(t, os.Symlink("run", l.path("var")))
	must(t, os.Symlink(l.path("var/app/app-1.sock"), l.path("run/app/current.sock")))
	must(t, os.Symlink("b", l.path("a")))
	must(t, os.Symlink("a", l.path("b")))
	for _, c := range []struct{ name, want string }{
		{"unix:" + l.path("run/app/app-1.sock"), "unix:" + l.path("run/app/app-1.sock")},
		{"unix:" + l.path("var/app/current.sock"), "unix:" + l.path("run/app/app-1.sock")},
		{"unix:" + l.path("var/app/none.sock"), "unix:" + l.path("var/app/none.sock")},
		{"unix:" + l.path("a"), "unix:" + l.path("a")}, // goes round
		{"unix:@abstract", "unix:@abstract"},
		{"127.0.0.1:80", "127.0.0.1:80"},
	} {
		if got := realEndpoint(context.Background(), l.h, c.name); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A service is well that is asked for by the other name of its socket.
func TestHealthByAnotherName(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	must(t, os.Symlink("app-1.sock", l.path("app.sock")))
	c := l.add(Service{Name: "app", Kind: App, Root: l.dir, Binary: need(t, "python3"), Listen: []string{"unix:" + l.path("app.sock")}, Control: Control{
		Start: []string{"python3", "-c", "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen()\nwhile True: s.accept()", l.path("app-1.sock")}}})
	must(t, c.Start(context.Background()))
	must(t, c.Check(context.Background()))
}
