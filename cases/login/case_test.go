package login_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/stack"
)

// bench is one running case.
type bench struct {
	t      *testing.T
	script string // case.sh
	dir    string
	stack  *stack.Stack
}

// up brings a variant up in a directory of its own and takes it down after
// the test.
func up(t *testing.T, variant string) *bench {
	t.Helper()
	b := &bench{t: t, script: script(t), dir: openDir(t)}
	t.Cleanup(func() { run(t, b.script, "down", b.dir, "--purge") })
	b.must("up", b.dir, "--variant", variant)
	b.reload()
	return b
}

// reload reads kasoku.yaml again.
func (b *bench) reload() {
	b.t.Helper()
	s, err := stack.Load(filepath.Join(b.dir, "kasoku.yaml"))
	if err != nil {
		b.t.Fatalf("kasoku.yaml: %v", err)
	}
	b.stack = s
}

// must runs case.sh and fails the test with its output if it fails.
func (b *bench) must(args ...string) string {
	b.t.Helper()
	out, err := run(b.t, b.script, args...)
	if err != nil {
		b.t.Fatalf("case.sh %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// run starts case.sh and waits until it ends and nobody holds its output any
// more: a daemon that keeps it open would make this time out.
func run(t *testing.T, script string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*await.Limit) // it installs a database
	defer cancel()
	out, err := exec.CommandContext(ctx, script, args...).CombinedOutput()
	return string(out), err
}

func script(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("case.sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// openDir is a temporary directory with a short path that other users can
// enter, unlike t.TempDir's.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "c")
}

// processes returns the daemons of the case and all their descendants.
func (b *bench) processes() []int {
	b.t.Helper()
	parents := map[int]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		// proc(5): pid (comm) state ppid …; comm may hold spaces and brackets.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parents[pid], _ = strconv.Atoi(fields[1])
	}
	ours := map[int]bool{}
	for _, svc := range b.stack.Services {
		if svc.Control.PIDFile == "" {
			continue
		}
		text, err := os.ReadFile(svc.Control.PIDFile)
		if err != nil {
			b.t.Fatalf("pid file of %s: %v", svc.Name, err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			b.t.Fatalf("pid file of %s: %v", svc.Name, err)
		}
		ours[pid] = true
	}
	for again := true; again; {
		again = false
		for pid, parent := range parents {
			if ours[parent] && !ours[pid] {
				ours[pid], again = true, true
			}
		}
	}
	var pids []int
	for pid := range ours {
		pids = append(pids, pid)
	}
	return pids
}

// alive reports which of the processes do not end.
func alive(pids []int) (left []int) {
	_ = await.Until(func() error { // what is left says it
		left = slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return await.Ended(pid) })
		if len(left) > 0 {
			return fmt.Errorf("%d processes run", len(left))
		}
		return nil
	})
	return left
}

// browser keeps cookies and does not follow redirects.
type browser struct {
	base   string
	client *http.Client
}

func newBrowser(base string) *browser {
	jar, _ := cookiejar.New(nil) // never fails with nil options
	return &browser{base: base, client: &http.Client{
		Jar:           jar,
		Timeout:       20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is what came back.
type answer struct {
	status               int
	location, kind, body string
}

// ask sends one request; form "" means no body, ip "" no X-Forwarded-For.
func (b *browser) ask(method, path, ip, form string) (answer, error) {
	var body io.Reader
	if form != "" {
		body = strings.NewReader(form)
	}
	req, err := http.NewRequest(method, b.base+path, body)
	if err != nil {
		return answer{}, err
	}
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if ip != "" {
		req.Header.Set("X-Forwarded-For", ip)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header.Get("Location"), resp.Header.Get("Content-Type"), string(text)}, err
}

// credentials is the body of the login form.
func credentials(login, password string) string {
	return url.Values{"login": {login}, "password": {password}}.Encode()
}
