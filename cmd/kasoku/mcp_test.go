package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kasoku/internal/await"
	"kasoku/internal/mcp"
	"kasoku/internal/report"
)

// mcpClient is a client with a server process of its own.
type mcpClient struct {
	t    *testing.T
	cmd  *exec.Cmd
	cs   *sdk.ClientSession
	gone func() // ends its input, as a client that was killed does
}

// startAgent starts kasoku mcp in a folder.
func startAgent(t *testing.T, dir string, env []string, told chan<- string, args ...string) *mcpClient {
	t.Helper()
	program, err := exec.LookPath("kasoku")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, append([]string{"-f", filepath.Join(dir, "kasoku.yaml"), "mcp"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr // not where the project is
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if told != nil {
				told <- r.Params.Message
			}
		}})
	cs, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &mcpClient{t, cmd, cs, func() { in.Close() }}
}

// ask returns the answer's JSON, or the text of an error.
func (g *mcpClient) ask(ctx context.Context, tool string, in map[string]any) (answer string, failed bool) {
	g.t.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: in}
	params.SetProgressToken("it")
	res, err := g.cs.CallTool(ctx, params)
	if err != nil {
		return err.Error(), true
	}
	if res.IsError {
		return res.Content[0].(*sdk.TextContent).Text, true
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(b), false
}

// TestAgent: a coding agent on a real nginx, over a real process.
func TestAgent(t *testing.T) {
	c := startForeign(t)
	c.bench("curl -sf \"$KASOKU_URL/\" >/dev/null || exit 1\n[ ! -e slow ] || sleep 60\necho score: $((10000 + $(od -An -N1 -tu1 /dev/urandom)))\n")
	conf := func() string {
		b, _ := os.ReadFile(filepath.Join(c.dir, "nginx.conf"))
		return string(b)
	}
	before := conf()
	told := make(chan string, 1000)
	g := startAgent(t, c.dir, nil, told, "--allow-try")

	// A change that does nothing: a verdict, progress on the way, and all as it was.
	out, failed := g.ask(t.Context(), "try", map[string]any{"set": []string{"web.keepalive_requests=2000"}})
	r := decode[report.TryResult](t, out)
	// One in ten such trials ends early as slower, one in a hundred as faster; both are put back as well.
	harmless := r.Outcome == "no difference" || r.Outcome == "inconclusive" || r.Outcome == "regressed" || r.Outcome == "improved"
	if failed || !harmless || r.Runs < 4 || r.Kept || len(r.Diffs) == 0 || r.Next == "" {
		t.Errorf("%v %s", failed, out)
	}
	if len(told) < 3 || conf() != before {
		t.Errorf("%d times progress was told; nginx.conf as it was: %v", len(told), conf() == before)
	}
	// What nginx itself refuses, and what the operator did not allow.
	if out, _ = g.ask(t.Context(), "try", map[string]any{"set": []string{"web.keepalive_requests=banana"}}); !strings.Contains(out, "banana") && !strings.Contains(out, "keepalive_requests") {
		t.Errorf("%s", out)
	}
	diff := "--- /dev/null\n+++ b/cron.sh\n@@ -0,0 +1 @@\n+#!/bin/sh\n"
	if out, failed = g.ask(t.Context(), "try", map[string]any{"patch": diff, "dir": "."}); !failed || !strings.Contains(out, "no application's folder") || !strings.Contains(out, "What to do") {
		t.Errorf("%s", out)
	}
	if out, failed = g.ask(t.Context(), "try", map[string]any{"apply": "true", "undo": "true"}); !failed || !strings.Contains(out, "--allow-commands") {
		t.Errorf("%s", out)
	}

	// Cancelled in the middle: it is put back, and the server goes on.
	trying := func() bool { return conf() != before }
	for _, leave := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan bool, 1)
		go func() {
			g.ask(ctx, "try", map[string]any{"set": []string{"web.keepalive_requests=3000"}})
			done <- true
		}()
		// The order of a pair is random; a run of the baseline ends at once if slow
		// is away.
		await.For(t, "the change to be tried", func() bool {
			os.Remove(filepath.Join(c.dir, "slow"))
			return trying()
		})
		c.write("slow", 0o644, "")
		if leave {
			g.gone()
		} else {
			cancel()
		}
		<-done
		await.For(t, "nginx.conf as it was", func() bool { return conf() == before })
		if leave {
			if err := g.cmd.Wait(); err != nil {
				t.Errorf("the server ended with %v", err)
			}
		} else {
			await.For(t, "the lease given back", func() bool {
				out, failed := g.ask(t.Context(), "status", nil)
				return !failed && decode[mcp.Status](t, out).Busy == ""
			})
		}
		cancel()
	}
}

// agentHears asks every tool of the server, also what fails, and returns names
// and answers in turn.
func (c *theCase) agentHears(secrets map[string]planted) []string {
	c.t.Helper()
	g := startAgent(c.t, c.dir, []string{"PLANTED_REDIS=" + secrets["redis"].text}, nil, "--allow-try")
	var said []string
	for _, q := range []struct {
		tool string
		in   map[string]any
	}{
		{"status", nil}, {"evidence", map[string]any{"rows": 200}}, {"findings", nil}, {"plan", nil}, {"history", map[string]any{"runs": true}},
		{"show", map[string]any{"what": "run/2", "all": true}}, {"show", map[string]any{"what": "step/1"}}, {"show", map[string]any{"what": "tx/1"}}, {"show", map[string]any{"what": "tx/5"}},
		{"try", map[string]any{"set": []string{"db.no_such_setting=1"}}}, {"try", map[string]any{"branch": "main"}},
	} {
		answer, _ := g.ask(c.t.Context(), q.tool, q.in)
		if answer == "" {
			c.t.Errorf("%s answers nothing", q.tool)
		}
		said = append(said, "the answer of the tool "+q.tool, answer)
	}
	g.gone()
	g.cmd.Wait()
	return said
}
