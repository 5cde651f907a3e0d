package redis

import (
	"bufio"
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

	"kasoku/internal/await"
)

// serve starts redis-server with a configuration that listens on dir/s, and
// returns a function that asks it for a setting.
func serve(t *testing.T, dir, conf string) func(name string) string {
	t.Helper()
	program := "/usr/bin/redis-server"
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is not installed; run make deps", program)
	}
	name := filepath.Join(dir, "redis.conf")
	if err := os.WriteFile(name, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd := exec.Command(program, name)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-exited })
	var conn net.Conn
	var err error
	await.NoError(t, "redis-server", func() error {
		select {
		case <-exited:
			t.Fatalf("redis-server refuses the configuration:\n%s\n%s", log.String(), conf)
		default:
		}
		conn, err = net.Dial("unix", filepath.Join(dir, "s"))
		return err
	})
	t.Cleanup(func() { _ = conn.Close() })
	return getter(t, conn)
}

// getter returns a function that asks for one setting.
func getter(t *testing.T, conn net.Conn) func(name string) string {
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	r := bufio.NewReader(conn)
	line := func() string {
		s, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(s, "\r\n")
	}
	bulk := func() string {
		n, err := strconv.Atoi(strings.TrimPrefix(line(), "$"))
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	return func(name string) string {
		fmt.Fprintf(conn, "CONFIG GET %s\r\n", name)
		if head := line(); head != "*2" {
			t.Fatalf("CONFIG GET %s answers %s", name, head)
		}
		_ = bulk()
		return bulk()
	}
}

// TestRedisTakesEdits edits Debian's redis.conf, includes a file, and asks the
// server what it has.
func TestRedisTakesEdits(t *testing.T) {
	dir, err := os.MkdirTemp("", "rds")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	src, err := os.ReadFile("/etc/redis/redis.conf")
	if err != nil {
		t.Fatalf("Debian's Redis is not installed; run make deps: %v", err)
	}
	more := filepath.Join(dir, "more.conf")
	if err := os.WriteFile(more, []byte("maxmemory 1mb\nslave-priority 7\nproc-title-template \"a\\x41 {title}\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := Parse("/r", append(src, []byte("\ninclude "+more+"\n")...))
	secret := "a\"b'c \\ \x01 d"
	for _, args := range [][]string{
		{"port", "0"}, {"unixsocket", dir + "/s"}, {"daemonize", "no"}, {"logfile", ""}, {"pidfile", dir + "/pid"}, {"dir", dir}, {"supervised", "no"},
		{"maxmemory-policy", "allkeys-lru"}, {"maxclients", "99"}, {"hash-max-ziplist-entries", "77"}, {"client-output-buffer-limit", "pubsub", "33554432", "8388608", "61"},
		{"dbfilename", "it's \"x\".rdb"}, {"latency-tracking-info-percentiles", "50", "99"},
	} {
		if _, err := c.Set(args[0], args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.SetSave("60 5", "900 1"); err != nil {
		t.Fatal(err)
	}
	get := serve(t, dir, string(c.Files[0].Bytes()))
	loaded, err := Load(filepath.Join(dir, "redis.conf"), os.ReadFile, filepath.Glob)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"maxmemory-policy": "allkeys-lru", "maxclients": "99", "hash-max-listpack-entries": "77", "dbfilename": "it's \"x\".rdb", "save": "60 5 900 1",
		"client-output-buffer-limit": "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 61", "replica-priority": "7", "maxmemory": "1048576",
		"latency-tracking-info-percentiles": "50 99", "proc-title-template": "aA {title}",
	} {
		if got := get(name); got != want {
			t.Errorf("Redis has %s %q, want %q", name, got, want)
		}
	}
	if v, _ := loaded.Get("replica-priority"); strings.Join(v.Args, " ") != "7" || v.Path != more {
		t.Errorf("replica-priority is %+v here", v)
	}

	// What encode writes, Redis's own splitter reads back.
	pass := Parse("/r", []byte("requirepass 'x'\n"))
	if _, err := pass.Set("requirepass", secret); err != nil {
		t.Fatal(err)
	}
	a, err := split(pass.Files[0].text, 0, len(pass.Files[0].text)-1)
	if err != nil || len(a) != 2 || a[1].value != secret {
		t.Errorf("%q reads as %+v, %v", pass.Files[0].text, a, err)
	}
}

// TestRedisSaves has Redis read save lines before, in and behind an include.
func TestRedisSaves(t *testing.T) {
	for _, lines := range []string{"save 1 1\nsave 2 2\n", "save 1 1\nsave \"\"\nsave 2 2\nsave 3 3 4 4\n", "save 1 1\nINC\nsave 2 2\nsave 3 3\n", "save 1 1\nINC\n", "INC\nsave \"\"\n"} {
		dir, err := os.MkdirTemp("", "rds")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/i.conf", []byte("save 7 7\nsave 8 8\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		get := serve(t, dir, "port 0\nunixsocket "+dir+"/s\ndir "+dir+"\n"+strings.Replace(lines, "INC", "include "+dir+"/i.conf", 1))
		c, err := Load(filepath.Join(dir, "redis.conf"), os.ReadFile, filepath.Glob)
		if err != nil {
			t.Fatal(err)
		}
		if points, _ := c.Save(); strings.Join(points, " ") != get("save") {
			t.Errorf("%q: Redis has %q, this package %q", lines, get("save"), points)
		}
		_ = os.RemoveAll(dir)
	}
}

// TestRedisReadsTheSame has Redis read arguments in many spellings.
func TestRedisReadsTheSame(t *testing.T) {
	raws := []string{`a`, `"a\x41\t\q\""`, `'a\'b\n'`, `a"b c"`, `a'b'`, `"a'b"`, `""`, `a\b`, `"\xzz"`, `#a`, "'é'", `a"\x4"`}
	for _, raw := range raws {
		dir, err := os.MkdirTemp("", "rds")
		if err != nil {
			t.Fatal(err)
		}
		line := "masteruser " + raw
		get := serve(t, dir, "port 0\nsave \"\"\nunixsocket "+dir+"/s\ndir "+dir+"\n"+line+"\n")
		a, err := split(line, 0, len(line))
		if err != nil || len(a) != 2 {
			t.Errorf("%s: %+v, %v", raw, a, err)
		} else if got := get("masteruser"); got != a[1].value {
			t.Errorf("%s is %q to Redis, %q here", raw, got, a[1].value)
		}
		_ = os.RemoveAll(dir)
	}
}
