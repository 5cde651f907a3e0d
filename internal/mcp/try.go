package mcp

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kasoku/internal/change"
	"kasoku/internal/report"
	"kasoku/internal/tune"
)

// TryInput is a proposal.
type TryInput struct {
	Title   string   `json:"title,omitempty" jsonschema:"what to call it in history and report"`
	Set     []string `json:"set,omitempty" jsonschema:"settings, each SERVICE.KEY=VALUE in the service's own words"`
	Patch   string   `json:"patch,omitempty" jsonschema:"a unified diff (git apply -p1) against dir, the text itself"`
	Branch  string   `json:"branch,omitempty" jsonschema:"a branch, tag or commit that is in the application's checkout already"`
	Dir     string   `json:"dir,omitempty" jsonschema:"folder of the patch, or inside the checkout; relative to kasoku.yaml's folder"`
	Host    string   `json:"host,omitempty" jsonschema:"host that dir is on"`
	Apply   string   `json:"apply,omitempty" jsonschema:"a shell command that puts the candidate in place; only if status says that commands are allowed"`
	Undo    string   `json:"undo,omitempty" jsonschema:"the shell command that takes it away again; both must be idempotent"`
	Restart []string `json:"restart,omitempty" jsonschema:"services to restart after the change"`
	Reload  []string `json:"reload,omitempty" jsonschema:"services to reload after the change"`
	Minutes float64  `json:"minutes,omitempty" jsonschema:"begin no pair of runs after that many minutes, what is not sure by then is inconclusive; default: until the verdict is sure"`
	Keep    bool     `json:"keep,omitempty" jsonschema:"leave it in effect if it improved; default: put it back and only tell"`
}

func (s *Server) addTry() {
	yes, closed := true, false
	sdk.AddTool(s.sdk, &sdk.Tool{Name: "try", Title: "Try", Description: "Judges one change: measures the service with and without it in random order, under load, until the verdict is sure. It takes minutes, disturbs the service, and puts everything back unless keep is set and it improved. Cancelling puts everything back, too. The answer's next says what to do.",
		Annotations: &sdk.ToolAnnotations{Title: "Try", DestructiveHint: &yes, OpenWorldHint: &closed}}, s.try)
}

func (s *Server) try(ctx context.Context, req *sdk.CallToolRequest, in TryInput) (*sdk.CallToolResult, report.TryResult, error) {
	s.tries.Add(1)
	defer s.tries.Done()
	p, err := s.proposal(ctx, in)
	if err != nil {
		return nil, report.TryResult{}, told(err)
	}
	if !s.trying.TryLock() {
		return nil, report.TryResult{}, told(hintf("wait for its answer, or cancel it", "this server is trying another change"))
	}
	defer s.trying.Unlock()
	step, err := s.options.Try(ctx, p, &teller{ctx: ctx, request: req})
	if err != nil {
		return nil, report.TryResult{}, told(err)
	}
	return nil, report.Trial(step), nil
}

// proposal checks what the input asks for against what is allowed.
func (s *Server) proposal(ctx context.Context, in TryInput) (tune.Proposal, error) {
	p := tune.Proposal{Title: in.Title, Set: in.Set, Diff: []byte(in.Patch), Rev: in.Branch, Dir: in.Dir, Host: in.Host,
		Apply: in.Apply, Undo: in.Undo, Restart: in.Restart, Reload: in.Reload, Keep: in.Keep, Budget: time.Duration(in.Minutes * float64(time.Minute)), Confined: !s.options.AllowCommands}
	if (in.Apply != "" || in.Undo != "") && !s.options.AllowCommands {
		return p, hintf("propose settings, a patch or a branch instead; whoever runs this server allows commands with --allow-commands", "commands are not allowed here")
	}
	if err := p.Incomplete(); err != nil {
		return p, hintf("give one of set, patch, branch, or apply with undo", "%s", strings.TrimPrefix(err.Error(), "try: "))
	}
	v, err := s.options.Open(ctx)
	if err != nil {
		return p, err
	}
	defer v.Close()
	if (in.Patch != "" || in.Apply != "") && p.Dir == "" {
		p.Dir = "."
	}
	if p.Dir != "" && !filepath.IsAbs(p.Dir) && elsewhere(in.Host) == "" {
		p.Dir = filepath.Join(v.Stack.Dir, p.Dir) // not what this server happens to run in
	}
	return p, nil
}

// teller turns what the loop tells into progress notifications, for clients
// that asked for them.
type teller struct {
	ctx     context.Context
	request *sdk.CallToolRequest
	n       atomic.Int64
}

func (t *teller) Step(title string) { t.tell(title) }
func (t *teller) Info(text string)  { t.tell(text) }
func (t *teller) Warn(problem, hint string) {
	if hint != "" {
		problem += " (" + hint + ")"
	}
	t.tell("warning: " + problem)
}

func (t *teller) tell(text string) {
	token := t.request.Params.GetProgressToken()
	if token == nil {
		return
	}
	// The total is not known: a verdict may be sure after few pairs or many. A
	// client that no longer listens is no reason to stop.
	_ = t.request.Session.NotifyProgress(t.ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: change.Redact(text), Progress: float64(t.n.Add(1))})
}
