package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The lines are written in the form of nginx 1.22, PHP-FPM 8.2, MariaDB 10.11, Apache
// 2.4 and Redis 7 with names changed; MySQL's are by its manual.
func TestParseErrorLog(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want string // count level measures text, by line
		no   string // must not be in it
	}{
		"nginx": {
			"2025/11/21 23:15:45 [alert] 812#812: 64 worker_connections are not enough\n" +
				"2025/11/21 23:15:46 [alert] 813#813: 64 worker_connections are not enough\n" +
				"2025/11/21 23:15:46 [crit] 812#812: *7 connect() to 10.0.0.7:9000 failed (99: Cannot assign requested address) while connecting to upstream, client: 10.0.0.9, server: , request: \"GET /a?token=abc HTTP/1.1\", upstream: \"http://10.0.0.7:9000/a\", host: \"x\"\n" +
				"2025/11/21 23:15:47 [warn] 812#812: *8 an upstream response is buffered to a temporary file /var/lib/nginx/proxy/1/00/0000000001 while reading upstream, client: 10.0.0.9\n" +
				"2025/11/21 23:15:47 [warn] 812#812: *9 an upstream response is buffered to a temporary file /var/lib/nginx/proxy/2/00/0000000002 while reading upstream, client: 10.0.0.9\n",
			"2 crit [L12] 64 worker_connections are not enough\n1 crit [C16 L12] connect() to 10.0.0.7:9000 failed (99: Cannot assign requested address) while connecting to upstream\n" +
				"2 warning [] an upstream response is buffered to a temporary file /var/lib/nginx/proxy/1/00/0000000001 while reading upstream\n", "token"},
		"php-fpm": {
			"[21-Nov-2025 23:15:45] WARNING: [pool www] server reached pm.max_children setting (3), consider raising it\n[21-Nov-2025 23:15:45] NOTICE: ready to handle connections\n" +
				"[21-Nov-2025 23:15:46 Asia/Tokyo] PHP Fatal error:  Uncaught PDOException: SQLSTATE[23000]: Duplicate entry 'taro@example.org' for key 'email' in /srv/app/db.php:12\nStack trace:\n#0 /srv/app/db.php(12): PDO->__construct('mysql:host=db', 'root', 'hunter2')\n  thrown in /srv/app/db.php on line 12\n",
			"1 warning [C18 I17] [pool www] server reached pm.max_children setting (3), consider raising it\n1 crit [] Uncaught PDOException: SQLSTATE[23000]: Duplicate entry '…' for key 'email' in /srv/app/db.php:12\n1 notice [] ready to handle connections\n", "hunter2"},
		"mariadb": {
			"2025-11-21 23:15:45 31 [Warning] Aborted connection 31 to db: 'shop' user: 'app' host: 'localhost' (Got an error reading communication packets)\n2025-11-21  3:15:45 32 [Warning] Aborted connection 32 to db: 'shop' user: 'app' host: '10.0.0.3' (Got an error reading communication packets)\n" +
				"2025-11-21 23:15:45 0 [ERROR] Error in accept: Too many open files\n",
			"1 error [L12] Error in accept: Too many open files\n2 warning [C24] Aborted connection 31 to db: 'shop' user: 'app' host: 'localhost' (Got an error reading communication packets)\n", ""},
		"mysql 8": {
			"2025-11-21T23:15:45.123456Z 9 [ERROR] [MY-010283] [Server] Too many connections\n", "1 error [C22 C24] Too many connections\n", ""},
		"apache": {
			"[Fri Nov 21 23:15:45.123456 2025] [mpm_event:error] [pid 7:tid 140] AH00484: server reached MaxRequestWorkers setting, consider raising the MaxRequestWorkers setting\n" +
				"[Fri Nov 21 23:15:45.123456 2025] [proxy:error] [pid 7:tid 140] (111)Connection refused: AH00957: http: attempt to connect to 127.0.0.1:81 (localhost) failed\n",
			"1 error [C18] AH00484: server reached MaxRequestWorkers setting, consider raising the MaxRequestWorkers setting\n1 error [] AH00957: http: attempt to connect to 127.0.0.1:81 (localhost) failed\n", ""},
		"redis":       {"812:M 21 Nov 2025 23:15:45.123 # Error registering fd event for the new client\n812:M 21 Nov 2025 23:15:45.123 * Ready to accept connections\n", "1 warning [] Error registering fd event for the new client\n1 notice [] Ready to accept connections\n", ""},
		"no times":    {"accept4(): Too many open files\naccept4(): Too many open files\n", "2  [L12] accept4(): Too many open files\n", ""},
		"empty":       {"", "", ""},
		"binary":      {"\x00\xff\xfe\n", "1  [] \x00\uFFFD\n", ""},
		"a long line": {"[21-Nov-2025 23:15:45] WARNING: " + strings.Repeat("é", 9000) + "\n", "1 warning [] " + strings.Repeat("é", 400) + "…\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			kinds, more, err := ParseErrorLog(strings.NewReader(c.log), "s")
			if err != nil || more != 0 {
				t.Fatal(more, err)
			}
			var b strings.Builder
			for _, k := range kinds {
				fmt.Fprintf(&b, "%d %s %v %s\n", k.Count, k.Level, k.Measures, k.Text)
			}
			if b.String() != c.want {
				t.Errorf("got\n%swant\n%s", b.String(), c.want)
			}
			if c.no != "" && strings.Contains(b.String(), c.no) {
				t.Errorf("%q is told", c.no)
			}
		})
	}
}

func TestApacheBefore(t *testing.T) {
	line := func(text string) string {
		return "[Fri Nov 21 23:15:45.123456 2025] [mpm_event:notice] [pid 7:tid 7] " + text + "\n"
	}
	start := line("AH00489: Apache/2.4.66 (Debian) configured -- resuming normal operations")
	reload := line("AH00493: SIGUSR1 received.  Doing graceful restart") + start
	full := line("AH00484: server reached MaxRequestWorkers setting, consider raising the MaxRequestWorkers setting")
	stop := line("AH00491: caught SIGTERM, shutting down")
	for name, c := range map[string]struct {
		log  string
		want int
	}{
		"full since long":      {start + full + strings.Repeat(line("AH00094: other"), 9000), 1},
		"reloaded since":       {start + full + reload + reload, 1},
		"started anew":         {start + full + stop + start, 0},
		"started after a kill": {start + full + reload + start, 0},
		"few idle, no load":    {start + line("AH10159: server is within MinSpareThreads of MaxRequestWorkers, consider raising the MaxRequestWorkers setting"), 0},
		"its start cut off":    {full, 1},
		"empty":                {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseApacheBefore(strings.NewReader(c.log), "httpd")
			if err != nil || len(got) != c.want {
				t.Fatalf("%+v, %v", got, err)
			}
			if c.want > 0 && (got[0].Service != "httpd" || !strings.Contains(got[0].Text, apacheFull)) {
				t.Errorf("%+v", got[0])
			}
		})
	}
}

func TestErrorLogIsBounded(t *testing.T) {
	var b strings.Builder
	word := func(i int) string {
		return strings.Map(func(r rune) rune { return 'a' + (r-'0')%26 }, fmt.Sprint(i)) + "q"
	}
	for i := range 5000 {
		fmt.Fprintf(&b, "2025/11/21 23:15:45 [error] 1#1: message %s\n", word(i))
	}
	kinds, more, err := ParseErrorLog(strings.NewReader(b.String()), "s")
	if err != nil || len(kinds) != maxLogKinds || more != 5000-maxLogKinds {
		t.Errorf("%d kinds, %d more, %v", len(kinds), more, err)
	}
}

func TestMaskLog(t *testing.T) {
	for in, want := range map[string]string{
		"connect to mysql://app:hunter2@db/shop":                      "connect to mysql://…@db/shop",
		"GET /a?token=abc&n=1 HTTP/1.1":                               "GET /a?token=…&n=… HTTP/1.1",
		"Authorization: Bearer eyJhbGciOi.J9 rest":                    "Authorization: …",
		"db_password = \"hunter2\" refused":                           "db_password = … refused",
		"syntax error near 'hunter2' at line 1":                       "syntax error near '…' at line 1",
		"INSERT INTO users VALUES ('taro', 'hunter2')":                "INSERT INTO users VALUES ('…', '…')",
		"session 0123456789abcdef0123456789abcdef is gone":            "session … is gone",
		"open() \"/srv/shop/public/images/2025/11/21/a1b2c3.jpg\" no": "open() \"/srv/shop/public/images/2025/11/21/a1b2c3.jpg\" no",
		"user taro@example.org not found":                             "user …@… not found",
		"64 worker_connections are not enough":                        "64 worker_connections are not enough",
	} {
		if got := maskLog(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzParseErrorLog(f *testing.F) {
	f.Add("2025/11/21 23:15:45 [error] 1#1: *1 a \"b\", client: 1\n[21-Nov-2025 23:15:45] WARNING: x\n#0 y\n")
	f.Add("[Fri Nov 21 23:15:45.1 2025] [a:error] [pid 7] (1)x: [client 1] SELECT 'x FROM\n")
	f.Fuzz(func(t *testing.T, log string) {
		kinds, _, err := ParseErrorLog(strings.NewReader(log), "s")
		if err != nil {
			t.Fatal(err)
		}
		if len(kinds) > maxLogKinds {
			t.Errorf("%d kinds", len(kinds))
		}
		for _, k := range kinds {
			if k.Count < 1 || !slices.Contains(levelOrder, k.Level) {
				t.Errorf("%+v", k)
			}
		}
	})
}

func FuzzReadApache(f *testing.F) {
	f.Add("Define A /x\nCustomLog ${A}/a \"%h \\\"%r\\\" %D\"\nInclude y\n")
	f.Fuzz(func(t *testing.T, text string) {
		logs, err := readApache("/a", "", func(string) ([]byte, error) { return []byte(text), nil }, func(p string) ([]string, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range logs.Access {
			_, _ = a.format()
		}
	})
}
