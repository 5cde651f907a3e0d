package evidence

import (
	"fmt"
	"strings"
	"testing"

	"kasoku/internal/confedit/nginx"
)

// parseNginx loads one file; includes are read from files.
func parseNginx(t *testing.T, main string, files map[string]string) *nginx.Config {
	t.Helper()
	conf, err := nginx.Load("/etc/nginx/nginx.conf", "", func(p string) ([]byte, error) {
		if p == "/etc/nginx/nginx.conf" {
			return []byte(main), nil
		}
		if text, ok := files[p]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("no file %s", p)
	}, func(string) ([]string, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

func TestChosenLogs(t *testing.T) {
	const ltsv = `log_format ltsv "time:$time_local\tmethod:$request_method\turi:$request_uri\tstatus:$status" "\treqtime:$request_time";`
	debian := NginxBuild{Modules: []string{"--prefix=/usr/share/nginx", "--http-log-path=/var/log/nginx/access.log"}}
	for name, c := range map[string]struct {
		http  string
		want  string // path format(timed) …
		quiet string
	}{
		"nothing said":              {"server { }", "/var/log/nginx/access.log combined(false)", ""},
		"inherited":                 {ltsv + "access_log logs/a.log ltsv; server { location / { } }", "/usr/share/nginx/logs/a.log ltsv(true)", ""},
		"replaced by all servers":   {"access_log /a.log; server { access_log /b.log; } server { access_log /c.log; }", "/b.log combined(false) /c.log combined(false)", ""},
		"the same log twice":        {"access_log /a.log; server { access_log /a.log; }", "/a.log combined(false)", ""},
		"two logs, one with times":  {ltsv + "access_log /a.log; access_log /b.log ltsv; server { }", "/b.log ltsv(true)", ""},
		"a condition is worse":      {ltsv + "access_log /a.log ltsv if=$x; access_log /b.log ltsv; server { }", "/b.log ltsv(true)", ""},
		"the instrument wins":       {ltsv + "log_format kasoku_1 '$msec $request $request_time'; access_log /a.log ltsv; access_log /k.log kasoku_1; server { location /x { access_log /a.log ltsv; access_log /k.log kasoku_1; } }", "/k.log kasoku_1(true)", ""},
		"off everywhere":            {"access_log off; server { }", "", "http"},
		"off in a location":         {"access_log /a.log; server { location /s/ { access_log off; } }", "/a.log combined(false)", "location /s/"},
		"off beside another":        {"server { access_log /a.log; access_log off; }", "", "server"},
		"off in one, not inherited": {"server { access_log /a.log; location ~ x { access_log off; } }", "/a.log combined(false)", "location ~ x"},
	} {
		t.Run(name, func(t *testing.T) {
			conf := parseNginx(t, "events { }\nhttp {\n"+c.http+"\n}\n", nil)
			logs, quiet := chosenLogs(NginxLogLevels(conf, debian.Paths("")))
			var got []string
			for _, l := range logs {
				got = append(got, fmt.Sprintf("%s %s(%v)", l.Path, l.Name, l.Timed()))
				if f, err := l.format(); err != nil || f == nil {
					t.Errorf("format %q: %v", l.Text, err)
				}
			}
			if s := strings.Join(got, " "); s != c.want || strings.Join(quiet, " ") != c.quiet {
				t.Errorf("got %q, quiet %q; want %q, %q", s, quiet, c.want, c.quiet)
			}
		})
	}
}

func TestNginxLogOptions(t *testing.T) {
	conf := parseNginx(t, `http { log_format j escape=json '{"time":"$msec","uri":"$request_uri","reqtime":"$request_time","q":"a\'b"}';
		access_log /a.log j buffer=64k flush=1m; access_log /b.log j gzip=9; access_log syslog:server=unix:/dev/log j;
		access_log /var/log/$host.log j; access_log /c.log unknown; access_log /dev/stdout; }`, nil)
	logs := NginxLogLevels(conf, NginxBuild{}.Paths("/srv"))[0].Logs
	want := []struct{ late, not string }{{"buffer=64k flush=1m", ""}, {"", "compressed"}, {"", "syslog"}, {"", "variables"}, {"", ""}, {"", "no file"}}
	for i, w := range want {
		if l := logs[i]; l.Late != w.late || (w.not == "") != (l.Not == "") || !strings.Contains(l.Not, w.not) {
			t.Errorf("log %d: %+v", i, l)
		}
	}
	if f, err := logs[0].format(); err != nil || f == nil {
		t.Errorf("escape=json: %v", err)
	}
	if logs[0].Full() || logs[4].Text != "" || logs[4].Timed() {
		t.Errorf("buffered is not full, and an unknown format tells nothing: %+v %+v", logs[0], logs[4])
	}
}

func TestReadApache(t *testing.T) {
	files := map[string]string{
		"/etc/apache2/apache2.conf": "ServerRoot \"/etc/apache2\"\nErrorLog ${APACHE_LOG_DIR}/error.log\n# CustomLog /no.log x\n" +
			"LogFormat \"%h %l %u %t \\\"%r\\\" %>s %O %D\" timed\nInclude sites/*.conf\nTransferLog \"|/usr/bin/rotatelogs /x 1\"\n",
		"/etc/apache2/envvars":       "export APACHE_LOG_DIR=/var/log/apache2$SUFFIX\n",
		"/etc/apache2/sites/a.conf":  "<VirtualHost *:80>\n  CustomLog ${APACHE_LOG_DIR}/access.log \\\n    timed\n  ErrorLog logs/site.log\n</VirtualHost>\nCustomLog ${NO}/x.log common\nCustomLog /b.log common env=!x\n",
		"/etc/apache2/sites/b.conf~": "",
	}
	read := func(p string) ([]byte, error) {
		if text, ok := files[p]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("no file %s", p)
	}
	got, err := readApache("/etc/apache2/apache2.conf", "", read, func(string) ([]string, error) { return []string{"/etc/apache2/sites/a.conf"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got.Errors, " "); s != "/etc/apache2/logs/site.log /var/log/apache2/error.log" {
		t.Errorf("error logs %s", s)
	}
	if len(got.Access) != 4 || got.Access[0].Path != "/var/log/apache2/access.log" || !got.Access[0].Full() || got.Access[1].Not == "" || got.Access[2].Path != "/b.log" || got.Access[2].Timed() || got.Access[3].Not == "" {
		t.Errorf("access logs %+v", got.Access)
	}
	if f, err := got.Access[0].format(); err != nil || f == nil {
		t.Error(err)
	}
}
