package remedy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/kind/goapp"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

const (
	unitPath  = "/etc/systemd/system/api.service"
	envPath   = "/srv/api/api.env"
	superPath = "/etc/supervisor/supervisord.conf"
)

// goAPI is the site with a Go service beside it, started as control says.
func goAPI(control stack.Control, files map[string]string) remedy.Input {
	in := remedytest.World(nil)
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "api", Kind: stack.App, Control: control, TalksTo: []string{"db"}, Listen: []string{"127.0.0.1:9090"}})
	for p, text := range files {
		in.Snapshot.Files["local"][p] = evidence.File{Content: []byte(text), Mode: 0o600, Service: "api", Writable: true}
	}
	in.Snapshot.Apps = map[string]evidence.AppProcess{"api": {Env: map[string]string{}, Dir: "/srv/api", Go: &goapp.Build{Version: "go1.24.1"}}}
	in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 11, Processes: 1, RSS: 100 << 20}
	return in
}

func withGarbage(in remedy.Input) remedy.Input {
	in.Evidence.Profiles = []evidence.Profile{{Service: "api", Tool: "go pprof", Samples: 900,
		Top: []evidence.ProfileFrame{{Function: "runtime.scanobject", Self: 0.2, Total: 0.2}, {Function: "main.index", Self: 0.5, Total: 0.6}}}}
	return in
}

// What the runtime has counted needs no profile, and counts more than one.
func TestAppGoCounted(t *testing.T) {
	counted := func(in remedy.Input, share float64) remedy.Input {
		use := in.Evidence.Services["api"]
		use.GC = share * use.CPU
		in.Evidence.Services["api"] = use
		return in
	}
	in := counted(goAPI(plainProcess(), map[string]string{envPath: ""}), 0.06)
	p := remedytest.Want(t, in, "go.gc")
	remedytest.Has(t, remedytest.After(p, envPath), "GOGC=off", "GOMEMLIMIT=800MiB")
	remedytest.WantNone(t, counted(in, 0.04), "go.gc", "")
	remedytest.WantNone(t, counted(withGarbage(in), 0.04), "go.gc", "")
}

func plainProcess() stack.Control {
	return stack.Control{Start: []string{"/srv/api/api"}, EnvFile: envPath}
}

// The variable goes where each way to start a program takes it from, and is
// not planned again from what is there then.
func TestAppEnvironment(t *testing.T) {
	for _, c := range []struct {
		name    string
		control stack.Control
		files   map[string]string
		path    string
		want    []string
	}{
		{"process", plainProcess(), map[string]string{envPath: "DSN=x\n"}, envPath, []string{"DSN=x\n", "GOGC=off\n", "GOMEMLIMIT=800MiB\n"}},
		{"unit", stack.Control{Unit: "api"}, map[string]string{unitPath: "[Service]\nExecStart=/srv/api/api\nEnvironment=A=1 \"GOGC=200\"\n"}, unitPath,
			[]string{"ExecStart=/srv/api/api\n", "Environment=A=1", "GOGC=off", "GOMEMLIMIT=800MiB"}},
		{"unit with a file that wins", stack.Control{Unit: "api.service"}, map[string]string{unitPath: "[Service]\nExecStart=/srv/api/api\nEnvironmentFile=-" + envPath + "\n", envPath: "GOGC=50\n"}, envPath, []string{"GOGC=off\n"}},
		{"supervisor", stack.Control{Program: "api", Config: superPath}, map[string]string{superPath: "[program:api]\ncommand=/srv/api/api ; here\nenvironment=A=\"1,2\",GOGC='50'\n"}, superPath,
			[]string{`environment=A="1,2",GOGC="off",GOMEMLIMIT="800MiB"`, "; here"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := withGarbage(goAPI(c.control, c.files))
			p := remedytest.Want(t, in, "go.gc")
			remedytest.Has(t, remedytest.After(p, c.path), c.want...)
			remedytest.HasNot(t, remedytest.After(p, c.path), "GOGC=50", "GOGC=200")
			for _, ch := range p.Changes {
				if ch.Activate != change.Restart || ch.Service != "api" {
					t.Errorf("%s: %s of %q", ch.Path, ch.Activate, ch.Service)
				}
			}
			remedytest.Put(in, p.Changes)
			remedytest.WantNone(t, in, "go.gc", "")
		})
	}
}

func TestAppNoEnvironment(t *testing.T) {
	in := withGarbage(goAPI(stack.Control{Start: []string{"/srv/api/api"}}, nil))
	remedytest.WantNone(t, in, "go.gc", "control.env_file")
	in = withGarbage(goAPI(stack.Control{Start: []string{"env", "GOGC=100", "/srv/api/api"}, EnvFile: envPath}, map[string]string{envPath: ""}))
	remedytest.WantNone(t, in, "go.gc", "control.start in kasoku.yaml sets GOGC itself")
}

// A package's unit stays as it is: a folder of drop-ins is made for it.
func TestAppPackagesUnit(t *testing.T) {
	in := withGarbage(goAPI(stack.Control{Unit: "api"}, map[string]string{"/lib/systemd/system/api.service": "[Service]\nExecStart=/srv/api/api\n"}))
	p := remedytest.Want(t, in, "go.gc")
	if len(p.Changes) != 2 || p.Changes[0].Kind != change.KindDir || p.Changes[0].Path != unitPath+".d" {
		t.Fatalf("%+v", p.Changes)
	}
	remedytest.Has(t, remedytest.After(p, unitPath+".d/zz-kasoku.conf"), "[Service]\n", "GOGC=off", "GOMEMLIMIT=800MiB")
	in.Snapshot.Files["local"][unitPath+".d/admin.conf"] = evidence.File{Content: []byte("[Unit]\n"), Service: "api"}
	if p := remedytest.Want(t, in, "go.gc"); len(p.Changes) != 1 {
		t.Errorf("the folder is there: %+v", p.Changes)
	}
}

// What the collector may take is bounded by what is free and by its group.
func TestAppGoMemory(t *testing.T) {
	in := withGarbage(goAPI(plainProcess(), map[string]string{envPath: ""}))
	in.Evidence.System.MemoryAvailable = 1700 << 20 // 20 % of 8 GiB stay free
	_, res := remedytest.Plan(t, in)
	if strings.Contains(remedytest.IDs(res.Plans), "go.gc") {
		t.Errorf("planned although %d MiB are what must stay free", 8<<10/5)
	}
	in.Evidence.System.MemoryAvailable = 4 << 30
	use := in.Evidence.Services["api"]
	use.Cgroup = &evidence.CgroupUse{MemoryLimit: 400 << 20, MemoryUsed: 110 << 20}
	in.Evidence.Services["api"] = use
	p := remedytest.Want(t, in, "go.gc")
	remedytest.Has(t, remedytest.After(p, envPath), "GOMEMLIMIT=350MiB") // 100 + (360 − 110)
	in.Snapshot.Apps["api"] = evidence.AppProcess{Env: map[string]string{"GOMEMLIMIT": "1GiB"}, Go: &goapp.Build{Version: "go1.24.1"}}
	remedytest.WantNone(t, in, "go.gc", "")
}

func TestAppGoMaxProcs(t *testing.T) {
	in := goAPI(plainProcess(), map[string]string{envPath: ""})
	in.Snapshot.CPUs = 16
	use := in.Evidence.Services["api"]
	use.Cgroup = &evidence.CgroupUse{CPUs: 3.5, Throttled: time.Second}
	in.Evidence.Services["api"] = use
	p := remedytest.Want(t, in, "go.maxprocs")
	if got := remedytest.After(p, envPath); got != "GOMAXPROCS=4\n" {
		t.Errorf("%q", got)
	}
	in.Snapshot.Apps["api"] = evidence.AppProcess{Env: map[string]string{}, Go: &goapp.Build{Version: "go1.25.0"}}
	remedytest.WantNone(t, in, "go.maxprocs", "") // it looks by itself
}

func TestAppInterpolate(t *testing.T) {
	for _, c := range []struct{ old, want string }{
		{"DSN=u:p@tcp(127.0.0.1:3306)/app\n", "DSN=u:p@tcp(127.0.0.1:3306)/app?interpolateParams=true\n"},
		{"DSN='u:p@unix(/run/db.sock)/app?parseTime=true'\n", "DSN='u:p@unix(/run/db.sock)/app?parseTime=true&interpolateParams=true'\n"},
		{"DSN=u:p@tcp(db)/app?interpolateParams=false\n", ""},
		{"DSN=u:p@tcp(db)/app?collation=gbk_chinese_ci\n", ""},
	} {
		in := goAPI(plainProcess(), map[string]string{envPath: c.old})
		in.Evidence.Counters["db"].Delta["Com_stmt_prepare"], in.Evidence.Counters["db"].Delta["Com_stmt_execute"] = 3000, 3000
		if c.want == "" {
			remedytest.WantNone(t, in, "go.interpolate", "")
			continue
		}
		p := remedytest.Want(t, in, "go.interpolate")
		if got := remedytest.After(p, envPath); got != c.want {
			t.Errorf("%q becomes %q", c.old, got)
		}
		remedytest.Put(in, p.Changes)
		remedytest.WantNone(t, in, "go.interpolate", "")
	}
}

// Where the environment says only parts of the data source name, the name of the database
// carries the option, if it is that of a database of the server and no other service reads it.
func TestAppInterpolateByName(t *testing.T) {
	world := func() remedy.Input {
		in := goAPI(plainProcess(), map[string]string{envPath: "DB_HOST=127.0.0.1\nDB_NAME=app\n"})
		in.Evidence.Counters["db"].Delta["Com_stmt_prepare"], in.Evidence.Counters["db"].Delta["Com_stmt_execute"] = 3000, 3000
		in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "app", Name: "users", Engine: "InnoDB"}}
		api := in.Snapshot.Apps["api"]
		api.Named = &goapp.NamedDatabase{File: "main.go", Line: 5, Variable: "DB_NAME", First: "parseTime=true"}
		in.Snapshot.Apps["api"] = api
		return in
	}
	in := world()
	p := remedytest.Want(t, in, "go.interpolate")
	if got := remedytest.After(p, envPath); got != "DB_HOST=127.0.0.1\nDB_NAME=\"app?interpolateParams=true&parseTime=true&charset=utf8mb4,\"\n" {
		t.Errorf("%q", got)
	}
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "go.interpolate", "") // no database has that name
	other := world()
	other.Stack.Services = append(other.Stack.Services, stack.Service{Name: "worker", Kind: stack.App, Control: plainProcess(), TalksTo: []string{"db"}})
	remedytest.WantNone(t, other, "go.interpolate", "")
}

func TestAppProfileGuided(t *testing.T) {
	in := goAPI(plainProcess(), map[string]string{envPath: ""})
	svc := in.Stack.Service("api")
	svc.PProf = "http://127.0.0.1:6060/debug/pprof/"
	remedytest.WantNone(t, in, "go.pgo", "name in kasoku.yaml how api is built")
	svc.Build = &stack.Build{Dir: "/srv/api/cmd", Command: []string{"go", "build", "-o", "../api", "."}, Products: []string{"../api"}}
	remedytest.WantNone(t, in, "go.pgo", "no CPU profile")
	in.Snapshot.GoProfiles = map[string][]byte{"api": []byte("pprof")}
	p := remedytest.Want(t, in, "go.pgo")
	if len(p.Changes) != 2 || p.Changes[0].Path != "/srv/api/cmd/default.pgo" || string(p.Changes[0].After.Content) != "pprof" || p.Changes[1].Kind != change.KindExec || p.Changes[1].Activate != change.Restart {
		t.Errorf("%+v", p.Changes)
	}
	app := in.Snapshot.Apps["api"]
	app.Go = &goapp.Build{Version: "go1.24.1", Settings: map[string]string{"-pgo": "/srv/api/cmd/default.pgo"}}
	in.Snapshot.Apps["api"] = app
	remedytest.WantNone(t, in, "go.pgo", "")
}

// The command that kasoku.yaml names is run without what finds errors.
func TestAppRebuild(t *testing.T) {
	for _, c := range []struct{ command, want []string }{
		{[]string{"go", "build", "-race", "-o", "a", "."}, []string{"go", "build", "-o", "a", "."}},
		{[]string{"go", "build", "-gcflags=all=-N -l", "."}, []string{"go", "build", "."}},
		{[]string{"go", "build", "-gcflags", "-N -m", "."}, []string{"go", "build", "-gcflags=-m", "."}},
		{[]string{"go", "build", "-race=false", "--asan", "-tags", "race", "."}, []string{"go", "build", "-race=false", "-tags", "race", "."}},
		{[]string{"make", "app"}, []string{"make", "app"}},
	} {
		in := goAPI(plainProcess(), map[string]string{envPath: ""})
		in.Snapshot.Apps["api"] = evidence.AppProcess{Go: &goapp.Build{Version: "go1.24.1", Settings: map[string]string{"-race": "true"}}}
		svc := in.Stack.Service("api")
		remedytest.WantNone(t, in, "go.rebuild", "name in kasoku.yaml how api is built")
		svc.Build = &stack.Build{Dir: "/srv/api", Command: c.command, Products: []string{"api"}}
		p := remedytest.Want(t, in, "go.rebuild")
		ch := p.Changes[0]
		if ch.Kind != change.KindExec || ch.Activate != change.Restart || !slices.Equal(ch.Apply[len(ch.Apply)-len(c.want):], c.want) || ch.Apply[len(ch.Apply)-len(c.want)-1] != "api" {
			t.Errorf("%q is run as %q", c.command, ch.Apply)
		}
		in.Snapshot.Apps["api"] = evidence.AppProcess{Go: &goapp.Build{Version: "go1.24.1"}}
		remedytest.WantNone(t, in, "go.rebuild", "")
	}
}

// appServer is the site with an application server beside it that has one worker.
func appServer(start []string, files map[string]string, env map[string]string) remedy.Input {
	in := goAPI(stack.Control{Start: start, EnvFile: envPath}, files)
	in.Snapshot.Apps["api"] = evidence.AppProcess{Argv: start, Dir: "/srv/api", Env: env}
	in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 2, Processes: 2, RSS: 100 << 20}
	in.Evidence.System.User, in.Evidence.System.Idle = 6, 9
	return in
}

// The number is written where it counts.
func TestAppWorkers(t *testing.T) {
	const conf = "/srv/api/gunicorn.conf.py"
	for _, c := range []struct {
		name, path, want string
		in               remedy.Input
	}{
		{"variable", envPath, "WEB_CONCURRENCY=2\n", appServer([]string{"gunicorn", "app:app"}, map[string]string{envPath: ""}, nil)},
		{"more options", envPath, "GUNICORN_CMD_ARGS='--workers=2 --threads 1'\n", appServer([]string{"gunicorn", "app:app"}, map[string]string{envPath: "GUNICORN_CMD_ARGS='--workers=1 --threads 1'\n"}, nil)},
		{"file", conf, "bind = 'x'\nworkers = 2\n", appServer([]string{"gunicorn", "app:app"}, map[string]string{envPath: "", conf: "bind = 'x'\nworkers = 1\n"}, nil)},
		{"named file", "/etc/api.py", "workers = 2\n", appServer([]string{"gunicorn", "-c", "/etc/api.py", "app:app"}, map[string]string{envPath: "", "/etc/api.py": ""}, nil)},
		{"variable that a file takes", envPath, "WEB_CONCURRENCY=2\n", appServer([]string{"puma"}, map[string]string{envPath: "", "/srv/api/config/puma.rb": "workers ENV.fetch('WEB_CONCURRENCY') { 1 }\nthreads 1, 1\n"}, nil)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := remedytest.Want(t, c.in, "app.workers")
			if got := remedytest.After(p, c.path); got != c.want {
				t.Errorf("%s holds %q, want %q", c.path, got, c.want)
			}
			if p.Search == nil || len(p.Search.Values) < 3 || p.Search.Values[0] != 2 {
				t.Errorf("%+v", p.Search)
			}
		})
	}
	node := appServer([]string{"node", "server.js"}, map[string]string{envPath: "WEB_CONCURRENCY=1\n"}, nil)
	node.Snapshot.Apps["api"] = evidence.AppProcess{Exe: "/usr/bin/node", Argv: []string{"node", "server.js"}, Dir: "/srv/api", Env: map[string]string{"WEB_CONCURRENCY": "1"}, Children: 1}
	remedytest.WantNone(t, node, "app.workers", "") // its one thread has nothing to do
	node.Evidence.Services["api"] = evidence.ServiceUse{CPU: 8, Processes: 2, RSS: 100 << 20, Busiest: 8}
	if p := remedytest.Want(t, node, "app.workers"); remedytest.After(p, envPath) != "WEB_CONCURRENCY=2\n" {
		t.Errorf("%q", remedytest.After(p, envPath))
	}
	uvicorn := appServer([]string{"uvicorn", "app:app"}, map[string]string{envPath: "UVICORN_WORKERS=1\n"}, nil)
	uvicorn.Evidence.Services["api"] = evidence.ServiceUse{CPU: 2, Processes: 1, RSS: 100 << 20, Busiest: 2}
	remedytest.WantNone(t, uvicorn, "app.workers", "") // it waits for many at once
	uvicorn.Evidence.Services["api"] = evidence.ServiceUse{CPU: 8, Processes: 1, RSS: 100 << 20, Busiest: 2}
	if p := remedytest.Want(t, uvicorn, "app.workers"); remedytest.After(p, envPath) != "UVICORN_WORKERS=2\n" {
		t.Errorf("%q", remedytest.After(p, envPath))
	}
	remedytest.WantNone(t, appServer([]string{"gunicorn", "-w", "1", "app:app"}, map[string]string{envPath: ""}, nil), "app.workers", "control.start in kasoku.yaml")
	remedytest.WantNone(t, appServer([]string{"gunicorn", "app:app"}, map[string]string{envPath: "", conf: "workers = cpu_count()\n"}, nil), "app.workers", "computes the number")
	enough := appServer([]string{"gunicorn", "app:app"}, map[string]string{envPath: "WEB_CONCURRENCY=32\n"}, nil)
	remedytest.WantNone(t, enough, "app.workers", "")
}

// An application that runs in threads and waits for something else than CPU gets more of
// them, where their number stands; one that does not run in threads gets none.
func TestAppThreads(t *testing.T) {
	const conf, ini = "/srv/api/gunicorn.conf.py", "/srv/api/uwsgi.ini"
	for _, c := range []struct {
		name, path, want string
		in               remedy.Input
	}{
		{"more options", envPath, "GUNICORN_CMD_ARGS='--workers=4 --threads 8'\n", appServer([]string{"gunicorn", "app:app"}, map[string]string{envPath: "GUNICORN_CMD_ARGS='--workers=4 --threads 4'\n"}, nil)},
		{"file", conf, "workers = 4\nthreads = 8\n", appServer([]string{"gunicorn", "app:app"}, map[string]string{envPath: "", conf: "workers = 4\nthreads = 4\n"}, nil)},
		{"section", ini, "[other]\nthreads = 2\n[uwsgi]\nprocesses = 4\nthreads = 8\n", appServer([]string{"uwsgi", "--ini", ini}, map[string]string{envPath: "", ini: "[other]\nthreads = 2\n[uwsgi]\nprocesses = 4\nthreads = 4\n"}, nil)},
		{"variable", envPath, "WEB_CONCURRENCY=4\nPUMA_MAX_THREADS=8\n", appServer([]string{"puma"}, map[string]string{envPath: "WEB_CONCURRENCY=4\nPUMA_MAX_THREADS=4\n"}, nil)},
	} {
		c.in.Evidence.Load.Workload, c.in.Evidence.Load.Routes[0].Total = 16, 160*time.Second // all sixteen are at work
		p := remedytest.Want(t, c.in, "app.workers")
		if got := remedytest.After(p, c.path); got != c.want {
			t.Errorf("%s: %s holds %q, want %q", c.name, c.path, got, c.want)
		}
		if p.Search == nil || p.Search.Name != "threads" || p.Search.Current != 4 || len(p.Search.Values) == 0 || p.Search.Values[0] != 8 {
			t.Errorf("%s: %+v", c.name, p.Search)
		}
	}
}

// Neither memory nor the database's connections are used up by more workers.
func TestAppWorkersBounds(t *testing.T) {
	in := appServer([]string{"gunicorn", "app:app"}, map[string]string{envPath: ""}, nil)
	in.Snapshot.Databases["db"].Variables["max_connections"] = "5"
	p := remedytest.Want(t, in, "app.workers")
	if len(p.Search.Values) != 2 || p.Search.Values[1] != 4 {
		t.Errorf("%v for 5 connections", p.Search.Values)
	}
	// One number that is left needs no search, and can be tried together with others.
	in.Snapshot.Databases["db"].Variables["max_connections"] = "3"
	p = remedytest.Want(t, in, "app.workers")
	if p.Search != nil || !remedy.Joinable(p) || p.Title != "Run 2 workers of gunicorn in api instead of 1" || remedytest.After(p, envPath) != "WEB_CONCURRENCY=2\n" {
		t.Errorf("for 3 connections: %q, search %+v", p.Title, p.Search)
	}
	in.Stack.Regulation = regulation.Regulation{MemoryHeadroomPercent: 49}
	in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 2, Processes: 1, RSS: 3 << 30}
	remedytest.WantNone(t, in, "app.workers", "leave no other number")
}

func TestAppUnitCommand(t *testing.T) {
	in := appServer(nil, map[string]string{unitPath: "[Service]\nExecStart=/usr/bin/gunicorn --workers 1 \\\n  app:app\n"}, nil)
	in.Stack.Service("api").Control = stack.Control{Unit: "api"}
	p := remedytest.Want(t, in, "app.workers")
	remedytest.Has(t, remedytest.After(p, unitPath), "ExecStart=/usr/bin/gunicorn --workers 2 ", "app:app\n")
}

func TestAppRubyJIT(t *testing.T) {
	in := appServer([]string{"puma"}, map[string]string{envPath: "RUBYOPT=-W0\n"}, nil)
	in.Snapshot.Apps["api"] = evidence.AppProcess{Exe: "/opt/versions/3.3.1/bin/ruby", Argv: []string{"puma", "6.4"}, Dir: "/srv/api"}
	in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 14, Processes: 2, RSS: 100 << 20}
	p := remedytest.Want(t, in, "ruby.yjit")
	remedytest.Has(t, remedytest.After(p, envPath), "RUBYOPT=\"-W0 --yjit\"\n")
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "ruby.yjit", "")
	in.Snapshot.Apps["api"] = evidence.AppProcess{Exe: "/usr/bin/ruby2.7", Argv: []string{"puma", "6.4"}, Dir: "/srv/api"}
	remedytest.WantNone(t, in, "ruby.yjit", "")
}

// What Passenger starts gets its variables from the web server's configuration, which is
// restarted; an option that is there stays.
func TestPassengerRubyJIT(t *testing.T) {
	for name, c := range map[string]struct {
		web        string
		file, text string
		want       []string
	}{
		"apache":              {"httpd", "/etc/httpd.conf", "Listen 80\nLoadModule env_module mod_env.so\nSetEnv OTHER x\n", []string{"SetEnv OTHER x\n", "\nSetEnv RUBYOPT \"--yjit\"\n"}},
		"apache with options": {"httpd", "/etc/httpd.conf", "Listen 80\nLoadModule env_module mod_env.so\nSetEnv RUBYOPT -W0\n", []string{"SetEnv RUBYOPT \"-W0 --yjit\"\n"}},
		"nginx":               {"web", remedytest.NginxPath, "", []string{"passenger_env_var RUBYOPT \"--yjit\";\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := appServer(nil, nil, nil)
			files := in.Snapshot.Files["local"]
			if c.text != "" {
				in.Stack.Services = append(in.Stack.Services, stack.Service{Name: c.web, Kind: stack.Apache, Host: stack.LocalHost, Config: c.file, Control: stack.Control{Unit: "apache2"}})
				files[c.file] = evidence.File{Content: []byte(c.text), Mode: 0o644, Service: c.web, Writable: true}
			}
			in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "rails", Kind: stack.App, Host: stack.LocalHost, Root: "/srv/rails", RunsIn: c.web})
			in.Snapshot.Apps["rails"] = evidence.AppProcess{Exe: "/usr/bin/ruby3.1", Argv: []string{"Passenger", "RubyApp:", "rails"}, Dir: "/srv/rails"}
			in.Evidence.Services[c.web] = evidence.ServiceUse{CPU: 14, Processes: 2, RSS: 100 << 20}
			p := remedytest.Want(t, in, "ruby.yjit")
			remedytest.Has(t, remedytest.After(p, c.file), c.want...)
			for _, ch := range p.Changes {
				if ch.Service != c.web || ch.Activate != change.Restart {
					t.Errorf("%s is activated by %s of %s", ch.Path, ch.Activate, ch.Service)
				}
			}
			remedytest.Put(in, p.Changes)
			remedytest.WantNone(t, in, "ruby.yjit", "")
		})
	}
}

// Node gets room for new objects where its CPU binds, beside the options that it has; not where
// somebody has chosen a size, where it is a small part of the work, or where memory is short.
func TestNodeHeap(t *testing.T) {
	world := func(file string, cpu float64, argv ...string) remedy.Input {
		in := goAPI(plainProcess(), map[string]string{envPath: file})
		in.Snapshot.Apps["api"] = evidence.AppProcess{Exe: "/usr/bin/node", Argv: append([]string{"node"}, argv...), Env: map[string]string{}}
		in.Evidence.Services["api"] = evidence.ServiceUse{CPU: cpu, Processes: 2, RSS: 100 << 20}
		return in
	}
	in := world("PORT=1\nNODE_OPTIONS=--enable-source-maps\n", 14, "server.js")
	p := remedytest.Want(t, in, "node.heap")
	remedytest.Has(t, remedytest.After(p, envPath), "PORT=1\n", "NODE_OPTIONS=\"--enable-source-maps --max-semi-space-size=64\"\n")
	if len(p.Trades) > 0 || p.EditsSettings || len(p.Changes) != 1 || p.Changes[0].Activate != change.Restart {
		t.Errorf("%+v", p)
	}
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "node.heap", "")
	remedytest.WantNone(t, world("", 14, "--max-semi-space-size=32", "server.js"), "node.heap", "")
	remedytest.WantNone(t, world("", 0.1, "server.js"), "node.heap", "")
	in = world("", 14, "server.js")
	in.Evidence.System.MemoryAvailable = in.Evidence.System.MemoryTotal/5 + 300<<20
	remedytest.WantNone(t, in, "node.heap", "")
}

// NODE_ENV is set where it chooses nothing else, and nobody has chosen another.
func TestNodeEnv(t *testing.T) {
	world := func(file string, process evidence.AppProcess) remedy.Input {
		in := goAPI(plainProcess(), map[string]string{envPath: file})
		process.Exe = "/usr/bin/node"
		in.Snapshot.Apps["api"] = process
		in.Stack.Regulation.ApplicationSettings = true
		return in
	}
	unset := evidence.AppProcess{Env: map[string]string{}}
	in := world("PORT=1\n", unset)
	p := remedytest.Want(t, in, "node.env")
	remedytest.Has(t, remedytest.After(p, envPath), "PORT=1\nNODE_ENV=production\n")
	if !slices.Contains(p.Trades, regulation.Observability) || !p.EditsSettings || len(p.Changes) != 1 || p.Changes[0].Activate != change.Restart {
		t.Errorf("%+v", p)
	}
	in = world("NODE_ENV=development\n", evidence.AppProcess{Env: map[string]string{"NODE_ENV": "development"}})
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "node.env"), envPath), "NODE_ENV=production\n")
	remedytest.WantNone(t, world("", evidence.AppProcess{Env: map[string]string{"NODE_ENV": "production"}}), "node.env", "")
	remedytest.WantNone(t, world("NODE_ENV=production\n", unset), "node.env", "the service does not run with it")
	remedytest.WantNone(t, world("", evidence.AppProcess{Env: map[string]string{"NODE_ENV": "staging"}}), "node.env", "somebody has chosen NODE_ENV=staging")
	remedytest.WantNone(t, world("", evidence.AppProcess{Env: map[string]string{}, ByNodeEnv: []string{"/srv/api/config/production.json"}}), "node.env", "chooses what is in /srv/api/config/production.json")

	// Neither permission alone is enough.
	for name, r := range map[string]regulation.Regulation{
		"application_settings": {Allow: remedytest.AllTrades()},
		"observability":        {ApplicationSettings: true},
	} {
		in := world("", unset)
		in.Stack.Regulation = r
		_, res := remedytest.Plan(t, in)
		if !slices.ContainsFunc(res.Refusals, func(f remedy.Refusal) bool { return f.Plan.Remedy == "node.env" && strings.Contains(f.Why, name) }) {
			t.Errorf("without %s it is not refused: %+v", name, res.Refusals)
		}
	}
}
