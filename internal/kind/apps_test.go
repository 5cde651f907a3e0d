package kind

import (
	"os"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/appserver"
	"kasoku/internal/confedit/args"
)

func TestTell(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/bin/python3 /usr/bin/gunicorn -w 2 app:app":     "gunicorn",
		"python3 -m gunicorn app:app":                         "gunicorn",
		"gunicorn: master [app:app]":                          "gunicorn",
		"puma 5.6.5 (tcp://0.0.0.0:9292) [shop]":              "puma",
		"bundle exec puma -C config/puma.rb":                  "puma",
		"starman master --workers 2 app.psgi":                 "starman",
		"/usr/bin/perl /usr/bin/plackup -s Starman app.psgi":  "starman",
		"/opt/rt/rt-server --server Starman --workers 4":      "starman",
		"plackup -s HTTP::Server::PSGI app.psgi":              "",
		"unicorn master -c unicorn.rb":                        "unicorn",
		"uwsgi --ini /etc/app.ini":                            "uwsgi",
		"node server.js":                                      "",
		"./api --listen :8080":                                "",
		"/usr/bin/python3 manage.py runserver --gunicorn-ish": "",
	} {
		got := ""
		if s := Tell(strings.Fields(line)); s != nil {
			got = s.Name
		}
		if got != want {
			t.Errorf("%q is told as %q, want %q", line, got, want)
		}
	}
}

// A Node program is told by its workers being as many as the variable says.
func TestForks(t *testing.T) {
	for _, c := range []struct {
		exe      string
		env      map[string]string
		children int
		want     bool
	}{
		{"/usr/bin/node", map[string]string{"WEB_CONCURRENCY": "2"}, 2, true},
		{"/usr/bin/nodejs", map[string]string{"WEB_CONCURRENCY": "1"}, 1, true},
		{"/usr/bin/node", map[string]string{"WEB_CONCURRENCY": "4"}, 2, false}, // it does not obey it
		{"/usr/bin/node", map[string]string{"WEB_CONCURRENCY": "0"}, 0, false},
		{"/usr/bin/node", nil, 2, false},
		{"/usr/bin/ruby3.1", map[string]string{"WEB_CONCURRENCY": "2"}, 2, false},
	} {
		s := Forks(c.exe, c.env, c.children)
		if (s != nil) != c.want {
			t.Errorf("%+v is told as %v", c, s)
		}
	}
	s := Forks("/usr/bin/node", map[string]string{"WEB_CONCURRENCY": "2"}, 2)
	env := func(k string) (string, bool) {
		return map[string]string{"WEB_CONCURRENCY": "3"}[k], k == "WEB_CONCURRENCY"
	}
	if got := s.Count("node server.js", args.Shell, env, ""); got != (appserver.Number{Workers: 3, Where: appserver.InEnv, Variable: "WEB_CONCURRENCY", Threads: 1}) {
		t.Errorf("%+v", got)
	}
}

// What wins: the option, then more options in a variable, then the file, then
// the variable with the number, then the default.
func TestCount(t *testing.T) {
	for _, c := range []struct {
		name, command, config string
		env                   map[string]string
		want                  appserver.Number
	}{
		{"option", "gunicorn -w 3 --threads=2 app:app", "workers = 5\n", map[string]string{"WEB_CONCURRENCY": "7"}, appserver.Number{Workers: 3, Where: appserver.InOption, Threads: 2, ThreadsWhere: appserver.InOption}},
		{"option by a variable", "gunicorn --workers ${N} app:app", "workers = 5\n", map[string]string{"WEB_CONCURRENCY": "7", "N": "2"}, appserver.Number{Workers: 2, Where: appserver.InEnv, Variable: "N", Threads: 1}},
		{"option by another form", "gunicorn -w $N app:app", "", map[string]string{"N": "2"}, appserver.Number{Workers: 2, Where: appserver.InEnv, Variable: "N", Threads: 1}},
		{"option by who knows what", "gunicorn --workers $N app:app", "workers = 5\n", map[string]string{"WEB_CONCURRENCY": "7"}, appserver.Number{Workers: 1, Where: appserver.Nowhere, Computed: "$N", Threads: 1}},
		{"more options", "gunicorn app:app", "workers = 5\n", map[string]string{"GUNICORN_CMD_ARGS": "--workers=9"}, appserver.Number{Workers: 9, Where: appserver.InEnvArgs, Threads: 1}},
		{"file", "gunicorn app:app", "# workers = 1\nworkers = 5 # enough\n", map[string]string{"WEB_CONCURRENCY": "7"}, appserver.Number{Workers: 5, Where: appserver.InConfig, Threads: 1}},
		{"computed", "gunicorn app:app", "workers = cpu_count() * 2\n", nil, appserver.Number{Workers: 1, Where: appserver.Nowhere, Computed: "cpu_count() * 2", Threads: 1}},
		{"variable", "gunicorn app:app", "", map[string]string{"WEB_CONCURRENCY": "7"}, appserver.Number{Workers: 7, Where: appserver.InEnv, Variable: "WEB_CONCURRENCY", Threads: 1}},
		{"default", "gunicorn app:app", "", nil, appserver.Number{Workers: 1, Where: appserver.Nowhere, Threads: 1}},
		{"puma's file", "puma", "threads 1, 3\nworkers 2\n", nil, appserver.Number{Workers: 2, Where: appserver.InConfig, Threads: 3, ThreadsWhere: appserver.InConfig}},
		{"puma's default form", "puma", "workers ENV.fetch(\"WEB_CONCURRENCY\") { 2 }\n", map[string]string{"WEB_CONCURRENCY": "4"}, appserver.Number{Workers: 4, Where: appserver.InEnv, Variable: "WEB_CONCURRENCY", Computed: `ENV.fetch("WEB_CONCURRENCY") { 2 }`, Threads: 5}},
		{"puma, one process", "puma app.ru", "", nil, appserver.Number{Workers: 0, Where: appserver.Nowhere, Threads: 5}},
		{"starman", "starman --port 5000 app.psgi", "", nil, appserver.Number{Workers: 5, Where: appserver.Nowhere, Threads: 1}},
		{"uwsgi", "uwsgi --ini a.ini", "[uwsgi]\nprocesses = 4\nthreads = 2\n", nil, appserver.Number{Workers: 4, Where: appserver.InConfig, Threads: 2, ThreadsWhere: appserver.InConfig}},
		{"uwsgi, of its section", "uwsgi a.ini", "[uwsgi]\nprocesses = 4\n[server:main]\nworkers = 9\nthreads = 3\n", nil, appserver.Number{Workers: 4, Where: appserver.InConfig, Threads: 1}},
		{"uwsgi, no section", "uwsgi a.ini", "processes = 4\n", map[string]string{"UWSGI_PROCESSES": "2", "UWSGI_WORKERS": "3"}, appserver.Number{Workers: 3, Where: appserver.InEnv, Variable: "UWSGI_WORKERS", Threads: 1}},
		{"uwsgi's file behind the option", "uwsgi -p 3 --ini a.ini", "[uwsgi]\nprocesses = 2\n", nil, appserver.Number{Workers: 2, Where: appserver.InConfig, Threads: 1}},
		{"uwsgi's option behind the file", "uwsgi --ini a.ini -p 3", "[uwsgi]\nprocesses = 2\n", nil, appserver.Number{Workers: 3, Where: appserver.InOption, Threads: 1}},
		{"uwsgi's option, its file has none", "uwsgi -p 3 a.ini", "[uwsgi]\n", nil, appserver.Number{Workers: 3, Where: appserver.InOption, Threads: 1}},
		{"uvicorn", "uvicorn a:app", "", map[string]string{"UVICORN_WORKERS": "2", "WEB_CONCURRENCY": "3"}, appserver.Number{Workers: 2, Where: appserver.InEnv, Variable: "UVICORN_WORKERS", Threads: 1}},
	} {
		s := Tell(strings.Fields(c.command))
		env := func(k string) (string, bool) { v, ok := c.env[k]; return v, ok }
		if got := s.Count(c.command, args.Shell, env, c.config); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestConfigFiles(t *testing.T) {
	for command, want := range map[string]string{
		"uwsgi --ini a.ini":      "/srv/a.ini",
		"uwsgi --master b.ini":   "/srv/b.ini",
		"uwsgi --master":         "/etc/c.ini",
		"unicorn -c unicorn.rb":  "/srv/unicorn.rb",
		"unicorn config.ru":      "",
		"uvicorn --port 80 a:ap": "",
	} {
		s := Tell(strings.Fields(command))
		env := func(k string) (string, bool) { return "/etc/c.ini", k == "UWSGI_INI" }
		if got := strings.Join(s.ConfigFiles(command, "/srv", env), " "); got != want {
			t.Errorf("%s reads %q, want %q", command, got, want)
		}
	}
}

func TestSetConfig(t *testing.T) {
	for _, c := range []struct{ server, old, want string }{
		{"gunicorn", "bind = 'x'\nworkers = 1  # one\n", "bind = 'x'\nworkers = 8  # one\n"},
		{"gunicorn", "bind = 'x'", "bind = 'x'\nworkers = 8\n"},
		{"gunicorn", "workers = n()\n", ""},
		{"puma", "workers 2\nthreads 1, 5\n", "workers 8\nthreads 1, 5\n"},
		{"starman", "", ""},
		{"uwsgi", "[uwsgi]\nmaster = 1\n[app]\nworkers = 3\n", "[uwsgi]\nmaster = 1\nprocesses = 8\n[app]\nworkers = 3\n"},
		{"uwsgi", "[app]\nworkers = 3\n[uwsgi]\nworkers = 2", "[app]\nworkers = 3\n[uwsgi]\nworkers = 8"},
		{"uwsgi", "[app]\nworkers = 3\n", ""},
	} {
		got, ok := Tell([]string{c.server}).SetConfig(c.old, 8)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q becomes %q", c.server, c.old, got)
		}
	}
}

// Each folder below this one is a line of the table, and is named as it says.
func TestEachRoomIsListed(t *testing.T) {
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, a := range Apps {
		listed[a.Name] = true
	}
	rooms := 0
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		if rooms++; !listed[f.Name()] {
			t.Errorf("%s is no line of the table", f.Name())
		}
	}
	if rooms != len(Apps) {
		t.Errorf("%d folders and %d lines", rooms, len(Apps))
	}
}

// The variables that are read of a process are those that are looked up anywhere.
func TestVariables(t *testing.T) {
	all := Variables()
	for _, a := range Apps {
		for _, s := range a.Servers {
			for _, name := range []string{s.EnvArgs, s.Env, s.EnvFirst, s.EnvThreads, s.ConfigEnv} {
				if name != "" && !slices.Contains(all, name) {
					t.Errorf("%s reads %s, which is not kept", s.Name, name)
				}
			}
		}
	}
}
