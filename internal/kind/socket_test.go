package kind

import (
	"strings"
	"testing"

	"kasoku/internal/appserver"
	"kasoku/internal/confedit/args"
)

// Where a server listens is found where it counts; what a socket would change
// beside the way of the bytes stops it.
func TestListens(t *testing.T) {
	for _, c := range []struct {
		name, command, config string
		env                   map[string]string
		want                  appserver.Where
		why                   string
	}{
		{"option", "gunicorn -b 127.0.0.1:8000 app:app", "bind = 'x'\n", nil, appserver.InOption, ""},
		{"more options", "gunicorn app:app", "bind = 'x'\n", map[string]string{"GUNICORN_CMD_ARGS": "--bind=127.0.0.1:8000"}, appserver.InEnvArgs, ""},
		{"file", "gunicorn -w 2 app:app", "# umask = 7\nbind = 'x'\n", nil, appserver.InConfig, ""},
		{"nowhere", "gunicorn app:app", "workers = 2\n", nil, appserver.Nowhere, "write the address there"},
		{"umask", "gunicorn --umask 007 -b x app:app", "", nil, appserver.Nowhere, `"umask"`},
		{"umask, short", "gunicorn -m 007 -b x app:app", "", nil, appserver.Nowhere, `"-m 00"`},
		{"another's workers", "gunicorn -b x -k uvicorn.workers.UvicornWorker app:app", "", nil, appserver.Nowhere, "class uvicorn.workers.UvicornWorker"},
		{"another's workers in the file", "gunicorn -b x app:app", "worker_class = 'uvicorn_worker.UvicornWorker'\n", nil, appserver.Nowhere, "class uvicorn_worker"},
		{"threads", "gunicorn -b x --worker-class=gthread app:app", "", nil, appserver.InOption, ""},
		{"options in a variable", "gunicorn $OPTIONS app:app", "bind = 'x'\n", nil, appserver.Nowhere, "from a variable"},
		{"another number in a variable", "gunicorn --workers ${N} -b 127.0.0.1:80 app:app", "", nil, appserver.InOption, ""},
		{"options in another form", "gunicorn ${OPTIONS} app:app", "bind = 'x'\n", nil, appserver.Nowhere, "from a variable"},
		{"an address in a variable", "gunicorn -b 127.0.0.1:$PORT app:app", "", nil, appserver.InOption, ""},
		{"a module's name", "python3 -m gunicorn -b x app:app", "", nil, appserver.InOption, ""},
		{"trust", "gunicorn -b x app:app", "forwarded_allow_ips = '10.0.0.1'\n", nil, appserver.Nowhere, "forwarded_allow_ips"},
		{"trust by a variable", "gunicorn -b x app:app", "", map[string]string{"FORWARDED_ALLOW_IPS": "10.0.0.1"}, appserver.Nowhere, "whom to trust"},
		{"systemd's socket", "puma", "port 3000\n", map[string]string{"LISTEN_FDS": "1"}, appserver.Nowhere, "systemd listens"},
		{"puma's port", "puma", "threads 1, 5\nport ENV.fetch('PORT') { 3000 }\n", nil, appserver.InConfig, ""},
		{"puma's option", "puma -p 3000", "port 3000\n", nil, appserver.InOption, ""},
		{"unicorn", "unicorn -c u.rb", "listen 8080, backlog: 64\n", nil, appserver.InConfig, ""},
		{"unicorn's umask", "unicorn -c u.rb", "listen 8080, umask: 0007\n", nil, appserver.Nowhere, "umask"},
		{"starman", "starman --listen :5000 app.psgi", "", nil, appserver.Nowhere, "not known"},
	} {
		s := Tell(strings.Fields(c.command))
		env := func(k string) (string, bool) { v, ok := c.env[k]; return v, ok }
		got, err := s.Listens(c.command, args.Shell, env, c.config)
		if got != c.want || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %q, %v, want %q, %q", c.name, got, err, c.want, c.why)
		}
	}
}

func TestSetSocketConfig(t *testing.T) {
	for _, c := range []struct{ server, old, want string }{
		{"gunicorn", "bind = \"127.0.0.1:8000\"  # all\nworkers = 2\n", "bind = [\"127.0.0.1:8000\", 'unix:/run/s']  # all\nworkers = 2\n"},
		{"gunicorn", "bind = 'a'\nbind='b'", "bind = 'a'\nbind=['b', 'unix:/run/s']"},
		{"gunicorn", "bind = ['a', \"b\" ]\n", "bind = ['a', \"b\", 'unix:/run/s' ]\n"},
		{"gunicorn", "bind = ['a',]\n", ""},
		{"gunicorn", "bind = ':' + port\n", ""},
		{"gunicorn", "if x:\n    bind = 'a'\n", ""},
		{"gunicorn", "workers = 2\n", ""},
		{"puma", "port 3000", "port 3000\nbind \"unix:///run/s?backlog=4096\"\n"},
		{"unicorn", "listen 8080\n", "listen 8080\nlisten \"unix:/run/s\", backlog: 4096\n"},
	} {
		got, err := Tell([]string{c.server}).Socket.SetConfig(c.old, "/run/s")
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q becomes %q, %v", c.server, c.old, got, err)
		}
	}
}
