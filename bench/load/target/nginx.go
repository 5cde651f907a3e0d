// Package target starts the nginx that the tools are measured against, with a
// configuration of its own in a temporary folder and on a free loopback port.
//
// In: nothing but the nginx program. Out: addresses to load, and nginx's own
// count of requests and connections.
package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kasoku/bench/load/proc"
)

// Marker is text in the 1 KB file, far from its begin: a tool that checks the
// content must have read and searched it.
const Marker = "kasoku-bench-marker"

// Page and Tiny are the files' names, PageSize and TinySize their bytes.
const (
	Page     = "page.txt"
	PageSize = 1024
	Tiny     = "tiny.txt"
	TinySize = 64
)

// Post answers a POST with Answer, of type application/json. nginx reads the
// body and throws it away.
const Post = "post"

// Body is what is posted, Answer what comes back; Answer holds Marker.
const (
	Body   = `{"user":"user0000001","items":[{"id":101,"count":2},{"id":205,"count":1}],"note":"` + padding + `","total":4711}`
	Answer = `{"ok":true,"order":1000001,"items":[{"id":101,"left":17},{"id":205,"left":3}],"note":"` + padding + `","marker":"` + Marker + `"}`

	padding = "the quick brown fox jumps over the lazy dog and runs on to the next field until the sun goes down"
)

// Nginx is a running target.
type Nginx struct {
	dir     string
	address [3]string // by scheme
	cpus    []int
	cmd     *exec.Cmd
	ended   chan struct{} // closed when the process has ended
	err     error         // of the end
}

// scheme is a way to speak to nginx; each has a port of its own, so that no
// tool may choose another.
type scheme int

const (
	plain    scheme = iota
	secured         // HTTP/1.1 by TLS
	secured2        // HTTP/2 by TLS
)

// config keeps nginx out of the way: no log, no limit to a connection's
// requests, the files kept open; 20,000 connections for each worker. TLS is as
// nginx has it by default, with a P-256 key, sessions of which no tool makes use.
const config = `daemon off;
worker_processes %[5]d;
worker_rlimit_nofile 65536;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 20000; }
http {
	access_log off;
	default_type text/plain;
	sendfile on;
	tcp_nopush on;
	keepalive_requests 1000000000;
	keepalive_timeout 1h;
	open_file_cache max=100;
	client_body_temp_path %[1]s/tmp; proxy_temp_path %[1]s/tmp; fastcgi_temp_path %[1]s/tmp;
	uwsgi_temp_path %[1]s/tmp; scgi_temp_path %[1]s/tmp;
	server {
		listen %[2]s backlog=16384;
		listen %[3]s ssl backlog=16384;
		listen %[4]s ssl http2 backlog=16384;
		ssl_certificate %[1]s/cert.pem;
		ssl_certificate_key %[1]s/key.pem;
		root %[1]s/html;
		location = /status { stub_status; }
		location = /` + Post + ` { default_type application/json; return 200 '` + Answer + `'; }
	}
}
`

// startLimit is how long nginx has to answer.
const startLimit = 10 * time.Second

// defaultWorkers where nginx may use any processor: as many as the issue's
// machine has.
const defaultWorkers = 2

// Start runs nginx until Stop, on the given processors with a worker for each;
// none: on any, with two.
func Start(ctx context.Context, processors ...int) (*Nginx, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kasoku-bench-nginx-")
	if err != nil {
		return nil, fmt.Errorf("make nginx's folder: %w", err)
	}
	n := &Nginx{dir: dir, cpus: processors, ended: make(chan struct{})}
	if err := n.start(ctx, program); err != nil {
		n.Stop()
		return nil, err
	}
	return n, nil
}

func find() (string, error) {
	for _, name := range []string{"nginx", "/usr/sbin/nginx", "/usr/local/sbin/nginx"} {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
	}
	return "", errors.New("nginx is not installed; run: make deps")
}

func (n *Nginx) start(ctx context.Context, program string) error {
	if err := n.write(); err != nil {
		return err
	}
	conf := filepath.Join(n.dir, "nginx.conf")
	n.cmd = exec.Command(program, "-p", n.dir, "-e", filepath.Join(n.dir, "error.log"), "-c", conf)
	var stderr bytes.Buffer
	n.cmd.Stderr = &stderr
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := proc.Pinned(n.cpus, n.cmd.Start); err != nil {
		n.cmd = nil
		return fmt.Errorf("start nginx: %w", err)
	}
	go func() {
		n.err = n.cmd.Wait()
		close(n.ended)
	}()
	limit, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		_, err := n.Status(limit)
		if err == nil {
			return nil
		}
		select {
		case <-n.ended:
			return fmt.Errorf("nginx ended at once: %v: %s", n.err, strings.TrimSpace(stderr.String()))
		case <-limit.Done():
			return fmt.Errorf("nginx does not answer on %s: %w", n.Address(), err)
		case <-poll.C:
		}
	}
}

// write makes the configuration and the files, readable for nginx's workers,
// which are another user if this is root.
func (n *Nginx) write() error {
	if err := n.ports(); err != nil {
		return err
	}
	cert, key, err := certificate()
	if err != nil {
		return fmt.Errorf("make nginx's certificate: %w", err)
	}
	page := bytes.Repeat([]byte("0123456789abcde\n"), PageSize/16)
	copy(page[PageSize*3/4:], Marker)
	files := map[string][]byte{
		"nginx.conf": fmt.Appendf(nil, config, n.dir, n.address[plain], n.address[secured], n.address[secured2], n.Workers()),
		"cert.pem":   cert, "key.pem": key,
		"html/" + Page: page,
		"html/" + Tiny: bytes.Repeat([]byte("tiny\n--\n"), TinySize/8),
	}
	if err := os.Chmod(n.dir, 0o755); err != nil {
		return fmt.Errorf("open nginx's folder to its workers: %w", err)
	}
	for _, d := range []string{"html", "tmp"} {
		if err := os.Mkdir(filepath.Join(n.dir, d), 0o755); err != nil {
			return fmt.Errorf("make nginx's folder: %w", err)
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(n.dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write nginx's file: %w", err)
		}
	}
	return nil
}

// ports finds a free one for each scheme.
func (n *Nginx) ports() error {
	for i := range n.address {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close() // after all are found, so that they differ
		n.address[i] = l.Addr().String()
	}
	return nil
}

// URL of a file.
func (n *Nginx) URL(file string) string { return "http://" + n.address[plain] + "/" + file }

// TLS is the URL of a file by TLS, where nginx speaks HTTP/1.1 only.
func (n *Nginx) TLS(file string) string { return "https://" + n.address[secured] + "/" + file }

// HTTP2 is the URL of a file by TLS, where nginx speaks HTTP/2 too.
func (n *Nginx) HTTP2(file string) string { return "https://" + n.address[secured2] + "/" + file }

// Address is host:port without TLS.
func (n *Nginx) Address() string { return n.address[plain] }

// Workers is how many processes answer.
func (n *Nginx) Workers() int {
	if len(n.cpus) > 0 {
		return len(n.cpus)
	}
	return defaultWorkers
}

// PID of the master process.
func (n *Nginx) PID() int { return n.cmd.Process.Pid }

// Status asks nginx for its counters. The request for them is one of those
// counted, and its connection too.
func (n *Nginx) Status(ctx context.Context) (Status, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.URL("status"), nil)
	if err != nil {
		return Status{}, err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return Status{}, fmt.Errorf("ask nginx for its counters: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return Status{}, fmt.Errorf("ask nginx for its counters: %w", err)
	}
	return ParseStatus(body)
}

// Stop ends nginx, gently first, and removes its folder. It may be called again.
func (n *Nginx) Stop() {
	if n.cmd != nil {
		// Errors: it has ended already.
		_ = n.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-n.ended:
		case <-time.After(3 * time.Second):
			_ = syscall.Kill(-n.cmd.Process.Pid, syscall.SIGKILL)
			<-n.ended
		}
	}
	_ = os.RemoveAll(n.dir) // a temporary folder; nothing depends on its end
}
