package caches

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
)

// TestOptionsLeftAlone shows on the real memcached why Kasoku leaves -C, -U and
// a large -m alone (C06): without CAS a compare-and-set never succeeds, UDP is
// off by itself, and memory that no entry needs is not taken.
func TestOptionsLeftAlone(t *testing.T) {
	dir := bed.Folder(t)
	plain, pid := memcached(t, dir, "plain", "-m", "3072")
	if got := ask(t, plain, "stats settings", "STAT udpport"); got != "STAT udpport 0" {
		t.Errorf("UDP: %q", got)
	}
	if got := rss(t, pid); got > 64<<10 {
		t.Errorf("with -m 3072 and no entry it takes %d KiB", got)
	}
	without, _ := memcached(t, dir, "without", "-C")
	for at, want := range map[net.Conn]string{plain: "STORED", without: "EXISTS"} {
		ask(t, at, "set k 0 60 1\r\na", "STORED")
		unique := strings.Fields(ask(t, at, "gets k", "VALUE"))[4]
		if got := ask(t, at, "cas k 0 60 1 "+unique+"\r\nb", ""); got != want {
			t.Errorf("cas with what gets told (%s): %q, want %q", unique, got, want)
		}
	}
}

// memcached starts one with more options and connects to it; pid is its process.
func memcached(t *testing.T, dir, name string, options ...string) (c net.Conn, pid int) {
	t.Helper()
	port := bed.FreePort(t)
	at := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := bed.Start(t, dir, name, append([]string{"/usr/bin/memcached", "-l", "127.0.0.1", "-p", fmt.Sprint(port), "-u", "memcache"}, options...)...)
	bed.Await(t, at)
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, cmd.Process.Pid
}

// ask sends a command and returns the first line of the answer that begins so;
// all of the answer is read.
func ask(t *testing.T, c net.Conn, command, begins string) string {
	t.Helper()
	if _, err := c.Write([]byte(command + "\r\n")); err != nil {
		t.Fatal(err)
	}
	found, several := "", strings.HasPrefix(command, "stats") || strings.HasPrefix(command, "gets")
	for in := bufio.NewScanner(c); in.Scan(); {
		if line := in.Text(); found == "" && strings.HasPrefix(line, begins) {
			found = line
		}
		if !several || in.Text() == "END" {
			return found
		}
	}
	t.Fatalf("%s: the connection ended", command)
	return ""
}

// rss of a process, KiB.
func rss(t *testing.T, pid int) (kib int) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(data), "VmRSS:")
	if _, err := fmt.Sscan(after, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}
