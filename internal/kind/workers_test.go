package kind

import (
	"strings"
	"testing"
)

// Workers are told among the processes of each server; helpers beside them are none.
func TestWorkers(t *testing.T) {
	for _, c := range []struct {
		what, server string
		// processes as "position of the parent: command"
		processes []string
		want      int
	}{
		{"copies of the main process", "gunicorn", []string{"-1: python3 /usr/bin/gunicorn -w 2 app:app", "0: python3 /usr/bin/gunicorn -w 2 app:app", "0: python3 /usr/bin/gunicorn -w 2 app:app"}, 2},
		{"what a worker or the main process started is none", "gunicorn", []string{"-1: python3 /usr/bin/gunicorn -w 2 app:app", "0: python3 /usr/bin/gunicorn -w 2 app:app", "1: python3 /usr/bin/gunicorn -w 2 app:app", "0: tail -f log"}, 1},
		{"with titles", "gunicorn", []string{"-1: gunicorn: master [app]", "0: gunicorn: worker [app]", "0: gunicorn: worker [app]"}, 2},
		{"below a shell", "gunicorn", []string{"-1: sh start.sh", "0: python3 /usr/bin/gunicorn app:app", "1: python3 /usr/bin/gunicorn app:app"}, 1},
		{"of two programs", "gunicorn", []string{"-1: gunicorn a:a", "0: gunicorn a:a", "-1: gunicorn b:b", "2: gunicorn b:b"}, -1},
		{"none of them", "gunicorn", []string{"-1: java -jar app.jar"}, -1},
		{"titles of uWSGI", "uwsgi", []string{"-1: uWSGI master", "0: uWSGI worker 1", "0: uWSGI worker 2", "0: uWSGI http 1"}, 2},
		{"uWSGI", "uwsgi", []string{"-1: uwsgi --ini a.ini", "0: uwsgi --ini a.ini", "0: python3 manage.py qcluster"}, 1},
		{"a cluster of Puma", "puma", []string{"-1: puma 5.6.5 (tcp://0.0.0.0:9292) [shop]", "0: puma: cluster worker 0: 12 [shop]", "0: puma: cluster worker 1: 12 [shop]"}, 2},
		{"Puma by itself", "puma", []string{"-1: puma 5.6.5 (tcp://0.0.0.0:9292) [shop]"}, 0},
		{"Unicorn", "unicorn", []string{"-1: unicorn master -c unicorn.rb", "0: unicorn worker[0] -c unicorn.rb", "0: unicorn worker[1] -c unicorn.rb"}, 2},
		{"Starman", "starman", []string{"-1: starman master --workers 2 app.psgi", "0: starman worker --workers 2 app.psgi", "0: starman worker --workers 2 app.psgi"}, 2},
		{"Uvicorn and what tracks resources", "uvicorn", []string{"-1: python3 /usr/bin/uvicorn --workers 2 a:a", "0: python3 -c from multiprocessing.resource_tracker import main;main(4)", "0: python3 -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5, pipe_handle=7) --multiprocessing-fork", "0: python3 -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5, pipe_handle=9) --multiprocessing-fork"}, 2},
		{"one worker of Uvicorn", "uvicorn", []string{"-1: python3 /usr/bin/uvicorn a:a"}, 1},
		{"Node's, by whole paths", "Node's cluster", []string{"-1: node server.js 80", "0: /usr/bin/node /srv/server.js 80", "0: /usr/bin/node /srv/server.js 80", "0: node mailer.js 80"}, 2},
	} {
		s := Named(c.server)
		if s == nil {
			t.Fatalf("%s is not known", c.server)
		}
		var commands [][]string
		var parents []int
		for _, p := range c.processes {
			parent, command, _ := strings.Cut(p, ": ")
			at := -1
			if parent != "-1" {
				at = int(parent[0] - '0')
			}
			commands, parents = append(commands, strings.Fields(command)), append(parents, at)
		}
		got := -1
		if main := s.Main(commands, parents); main >= 0 {
			var children [][]string
			for i, p := range parents {
				if p == main {
					children = append(children, commands[i])
				}
			}
			got = s.Workers(commands[main], children)
		}
		if got != c.want {
			t.Errorf("%s: %d workers, want %d", c.what, got, c.want)
		}
	}
}

// Where other processes look like workers, or workers come and go, none are counted, and
// it is said why.
func TestCountable(t *testing.T) {
	for _, c := range []struct {
		server, command, config, why string
	}{
		{"gunicorn", "gunicorn app:app", "", ""},
		{"uwsgi", "uwsgi shop.ini", "[uwsgi]\nmaster = true\nhttp-socket = :80\nprocesses = 2\n", ""},
		{"uwsgi", "uwsgi --master --http-socket :80 -p 2", "", ""},
		{"uwsgi", "uwsgi shop.ini", "[uwsgi]\nprocesses = 2\n", "main process of their own"},
		{"uwsgi", "uwsgi shop.ini", "[uwsgi]\nmaster = true\nhttp = :80\n", "http = :80 makes processes"},
		{"uwsgi", "uwsgi shop.ini", "[uwsgi]\nmaster = true\ncheaper = 2\n", "cheaper = 2"},
		{"uwsgi", "uwsgi --master --spooler /var/spool/u", "", "--spooler /var/spool/u"},
		{"uwsgi", "uwsgi shop.ini", "[uwsgi]\nmaster = true\n[other]\nmule = a.py\n", ""},
		{"puma", "puma", "workers 2\nfork_worker\n", "fork_worker"},
	} {
		ok, why := Named(c.server).Countable(c.command, c.config)
		if ok != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s, %q: %t, %q; want %q", c.command, c.config, ok, why, c.why)
		}
	}
}
