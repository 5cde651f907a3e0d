package apps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/remedy"
)

// oneWorker is a stack of one application server with too few workers.
func oneWorker(t *testing.T, dir, control string, port int) *bed.Bed {
	t.Helper()
	write(t, dir, "kasoku.yaml", `version: 1
services:
  - name: app
    kind: app
    root: %DIR%
    listen: ["127.0.0.1:%PORT%"]
    control: `+control+`
load: {scenario: scenario.yaml, url: "http://127.0.0.1:%PORT%"}
regulation: {memory_headroom_percent: 5}
`, port)
	scenario(t, dir, "GET /", "sum 2666466670000")
	return bed.Open(t, dir)
}

// more expects that more workers run than before, each a child of the one that
// listens.
func more(t *testing.T, b *bed.Bed) func(t *testing.T, p remedy.Plan) { return moreBeside(t, b, 0) }

// moreBeside is more, where the one that listens has other children too.
func moreBeside(t *testing.T, b *bed.Bed, others int) func(t *testing.T, p remedy.Plan) {
	return func(t *testing.T, p remedy.Plan) {
		if p.Search == nil || len(p.Search.Values) == 0 || p.Search.Current > 1 {
			t.Fatalf("%s searches from %d over %v", p.ID, p.Search.Current, p.Search.Values)
		}
		// Workers come up one by one.
		want := p.Search.Values[0] + others
		counted(t, p)
		said := func() string { return fmt.Sprintf("%d processes run, want %d", children(t, b), want) }
		await.ForOr(t, "the workers", said, func() bool { return children(t, b) == want })
	}
}

// counted expects that the plan has its workers counted: that as many run was made sure when
// it was applied.
func counted(t *testing.T, p remedy.Plan) {
	t.Helper()
	for _, c := range p.Changes {
		if c.Workers != nil && c.Workers.Count == p.Search.Values[0] {
			return
		}
	}
	t.Errorf("%s does not say how many workers run once it is in force", p.ID)
}

// full are the plans once the one loop of a server is seen to be full. That is
// told by the CPU time that it gets, which beside other work takes some looks.
func full(t *testing.T, b *bed.Bed) remedy.Result {
	t.Helper()
	var bad remedy.Result
	await.For(t, "the server to be seen full", func() bool {
		bad = b.Plans(t)
		return slices.ContainsFunc(bad.Plans, func(p remedy.Plan) bool { return p.Remedy == "app.workers" })
	})
	return bad
}

// Gunicorn as a plain process takes the number from its environment file.
func TestGunicorn(t *testing.T) {
	gunicorn := need(t, "gunicorn")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "python/shop.py", "shop.py")
	write(t, dir, "app.env", "", port)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	b := oneWorker(t, dir, fmt.Sprintf("{start: [%s, --bind, %q, \"shop:app\"], env_file: %%DIR%%/app.env}", gunicorn, address), port)
	run(t, dir, "gunicorn", port, gunicorn, "--bind", address, "shop:app")
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		more(t, b)(t, p)
		if text, _ := os.ReadFile(dir + "/app.env"); string(text) != fmt.Sprintf("WEB_CONCURRENCY=%d\n", p.Search.Values[0]) {
			t.Errorf("the environment file holds %q", text)
		}
	}, "app.workers")
}

// A configuration that sets the number again when the server starts leaves what is written
// elsewhere without effect: such a change is refused, not measured.
func TestGunicornOverridden(t *testing.T) {
	gunicorn := need(t, "gunicorn")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "python/shop.py", "shop.py")
	write(t, dir, "app.env", "", port)
	write(t, dir, "gunicorn.conf.py", "def on_starting(server):\n    server.num_workers = 1\n", port)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	b := oneWorker(t, dir, fmt.Sprintf("{start: [%s, --bind, %q, \"shop:app\"], env_file: %%DIR%%/app.env}", gunicorn, address), port)
	run(t, dir, "gunicorn", port, gunicorn, "--bind", address, "shop:app")
	p := bed.Want(t, b.Plans(t), "app.workers")
	_, err := b.Exec.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
	if want := fmt.Sprintf("not in force: 1 workers of gunicorn in app run instead of %d", p.Search.Values[0]); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if text, _ := os.ReadFile(dir + "/app.env"); string(text) != "" {
		t.Errorf("not put back: %q", text)
	}
}

// A script under supervisor gives Gunicorn the number, from a variable or as it stands
// there; what the environment says of it otherwise counts for nothing.
func TestGunicornByScript(t *testing.T) {
	supervisord, gunicorn := need(t, "supervisord"), need(t, "gunicorn")
	for _, c := range []struct{ name, number, file, was, becomes string }{
		{"variable", "$WORKERS", "supervisord.conf", `WORKERS="1"`, `WORKERS="%d"`},
		{"number", "1", "start.sh", "--workers 1 ", "--workers %d "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, port := bed.Folder(t), bed.FreePort(t)
			copied(t, dir, "python/shop.py", "shop.py")
			write(t, dir, "start.sh", "#!/bin/sh\necho starting\nexec "+gunicorn+" --bind 127.0.0.1:%PORT% --workers "+c.number+" shop:app\n", port)
			write(t, dir, "supervisord.conf", supervised+"[program:app]\ncommand=/bin/sh %DIR%/start.sh\ndirectory=%DIR%\nenvironment=WORKERS=\"1\"\nstartsecs=0\n", port)
			b := oneWorker(t, dir, "{program: app, config: %DIR%/supervisord.conf}", port)
			bed.Start(t, dir, "supervisord", supervisord, "-n", "-c", dir+"/supervisord.conf")
			bed.Await(t, fmt.Sprintf("127.0.0.1:%d", port))
			b.Show(t, func(t *testing.T, p remedy.Plan) {
				more(t, b)(t, p)
				text, _ := os.ReadFile(filepath.Join(dir, c.file))
				if want := fmt.Sprintf(c.becomes, p.Search.Values[0]); strings.Contains(string(text), c.was) || !strings.Contains(string(text), want) {
					t.Errorf("%s holds %q, want %q", c.file, text, want)
				}
			}, "app.workers")
		})
	}
}

// nodeApp starts a program of testdata/node with the environment that a file beside it has.
func nodeApp(t *testing.T, program, env string) (b *bed.Bed, dir string, port int) {
	t.Helper()
	node := need(t, "node")
	dir, port = bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "node/"+program, program)
	write(t, dir, "app.env", env, port)
	b = oneWorker(t, dir, fmt.Sprintf("{start: [%s, %%DIR%%/%s, \"%d\"], env_file: %%DIR%%/app.env}", node, program, port), port)
	var set []string
	for line := range strings.Lines(env) {
		if !strings.HasPrefix(line, "#") {
			set = append(set, strings.TrimSpace(line))
		}
	}
	run(t, dir, "node", port, append(set, node, dir+"/"+program, fmt.Sprint(port))...)
	return b, dir, port
}

// A Node program forks as many workers as a variable says.
func TestNodeCluster(t *testing.T) {
	b, dir, _ := nodeApp(t, "server.js", "NODE_ENV=production\nWEB_CONCURRENCY=1\n")
	b.ShowFrom(t, full(t, b), func(t *testing.T, p remedy.Plan) {
		more(t, b)(t, p)
		if text, _ := os.ReadFile(dir + "/app.env"); string(text) != fmt.Sprintf("NODE_ENV=production\nWEB_CONCURRENCY=%d\n", p.Search.Values[0]) {
			t.Errorf("the environment file holds %q", text)
		}
	}, "app.workers")
}

// A Node program that compiles its page at each request unless NODE_ENV says
// production, as Express does, gets the variable; one with a file that the variable
// chooses does not.
func TestNodeEnv(t *testing.T) {
	b, dir, port := nodeApp(t, "views.js", "# as it was left\nNODE_ENV=development\n")
	compiled := func(t *testing.T) bool {
		before := get(t, port, "/compiled")
		get(t, port, "/")
		return get(t, port, "/compiled") != before
	}
	if !compiled(t) {
		t.Fatal("as found the page is not compiled at each request")
	}
	b.Show(t, func(t *testing.T, _ remedy.Plan) {
		if compiled(t) || get(t, port, "/env") != "production" {
			t.Errorf("NODE_ENV is %q, compiled at each request: %t", get(t, port, "/env"), compiled(t))
		}
		if text, _ := os.ReadFile(dir + "/app.env"); string(text) != "# as it was left\nNODE_ENV=production\n" {
			t.Errorf("the environment file holds %q", text)
		}
	}, "node.env")
	if !compiled(t) || get(t, port, "/env") != "development" {
		t.Errorf("taken back, NODE_ENV is %q", get(t, port, "/env"))
	}
	write(t, dir, "config/production.json", "{}\n", port)
	res := b.Plans(t)
	if text := strings.Join(res.Skipped, "\n"); !strings.Contains(text, "NODE_ENV also chooses what is in "+dir+"/config/production.json") {
		t.Errorf("beside config/production.json: skipped %s", text)
	}
}

// A Node program that makes many objects for each request gets room for new ones.
func TestNodeHeap(t *testing.T) {
	b, _, port := nodeApp(t, "objects.js", "NODE_ENV=production\n")
	limit := func() int {
		n, err := strconv.Atoi(get(t, port, "/limit"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	found := limit()
	b.Show(t, func(t *testing.T, _ remedy.Plan) {
		if now := limit(); now-found != 3*(64-16) {
			t.Errorf("the heap may hold %d MiB, %d as found; want three semi-spaces of 48 MiB more", now, found)
		}
	}, "node.heap")
	if now := limit(); now != found {
		t.Errorf("taken back, the heap may hold %d MiB, %d as found", now, found)
	}
}

// Starman under supervisor has it in its command, which is edited in
// supervisor's own file.
func TestStarman(t *testing.T) {
	supervisord, starman := need(t, "supervisord"), need(t, "starman")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "perl/app.psgi", "app.psgi")
	write(t, dir, "supervisord.conf", supervised+`[program:app]
; one worker, as it was set up years ago
command=`+starman+` --listen 127.0.0.1:%PORT% --workers=1 app.psgi ; do not forget the port
directory=%DIR%
startsecs=0
`, port)
	b := oneWorker(t, dir, "{program: app, config: %DIR%/supervisord.conf}", port)
	bed.Start(t, dir, "supervisord", supervisord, "-n", "-c", dir+"/supervisord.conf")
	bed.Await(t, fmt.Sprintf("127.0.0.1:%d", port))
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		more(t, b)(t, p)
		text, _ := os.ReadFile(dir + "/supervisord.conf")
		if !strings.Contains(string(text), "; do not forget the port") || strings.Contains(string(text), "--workers=1 ") {
			t.Errorf("the command is edited wrongly:\n%s", text)
		}
	}, "app.workers")
}

// Puma has it in its own file; Ruby's JIT goes into the environment.
func TestPuma(t *testing.T) {
	puma := need(t, "puma")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "ruby/config.ru", "config.ru")
	copied(t, dir, "ruby/config/puma.rb", "config/puma.rb")
	write(t, dir, "app.env", "RACK_ENV=production\n", port)
	address := fmt.Sprintf("tcp://127.0.0.1:%d", port)
	b := oneWorker(t, dir, fmt.Sprintf("{start: [%s, -b, %q, config.ru], env_file: %%DIR%%/app.env}", puma, address), port)
	run(t, dir, "puma", port, "RACK_ENV=production", puma, "-b", address, "config.ru")
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		if p.Remedy == "ruby.yjit" {
			if on := get(t, port, "/jit"); on != "yes" {
				t.Errorf("the JIT is on: %q", on)
			}
			return
		}
		more(t, b)(t, p)
	}, "app.workers", "ruby.yjit")
}

// Unicorn has it in its file only, and one worker where that does not say it.
func TestUnicorn(t *testing.T) {
	unicorn := need(t, "unicorn")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "ruby/config.ru", "config.ru")
	write(t, dir, "unicorn.rb", "listen '127.0.0.1:%PORT%'\ntimeout 30\n", port)
	b := oneWorker(t, dir, fmt.Sprintf("{start: [%s, -c, unicorn.rb, -E, production, config.ru]}", unicorn), port)
	run(t, dir, "unicorn", port, unicorn, "-c", "unicorn.rb", "-E", "production", "config.ru")
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		more(t, b)(t, p)
		if text, _ := os.ReadFile(dir + "/unicorn.rb"); !strings.HasSuffix(string(text), fmt.Sprintf("timeout 30\nworker_processes %d\n", p.Search.Values[0])) {
			t.Errorf("the file holds %q", text)
		}
	}, "app.workers")
}

// Uvicorn takes it from its environment file. With more than one worker it has
// a child that tracks what they share (Python's multiprocessing, "spawn").
func TestUvicorn(t *testing.T) {
	uvicorn := need(t, "uvicorn")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "python/asgi.py", "asgi.py")
	write(t, dir, "app.env", "", port)
	b := oneWorker(t, dir, fmt.Sprintf("{start: [%s, --port, \"%d\", \"asgi:app\"], env_file: %%DIR%%/app.env}", uvicorn, port), port)
	run(t, dir, "uvicorn", port, uvicorn, "--port", fmt.Sprint(port), "asgi:app")
	b.ShowFrom(t, full(t, b), func(t *testing.T, p remedy.Plan) {
		moreBeside(t, b, 1)(t, p)
		if text, _ := os.ReadFile(dir + "/app.env"); string(text) != fmt.Sprintf("WEB_CONCURRENCY=%d\n", p.Search.Values[0]) {
			t.Errorf("the environment file holds %q", text)
		}
	}, "app.workers")
}

// uWSGI has it in its section of a file that others read too; the file counts
// before an environment variable.
func TestUWSGI(t *testing.T) {
	uwsgi := need(t, "uwsgi")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "python/shop.py", "shop.py")
	write(t, dir, "shop.ini", `[uwsgi]
plugin = python3
http-socket = 127.0.0.1:%PORT%
module = shop:app
master = true
processes = 1
[server:main]
workers = 9
`, port)
	b := oneWorker(t, dir, fmt.Sprintf("{start: [%s, shop.ini]}", uwsgi), port)
	run(t, dir, "uwsgi", port, "UWSGI_PROCESSES=7", uwsgi, "shop.ini")
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		more(t, b)(t, p)
		if text, _ := os.ReadFile(dir + "/shop.ini"); !strings.HasSuffix(string(text), fmt.Sprintf("master = true\nprocesses = %d\n[server:main]\nworkers = 9\n", p.Search.Values[0])) {
			t.Errorf("the file holds %q", text)
		}
	}, "app.workers")
}
