package patterns

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// checkProbed: from what the database and the caches tell while requests come
// one at a time, exactly the patterns of the bad form are found, and none of
// the clean form.
func (s *Service) checkProbed(t *testing.T, who, form string) {
	t.Helper()
	// Every worker of PHP opens its connections in its first request.
	for range 9 {
		ask(t, "GET", s.URL+"/home")
	}
	requests, health := s.walk(t)
	for _, h := range health {
		if !h.OK {
			t.Errorf("%s: %s: %s", who, h.Source, h.Text)
		}
	}
	checkPatterns(t, who, form, trace.Summarize(requests, trace.Options{Source: "walk"}))
}

// walked is how often a walk asks every route; the fewest for which a
// connection of each request counts as a pattern.
const walked = 3

// walk asks one request at a time and returns what each made the service call.
func (s *Service) walk(t *testing.T) ([]trace.Request, []evidence.Health) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	st, err := stack.Load(s.Stack)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.Dir, "db", "general.log")
	sql := "SET GLOBAL general_log_file = '" + file + "', GLOBAL general_log = ON"
	cmd := exec.CommandContext(ctx, "mariadb", "--defaults-file="+filepath.Join(s.Dir, "secrets", "client.cnf"), "-e", sql)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("general log: %v\n%s", err, out)
	}
	hosts := map[string]host.Host{stack.LocalHost: host.NewLocal()}
	probe, err := evidence.StartProbe(ctx, st, hosts, evidence.ProbeOptions{GeneralLogs: map[string]string{"db": file}})
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	var requests []trace.Request
	for range walked {
		for _, r := range Routes() {
			if err := probe.Mark(ctx, len(requests)); err != nil {
				t.Fatal(err)
			}
			ask(t, r.Method, s.URL+r.Path)
			requests = append(requests, trace.Request{Method: r.Method, Route: r.Route, Target: r.Path, Status: 200})
		}
	}
	calls, health, err := probe.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range requests {
		requests[i].Calls = calls[i]
	}
	return requests, health
}
