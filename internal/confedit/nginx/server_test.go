package nginx

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/await"
)

// tempDir makes a directory with a short path, for sockets.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ngx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// accepts runs nginx -t on a configuration.
func accepts(t *testing.T, dir, text string) error {
	t.Helper()
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program(t, "nginx"), "-t", "-p", dir, "-c", conf, "-e", "stderr").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

const frame = "pid %[1]s/nginx.pid;\nerror_log stderr;\ndaemon off;\nmaster_process off;\nevents {\n    worker_connections 256;\n}\nhttp {\n    access_log off;\n    client_body_temp_path %[1]s/b;\n    proxy_temp_path %[1]s/p;\n    fastcgi_temp_path %[1]s/f;\n    uwsgi_temp_path %[1]s/u;\n    scgi_temp_path %[1]s/c;\n%[2]s}\n"

// TestRealNginxAcceptsEdits makes edits and lets nginx judge the result.
func TestRealNginxAcceptsEdits(t *testing.T) {
	dir := tempDir(t)
	text := fmt.Sprintf(frame, dir, "    server {\n        listen unix:"+dir+"/s;\n        location ~ \\.php${ fastcgi_pass 127.0.0.1:9000; }\n    }\n")
	text = strings.Replace(text, "\\.php${", "\\.php$ {", 1)
	c, err := Load(filepath.Join(dir, "nginx.conf"), "", func(string) ([]byte, error) { return []byte(text), nil }, filepath.Glob)
	if err != nil {
		t.Fatal(err)
	}
	http := c.Root.First("http")
	server := http.First("server")
	location := server.First("location")
	for i, err := range []error{
		http.Append("upstream php {\n    server 127.0.0.1:9000;\n    keepalive 8;\n}"),
		location.First("fastcgi_pass").SetArgs("php"),
		location.Append("fastcgi_keep_conn on; # keep\n"),
		location.InsertBefore("location ~ " + Quote("^/(img|css)/[^/]{1,40}\\.(png|css)$") + " {\n    root /var/www;\n    types { image/png png; text/css css; }\n    default_type \"\";\n}"),
		location.SetArgs("~", `\.php$|a{2}`),
		c.Root.First("events").First("worker_connections").SetArgs("512"),
		http.First("client_body_temp_path").InsertBefore("open_file_cache max=100;\nmap $uri $m {\n    default 0;\n    \"~^/a b;\" " + Quote("q\"{;}\\ $uri") + ";\n}"),
	} {
		if err != nil {
			t.Fatalf("edit %d: %v", i, err)
		}
	}
	if err := accepts(t, dir, mainText(c)); err != nil {
		t.Errorf("nginx refuses the edited file: %v\n%s", err, mainText(c))
	}
}

// TestReaderAgreesWithNginx compares what nginx takes an argument for with
// what the package does: each is sent back by a return directive.
func TestReaderAgreesWithNginx(t *testing.T) {
	raws := []string{`a\tb`, `"a\tb\n\d\\"`, `'a"b\''`, `a#b`, `a}b`, `\;x`, `a\ b`, `"a
 b"`, `a\"b`, `\\.x`, `"\\\.x"`, `a"b`, `é`}
	var body strings.Builder
	for i, raw := range raws {
		fmt.Fprintf(&body, "location = /%d { return 200 %s; }\n", i, raw)
	}
	get := serve(t, "server { listen unix:%s/s;\n"+strings.ReplaceAll(body.String(), "%", "%%")+"}\n")
	for i, raw := range raws {
		top, err := parse("x " + raw + ";")
		if err != nil {
			t.Fatal(err)
		}
		if _, got := get("x", fmt.Sprint("/", i)); got != top.kids[0].words[1].value {
			t.Errorf("%s is %q to nginx, %q here", raw, got, top.kids[0].words[1].value)
		}
	}
}

// TestMatchLocationAgreesWithNginx asks nginx about random locations and URIs.
func TestMatchLocationAgreesWithNginx(t *testing.T) {
	type site struct {
		text string
		uris []string
	}
	gen := rapid.Custom(func(t *rapid.T) site {
		id := 0
		return site{text: genLocations(t, "", 0, &id), uris: rapid.SliceOfN(genURI, 20, 20).Draw(t, "uris")}
	})
	var sites []site
	var conf strings.Builder
	for i := range 80 {
		s := gen.Example(i)
		sites = append(sites, s)
		fmt.Fprintf(&conf, "server { listen unix:%%s/s; server_name s%d.test;\n%s}\n", i, strings.ReplaceAll(s.text, "%", "%%"))
	}
	text := strings.ReplaceAll(conf.String(), "unix:%s/s", "unix:%[1]s/s")
	get := serve(t, text)
	found, redirects := 0, 0
	for i, s := range sites {
		server := loadText(t, "server {\n"+s.text+"}\n").Root.First("server")
		for _, uri := range s.uris {
			status, body := get(fmt.Sprintf("s%d.test", i), uri)
			if status == 400 {
				continue // .. above the root
			}
			d := MatchLocation(server, uri)
			want, wantStatus := "", 404
			if d != nil {
				want, wantStatus = d.First("return").Args[1], 200
				found++
			}
			if status == 301 && d != nil && passesOn(d) {
				redirects++
				continue
			}
			if status != wantStatus || status == 200 && body != want {
				t.Errorf("%s: nginx answers %d %q, want %d %q\n%s", uri, status, body, wantStatus, want, s.text)
			}
		}
	}
	if found < 300 || redirects < 3 {
		t.Errorf("only %d locations and %d redirects were compared", found, redirects)
	}
}

// serve starts nginx with servers, whose %s or %[1]s is its directory, and
// returns a function that sends one request.
func serve(t *testing.T, servers string) func(host, uri string) (status int, body string) {
	t.Helper()
	dir := tempDir(t)
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(frame, dir, fmt.Sprintf(servers, dir))
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, "nginx"), "-p", dir, "-c", conf, "-e", "stderr")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-exited })
	socket := filepath.Join(dir, "s")
	await.NoError(t, "nginx", func() error {
		select {
		case <-exited:
			t.Fatalf("nginx did not start:\n%s\n%s", log.String(), text)
		default:
		}
		return await.Dial(socket)
	})
	return func(host, uri string) (int, string) { t.Helper(); return request(t, socket, host, uri) }
}

func request(t *testing.T, socket, host, uri string) (int, string) {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", uri, host)
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	fields := strings.Fields(head)
	if len(fields) < 2 {
		t.Fatalf("%s: no answer: %q", uri, answer)
	}
	status, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatalf("%s: %q", uri, head)
	}
	return status, body
}
