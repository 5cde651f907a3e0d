package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// shortTuning is what shorten writes of how the case is tuned.
const shortTuning = "max_foreign_cpu: 1, max_pairs: 6"

// fewPairs lets three pairs decide, of a case that was shortened, at a false-keep rate:
// a great effect is shown by them at 0.1, and what shows none has no further three.
func (c *theCase) fewPairs(alpha float64) {
	c.t.Helper()
	p := filepath.Join(c.dir, "kasoku.yaml")
	b, err := os.ReadFile(p)
	if err != nil {
		c.t.Fatal(err)
	}
	s := strings.Replace(string(b), shortTuning, fmt.Sprintf("max_foreign_cpu: 1, max_pairs: 3, alpha: %v", alpha), 1)
	if s == string(b) {
		c.t.Fatal("the case was not shortened")
	}
	if err := os.WriteFile(p, []byte(s), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// shorten makes runs short: these tests look at what happens, not how fast. An answer that takes
// more than the case's five seconds is none that is wrong.
func (c *theCase) shorten() {
	c.t.Helper()
	p := filepath.Join(c.dir, "scenario.yaml")
	b, err := os.ReadFile(p)
	if err != nil {
		c.t.Fatal(err)
	}
	s := strings.NewReplacer("warmup: 1s", "warmup: 200ms", "duration: 5s", "duration: 1s", "timeout: 5s", "timeout: 30s", "within: 5s", "within: 2m").Replace(string(b))
	if err := os.WriteFile(p, []byte(s), 0o644); err != nil {
		c.t.Fatal(err)
	}
	// Tests may share the machine with others.
	f, err := os.OpenFile(filepath.Join(c.dir, "kasoku.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := f.WriteString("tune: {" + shortTuning + "}\n"); err != nil {
		c.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		c.t.Fatal(err)
	}
}

// quicken makes requests take about half of their time: two of the three indexes
// that are missing are there, one is left to be found. For tests of what does
// not depend on how slow the service is.
func (c *theCase) quicken() {
	c.t.Helper()
	c.sql("CREATE INDEX quick_user ON login.login_log (user_id, succeeded, id); CREATE INDEX quick_ip ON login.login_log (ip, succeeded, id)")
	c.t.Cleanup(func() {
		// shareCase sees whether it worked; a case of the test's own is purged.
		_, _ = c.ask("DROP INDEX quick_user ON login.login_log; DROP INDEX quick_ip ON login.login_log")
	})
}

// settle gives a case that just began settings that a session would try together, before all else:
// for tests of what it finds, which need not see a group of changes that brings little (internal/tune
// does). Then the table that each login reads is in memory, too.
func (c *theCase) settle() {
	c.t.Helper()
	for file, is := range map[string][2]string{
		"mysql/my.cnf":        {"innodb_buffer_pool_size = 16M\ninnodb_log_file_size = 16M", "innodb_buffer_pool_size = 128M\ninnodb_log_file_size = 128M"},
		"php/pool.d/www.conf": {"pm = dynamic", "pm = static"},
		"nginx/nginx.conf":    {"    keepalive_timeout 65;", "    keepalive_timeout 65;\n    gzip on;\n    gzip_types text/css;"},
	} {
		p := filepath.Join(c.dir, "etc", file)
		b, err := os.ReadFile(p)
		if err != nil {
			c.t.Fatal(err)
		}
		text := strings.Replace(string(b), is[0], is[1], 1)
		if text == string(b) {
			c.t.Fatalf("%s has no %q", file, is[0])
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	c.must(exec.Command(caseScript(c.t), "restart", c.dir))
}

// calm makes requests quick and lets users think after each step: no index is missing, and a
// run takes a small part of the CPUs. For tests that look neither for a slow service nor for
// a busy one.
func (c *theCase) calm() {
	c.t.Helper()
	c.quicken()
	c.sql("CREATE INDEX quick_login ON login.users (login)")
	c.t.Cleanup(func() { _, _ = c.ask("DROP INDEX quick_login ON login.users") })
	c.pause(40 * time.Millisecond)
	c.inScenario("workload: 8", "workload: 4")
}

// few lets four users do what eight do, who think for a moment before each step: for tests that
// need a slow service, but no busy one. With two, the seconds that one of them waits for a page
// decide a run of a second.
func (c *theCase) few() {
	c.t.Helper()
	c.pause(20 * time.Millisecond)
	c.inScenario("workload: 8", "workload: 4")
}

// pause lets users think before each step.
func (c *theCase) pause(think time.Duration) {
	c.t.Helper()
	const step = "\n        request: "
	c.inScenario(step, "\n        think: "+think.String()+step)
}

// inScenario writes a text in the place of each other one.
func (c *theCase) inScenario(is, becomes string) {
	c.t.Helper()
	p := filepath.Join(c.dir, "scenario.yaml")
	b, err := os.ReadFile(p)
	if err != nil {
		c.t.Fatal(err)
	}
	s := strings.ReplaceAll(string(b), is, becomes)
	if err := os.WriteFile(p, []byte(s), 0o644); err != nil || s == string(b) {
		c.t.Fatalf("the scenario has no %q: %v", is, err)
	}
}

// scores lets a benchmark be the load that sends nothing and tells recorded scores, one after the
// other and again from the first: found's, and changed's where nginx is set to what set says
// ("web.name=value"). So a verdict depends on nothing but them.
func (c *theCase) scores(set string, found, changed []int) {
	c.t.Helper()
	name, value, _ := strings.Cut(strings.TrimPrefix(set, "web."), "=")
	list := func(scores []int) string { return strings.Trim(fmt.Sprint(scores), "[]") }
	script := fmt.Sprintf(`#!/bin/sh
side=found; set -- %s
grep -rq '%s *%s;' etc/nginx && { side=changed; set -- %s; }
n=$(cat "told.$side" 2>/dev/null || echo 0)
echo $((n + 1)) >"told.$side"
shift $((n %% $#))
echo "score: $1"
`, list(found), name, value, list(changed))
	p := filepath.Join(c.dir, "kasoku.yaml")
	b, err := os.ReadFile(p)
	if err != nil {
		c.t.Fatal(err)
	}
	yaml := strings.Replace(string(b), "  scenario: "+filepath.Join(c.dir, "scenario.yaml"), "  command: {argv: [./scores.sh], score: {regexp: 'score: ([0-9]+)'}}", 1)
	if !strings.Contains(yaml, "./scores.sh") {
		c.t.Fatalf("the load is no scenario:\n%s", yaml)
	}
	for name, text := range map[string]string{"scores.sh": script, "told.found": "0\n", "told.changed": "0\n", "kasoku.yaml": yaml} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
}
