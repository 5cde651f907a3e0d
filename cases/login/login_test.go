// Package login_test brings the bank login up with its real servers and checks
// that both variants behave alike, before and after the tuning by hand.
package login_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// step is one request of one browser and what must come back.
type step struct {
	why              string
	browser          string // who asks; each name has its own cookies
	request          string // "GET /"
	ip               string // X-Forwarded-For
	login, password  string
	status           int
	location         string
	contains, absent []string
}

func visit(who, path string, contains ...string) step {
	return step{browser: who, request: "GET " + path, status: 200, contains: contains}
}

func try(who, ip, login, password, location string) step {
	return step{browser: who, request: "POST /login", ip: ip, login: login, password: password, status: 302, location: location}
}

func (s step) because(why string) step { s.why = why; return s }
func (s step) without(text ...string) step {
	s.absent = text
	return s
}

const (
	wrong  = "Wrong username or password."
	locked = "This account is locked."
	banned = "Your address is banned."
)

// story is the behaviour of the service; both variants must tell it alike.
func story() []step {
	steps := []step{
		visit("a", "/", `<form action="/login" method="post">`, `name="password"`).without("notice\""),
		{why: "no session", browser: "a", request: "GET /mypage", status: 302, location: "/"},
		visit("a", "/", "You must be logged in."),
		visit("a", "/").without("You must be logged in.").because("a notice is shown once"),

		try("a", "10.1.0.1", "user1", "pass1", "/mypage"),
		visit("a", "/mypage", "Welcome, user1<", "2024-", `from <b id="last-ip">172.16.`).because("the last login of the initial data"),
		try("b", "10.1.0.2", "user1", "pass1", "/mypage"),
		visit("b", "/mypage", `from <b id="last-ip">10.1.0.1</b>`).because("the login before this one"),
		{why: "logout by link", browser: "b", request: "GET /logout", status: 302, location: "/"},
		{browser: "b", request: "GET /mypage", status: 302, location: "/"},
		visit("a", "/mypage", "Welcome, user1<").because("the other session stays"),
		{why: "logout by button", browser: "a", request: "POST /logout", status: 302, location: "/"},
		{browser: "a", request: "GET /mypage", status: 302, location: "/"},

		try("c", "10.1.0.3", "user120003", "pass120003", "/mypage"),
		visit("c", "/mypage", `from <b id="last-ip">10.1.0.3</b>`).because("the first login shows itself"),
		try("c", "10.1.0.4, 10.9.9.9", "user120003", "pass120003", "/mypage"),
		try("c", "not an address <b>", "user120003", "pass120003", "/mypage"),
		visit("c", "/mypage", `from <b id="last-ip">10.1.0.4</b>`).because("the first address of the list counts"),
		try("c", "", "user120003", "pass120003", "/mypage"),
		visit("c", "/mypage", `from <b id="last-ip">127.0.0.1</b>`).because("no address: the peer's"),

		try("d", "10.1.0.5", "nobody", "pass", "/"),
		visit("d", "/", wrong),
		try("d", "10.1.0.5", "", "", "/"),
		visit("d", "/", wrong).because("empty fields"),
		try("d", "10.1.0.5", "user2' OR '1'='1", "x", "/"),
		visit("d", "/", wrong),

		try("e", "10.2.0.1", "user120010", "bad", "/"),
		try("e", "10.2.0.2", "user120010", "bad", "/"),
		try("e", "10.2.0.3", "user120010", "pass120010", "/mypage").because("two failures are not three"),
		try("e", "10.2.0.4", "user120010", "bad", "/"),
		try("e", "10.2.0.5", "user120010", "bad", "/"),
		try("e", "10.2.0.6", "user120010", "bad", "/"),
		visit("e", "/", wrong).because("the third failure itself is a wrong password"),
		try("e", "10.2.0.7", "user120010", "pass120010", "/"),
		visit("e", "/", locked).because("three failures since the last success"),
		try("e", "10.2.0.8", "user190001", "pass190001", "/"),
		visit("e", "/", locked).because("locked in the initial data"),
	}
	for i := range 10 {
		steps = append(steps, try("f", "10.3.0.1", fmt.Sprint("user", 120020+i), "bad", "/"), visit("f", "/", wrong))
	}
	return append(steps,
		try("f", "10.3.0.1", "user120040", "pass120040", "/").because("ten failures ban"),
		visit("f", "/", banned),
		try("f", "10.3.0.2", "user120040", "pass120040", "/mypage").because("another address is free"),
		try("f", "192.168.0.1", "user120041", "pass120041", "/"),
		visit("f", "/", banned).because("banned in the initial data"),

		visit("g", "/report", `"banned_ips":["10.3.0.1","192.168.0.1",`, `"locked_users":["user120010","user190001",`),
		visit("g", "/health", `{"status":"ok","users":200000}`),
		step{browser: "g", request: "GET /nothing", status: 404, contains: []string{"Page not found"}},
		step{browser: "g", request: "GET /css/nothing.css", status: 404},
		step{browser: "g", request: "GET /css/../config/app.ini", status: 404, absent: []string{"dsn"}},
		step{browser: "g", request: "GET /config/app.ini", status: 404, absent: []string{"dsn"}},
		step{why: "only the form logs in", browser: "g", request: "GET /login", status: 404},
	)
}

var shownTime = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`)

// tell acts the story and returns what was answered, without times.
func tell(t *testing.T, base string, steps []step) []string {
	t.Helper()
	browsers := map[string]*browser{}
	var answers []string
	for i, s := range steps {
		if browsers[s.browser] == nil {
			browsers[s.browser] = newBrowser(base)
		}
		name := fmt.Sprintf("step %d: %s %s %s (%s)", i, s.browser, s.request, s.login, s.why)
		method, path, _ := strings.Cut(s.request, " ")
		form := ""
		if path == "/login" && method == "POST" {
			form = credentials(s.login, s.password)
		}
		a, err := browsers[s.browser].ask(method, path, s.ip, form)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if a.status != s.status || a.location != s.location {
			t.Fatalf("%s: got %d %q, want %d %q\n%s", name, a.status, a.location, s.status, s.location, a.body)
		}
		for _, want := range s.contains {
			if !strings.Contains(a.body, want) {
				t.Fatalf("%s: lacks %q\n%s", name, want, a.body)
			}
		}
		for _, bad := range s.absent {
			if strings.Contains(a.body, bad) {
				t.Fatalf("%s: has %q\n%s", name, bad, a.body)
			}
		}
		if s.status != 404 || a.location != "" { // a static 404 may be nginx's own
			answers = append(answers, fmt.Sprintf("%s: %d %s\n%s", name, a.status, strings.ToLower(a.kind),
				shownTime.ReplaceAllString(a.body, "TIME")))
		}
	}
	return answers
}

func TestBehaviour(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	php, golang := new([]string), new([]string)
	t.Run("variants", func(t *testing.T) {
		t.Run("php", func(t *testing.T) { t.Parallel(); *php = checkVariant(t, "php") })
		t.Run("go", func(t *testing.T) { t.Parallel(); *golang = checkVariant(t, "go") })
	})
	if !t.Failed() && !slices.Equal(*php, *golang) {
		t.Errorf("the variants differ:\n%s", firstDifference(*php, *golang))
	}
}

// checkVariant checks one variant as found and tuned by hand: the story, and every
// answer that the scenario expects. It returns what was answered to the story.
func checkVariant(t *testing.T, variant string) []string {
	b := up(t, variant)
	before := reportOf(t, b.stack.Load.URL)
	told := tell(t, b.stack.Load.URL, story())
	checkStatic(t, b)
	checkPreviousTime(t, b)
	checkReset(t, b, before)
	checkRestart(t, b)
	found, foundRows := b.drive()

	b.must("hand", b.dir)
	b.reload()
	b.must("reset", b.dir)
	if after := tell(t, b.stack.Load.URL, story()); !slices.Equal(after, told) {
		t.Errorf("the tuning by hand changed an answer:\n%s", firstDifference(told, after))
	}
	checkStatic(t, b)
	b.must("reset", b.dir)
	b.forgetLog()
	hand, handRows := b.drive()
	checkScale(t, found, hand, foundRows, handRows)
	if variant == "php" {
		checkRecorded(t, b)
	}
	b.must("reset", b.dir)
	if after := reportOf(t, b.stack.Load.URL); !after.equal(before) {
		t.Error("hand: reset does not bring the first report back")
	}
	checkDown(t, b)
	return told
}

func firstDifference(a, b []string) string {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return a[i] + "\n---\n" + strings.Join(b[min(i, len(b)):min(i+1, len(b))], "")
		}
	}
	return "the second is longer"
}

// TestOrdinaryUser: the case needs no root.
func TestOrdinaryUser(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	if os.Getuid() != 0 {
		b := up(t, "php")
		tell(t, b.stack.Load.URL, story()[:8])
		return
	}
	// As root: copy the case to where nobody may read and write.
	dir := filepath.Dir(openDir(t))
	for _, argv := range [][]string{
		{"cp", "-R", ".", dir + "/login"},
		{"cp", "-R", "../lib", dir + "/login/lib"},
		{"rm", "-rf", dir + "/login/run"},
		{"chown", "-R", "nobody:", dir},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	as := func(args ...string) (string, error) {
		argv := append([]string{"--reuid=nobody", "--regid=nogroup", "--clear-groups", dir + "/login/case.sh"}, args...)
		out, err := exec.Command("setpriv", argv...).CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() { as("down") })
	if out, err := as("up"); err != nil {
		t.Fatalf("up as nobody: %v\n%s", err, out)
	}
	b := &bench{t: t, script: dir + "/login/case.sh", dir: dir + "/login/run"}
	b.reload()
	tell(t, b.stack.Load.URL, story()[:8])
	if out, err := as("reset"); err != nil {
		t.Errorf("reset as nobody: %v\n%s", err, out)
	}
	pids := b.processes()
	if out, err := as("down"); err != nil {
		t.Errorf("down as nobody: %v\n%s", err, out)
	}
	if left := alive(pids); len(left) > 0 {
		t.Errorf("down left processes %v", left)
	}
}

// TestErrors: what is wrong is said, and nothing is touched.
func TestErrors(t *testing.T) {
	foreign := filepath.Dir(openDir(t))
	if err := os.WriteFile(filepath.Join(foreign, "letter"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"is not empty and was not made by case.sh", []string{"up", foreign}},
		{"not removed", []string{"down", foreign, "--purge"}},
		{"holds no login case", []string{"down", foreign}},
		{"holds no login case", []string{"reset", openDir(t)}},
		{"port " + port + " is in use", []string{"up", openDir(t), "--port", port}},
		{"must have at most 107 characters", []string{"up", openDir(t) + strings.Repeat("/long", 20)}},
		{"use a path of letters", []string{"up", openDir(t) + " x"}},
		{"unknown variant ruby", []string{"up", openDir(t), "--variant", "ruby"}},
		{"unknown option --colour", []string{"up", "--colour"}},
		{"unknown command dance", []string{"dance"}},
	} {
		out, err := run(t, script(t), c.args...)
		if err == nil || !strings.Contains(out, c.want) {
			t.Errorf("case.sh %v: %v\n%s\nwant %q", c.args, err, out, c.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(foreign, "letter")); err != nil || string(text) != "mine" {
		t.Errorf("foreign file: %q %v", text, err)
	}
}
