package diagnose

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// wsgiIn is an application in an Apache with this configuration.
func wsgiIn(t *testing.T, conf string) (*WSGI, error) {
	t.Helper()
	st := &stack.Stack{Services: []stack.Service{{Name: "httpd", Kind: stack.Apache, Config: "/etc/apache2/apache2.conf", Prefix: "/etc/apache2"},
		{Name: "app", Kind: stack.App, RunsIn: "httpd", Root: "/srv/app"}}}
	snap := &evidence.Snapshot{Files: map[string]map[string]evidence.File{stack.LocalHost: {"/etc/apache2/apache2.conf": {Content: []byte("LoadModule wsgi_module w.so\n" + conf)}}}}
	return WSGIOf(st, snap, st.Service("app"))
}

// Where mod_wsgi runs an application, and in how many processes, is told by the group that
// its script has; another number is written there, and a group of its own where it had none.
func TestWSGI(t *testing.T) {
	const script = " /srv/app/wsgi.py"
	for name, c := range map[string]struct {
		conf               string
		daemon             bool
		processes, threads int
		want               string // the lines of mod_wsgi with 4 processes and 6 threads
	}{
		"within Apache's processes": {"<VirtualHost *:80>\n  WSGIScriptAlias /" + script + "\n</VirtualHost>\n", false, 0, 0,
			"WSGIDaemonProcess kasoku display-name=%{GROUP} processes=4 threads=6\n  WSGIScriptAlias / /srv/app/wsgi.py process-group=kasoku"},
		"on two ports, with paths": {"WSGIPythonPath /srv/app:/srv/lib\n<VirtualHost *:80>\nWSGIScriptAlias /" + script + "\n</VirtualHost>\n<VirtualHost *:81>\nWSGIScriptAlias /" + script + "\n</VirtualHost>\n", false, 0, 0,
			"WSGIPythonPath /srv/app:/srv/lib\nWSGIDaemonProcess kasoku display-name=%{GROUP} processes=4 threads=6 python-path=/srv/app:/srv/lib\nWSGIScriptAlias / /srv/app/wsgi.py process-group=kasoku\nWSGIScriptAlias / /srv/app/wsgi.py process-group=kasoku"},
		"a group of its own": {"WSGIDaemonProcess shop python-path=/srv/app\nWSGIProcessGroup shop\nWSGIScriptAlias /" + script + "\n", true, 1, 15,
			"WSGIDaemonProcess shop python-path=/srv/app processes=4\nWSGIProcessGroup shop\nWSGIScriptAlias / /srv/app/wsgi.py"},
		"a group that the script names": {"WSGIDaemonProcess shop processes=2 threads=8\nWSGIScriptAlias /" + script + " process-group=shop\n", true, 2, 8,
			"WSGIDaemonProcess shop threads=8 processes=4\nWSGIScriptAlias / /srv/app/wsgi.py process-group=shop"},
		"Apache's processes by name": {"WSGIDaemonProcess other\nWSGIScriptAlias /" + script + " process-group=%{GLOBAL}\n", false, 0, 0,
			"WSGIDaemonProcess other\nWSGIDaemonProcess kasoku display-name=%{GROUP} processes=4 threads=6\nWSGIScriptAlias / /srv/app/wsgi.py process-group=kasoku"},
	} {
		w, err := wsgiIn(t, c.conf)
		if err != nil || w == nil || w.Daemon != c.daemon || w.Processes != c.processes || w.Threads != c.threads {
			t.Errorf("%s: %+v, %v", name, w, err)
			continue
		}
		if err := w.SetProcesses(4, 6); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var lines []string
		for line := range strings.Lines(string(w.Changed()["/etc/apache2/apache2.conf"])) {
			if strings.Contains(line, "WSGI") {
				lines = append(lines, strings.TrimRight(line, "\n"))
			}
		}
		if got := strings.TrimSpace(strings.Join(lines, "\n")); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	for name, conf := range map[string]string{
		"two applications":          "WSGIScriptAlias /a /srv/a.py\nWSGIScriptAlias /b /srv/b.py\n",
		"a group that is computed":  "WSGIDaemonProcess shop\nWSGIProcessGroup %{ENV:GROUP}\nWSGIScriptAlias /" + script + "\n",
		"a group that is not there": "WSGIScriptAlias /" + script + " process-group=gone\n",
		"two groups":                "WSGIDaemonProcess a\nWSGIDaemonProcess b\nWSGIScriptAlias /a" + script + " process-group=a\nWSGIScriptAlias /b" + script + " process-group=b\n",
	} {
		if w, err := wsgiIn(t, conf); err == nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
	// What only Apache's own processes read must go along.
	if w, err := wsgiIn(t, "WSGIPythonHome /srv/env\nWSGIPythonPath /srv/app\nWSGIScriptAlias /"+script+"\n"); err != nil {
		t.Error(err)
	} else if err := w.SetProcesses(4, 6); err != nil || !strings.Contains(string(w.Changed()["/etc/apache2/apache2.conf"]), "threads=6 python-home=/srv/env python-path=/srv/app\n") {
		t.Errorf("%v\n%s", err, w.Changed()["/etc/apache2/apache2.conf"])
	}
	if w, err := wsgiIn(t, "WSGIPythonPath \"/srv/my app\"\nWSGIScriptAlias /"+script+"\n"); err != nil {
		t.Error(err)
	} else if err := w.SetProcesses(4, 6); err == nil {
		t.Error("a path with a blank is left out")
	}
	if w, err := wsgiIn(t, "# nothing of it\n"); w != nil || err != nil {
		t.Errorf("no script: %+v, %v", w, err)
	}
}

// Beside an application of another kind in the same Apache, the script is that one's below
// whose folder it lies.
func TestWSGIBesideOthers(t *testing.T) {
	st := &stack.Stack{Services: []stack.Service{{Name: "httpd", Kind: stack.Apache, Config: "/etc/apache2/apache2.conf", Prefix: "/etc/apache2"},
		{Name: "blog", Kind: stack.App, RunsIn: "httpd", Root: "/var/www/blog"}, {Name: "app", Kind: stack.App, RunsIn: "httpd", Root: "/srv/app"}}}
	of := func(script string) (out []string) {
		for _, name := range []string{"blog", "app"} {
			conf := "LoadModule wsgi_module w.so\nWSGIScriptAlias / " + script + "\n"
			snap := &evidence.Snapshot{Files: map[string]map[string]evidence.File{stack.LocalHost: {"/etc/apache2/apache2.conf": {Content: []byte(conf)}}}}
			w, err := WSGIOf(st, snap, st.Service(name))
			if w != nil {
				out = append(out, name)
			}
			if err != nil {
				out = append(out, "not "+name)
			}
		}
		return out
	}
	if got := strings.Join(of("/srv/app/wsgi.py"), ", "); got != "app" {
		t.Errorf("of %s, want app alone", got)
	}
	if got := strings.Join(of("/opt/wsgi/start.py"), ", "); got != "not blog, not app" {
		t.Errorf("of %s, which cannot be told", got)
	}
}

// inApache has an application in an Apache with this configuration, which takes most of the
// CPU in so many processes.
func inApache(conf string, processes int) func(*Input) {
	return func(in *Input) {
		in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "pages", Kind: stack.Apache, Config: "/apache2.conf"}, stack.Service{Name: "django", Kind: stack.App, Root: "/srv/app", RunsIn: "pages"})
		in.Snapshot.Files["local"]["/apache2.conf"] = evidence.File{Service: "pages", Content: []byte("LoadModule wsgi_module w.so\n" + conf)}
		in.Evidence.Services["pages"] = evidence.ServiceUse{CPU: 25, Processes: processes, RSS: 300 << 20}
	}
}

func init() {
	const alias = "WSGIScriptAlias / /srv/app/wsgi.py"
	type sign = struct {
		rule string
		sign func(*Input)
		says string
	}
	signs = append(signs,
		sign{"app.wsgi", inApache("WSGIDaemonProcess app\n"+alias+" process-group=app\n", 3), "in 1 processes with 15 threads each"},
		sign{"app.wsgi", both(idle, inApache(alias+"\n", 4)), "within Apache's own processes, 3 of them"},
		sign{"app.wsgi", inApache(alias+"\n", 6), "threads that wait for the lock of their process take CPU"})
}

// Who has enough processes, or fewer requests than processes, has no such finding.
func TestWSGIWithEnoughProcesses(t *testing.T) {
	for name, sign := range map[string]func(*Input){
		"a daemon of eight": inApache("WSGIDaemonProcess app processes=8\nWSGIScriptAlias / /srv/app/wsgi.py process-group=app\n", 10),
		"few requests":      both(inApache("WSGIScriptAlias / /srv/app/wsgi.py\n", 4), func(in *Input) { in.Evidence.Load.Routes[0].Total = 2 * time.Second }),
	} {
		in := healthy()
		sign(&in)
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings {
			if f.Rule == "app.wsgi" {
				t.Errorf("%s: %s", name, f.Text)
			}
		}
	}
}
