package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// View is an opened project for reading.
type View struct {
	Stack *stack.Stack
	Store *store.Store
	Dir   string // .kasoku
	Close func()
}

// Options of New.
type Options struct {
	Version string
	// AllowTry adds the tool try, AllowCommands lets it run commands, too.
	AllowTry, AllowCommands bool
	// Open opens the project for reading, connecting to no host.
	Open func(ctx context.Context) (*View, error)
	// Plan plans for a stored diagnostic run, reading the hosts' configuration.
	Plan func(ctx context.Context, run *store.Run) (remedy.Result, error)
	// Try judges one proposal as the only writer; tell is told what it does.
	Try func(ctx context.Context, p tune.Proposal, tell tune.Reporter) (*store.Step, error)
}

// Server answers agents.
type Server struct {
	options Options
	sdk     *sdk.Server
	// trying is held by the try under way: a second one is told so at once.
	trying sync.Mutex
	tries  sync.WaitGroup
}

// instructions are what a client may show its model.
const instructions = `Kasoku measures a web service under load, names the bottleneck, and judges changes by interleaved runs.
Read status first, then findings and evidence; plan shows what Kasoku itself would try.
try, if this server has it, judges one change at a time and puts it back unless keep is set. The scenario, the regulation and Kasoku's own state cannot be changed by what is tried.`

// New makes a server with its tools.
func New(o Options) *Server {
	s := &Server{options: o, sdk: sdk.NewServer(&sdk.Implementation{Name: "kasoku", Title: "Kasoku", Version: o.Version},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}})}
	s.addStatus()
	s.addEvidence()
	s.addFindings()
	s.addWhere()
	s.addPatch()
	s.addPlan()
	s.addHistory()
	s.addShow()
	if o.AllowTry {
		s.addTry()
	}
	return s
}

// Run serves one client until it leaves or ctx ends. It returns when what was
// under way has been put back.
func (s *Server) Run(ctx context.Context, t sdk.Transport) error {
	err := s.sdk.Run(ctx, t)
	s.tries.Wait()
	return err
}

// reading annotates a tool that changes nothing. The store and the hosts are
// the operator's own: no open world.
func reading(title string) *sdk.ToolAnnotations {
	closed := false
	return &sdk.ToolAnnotations{Title: title, ReadOnlyHint: true, OpenWorldHint: &closed}
}

// add registers a reading tool. Each call opens the project anew, so that it
// sees what another Kasoku has done meanwhile. Answers are masked.
func add[In, Out any](s *Server, name, title, text string, answer func(ctx context.Context, v *View, in In) (Out, error)) {
	sdk.AddTool(s.sdk, &sdk.Tool{Name: name, Title: title, Description: text, Annotations: reading(title)},
		func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
			var none Out
			v, err := s.options.Open(ctx)
			if err != nil {
				return nil, none, told(err)
			}
			defer v.Close()
			out, err := answer(ctx, v, in)
			if err != nil {
				return nil, none, told(err)
			}
			change.RedactAll(&out)
			return nil, out, nil
		})
}

// told is an error as an agent reads it: with what to do, without secrets.
func told(err error) error {
	text := change.Redact(err.Error())
	if hint := ui.Hint(err); hint != "" {
		text += "\nWhat to do: " + change.Redact(hint)
	}
	if errors.Is(err, change.ErrBusy) {
		text += "\nOnly one Kasoku works on a project at a time; reading tools go on working meanwhile."
	}
	if code := ui.Code(err); code != ui.Failure {
		text += fmt.Sprintf("\n(exit code of the command line: %d)", code)
	}
	return errors.New(text)
}

// hintf is a wrong input with what to do.
func hintf(hint, format string, args ...any) error {
	return ui.Coded(ui.BadInput, fmt.Errorf(format, args...), hint)
}

// diagnosed returns a diagnostic run: the one asked for, or the latest.
func diagnosed(v *View, id int64) (*store.Run, error) {
	const measure = "`kasoku run` makes one; ask the operator, it puts load on the service"
	if id == 0 {
		runs, err := v.Store.Runs(store.RunFilter{Kind: store.Diagnostic, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(runs) == 0 {
			return nil, hintf(measure, "no diagnostic run is stored yet")
		}
		id = runs[0].ID
	}
	run, err := v.Store.Run(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, hintf("history with runs lists them", "there is no run %d", id)
	}
	if err != nil {
		return nil, err
	}
	if run.Evidence == nil || run.Evidence.Load == nil {
		return nil, hintf("history with runs lists those that do", "run %d holds no evidence", id)
	}
	return run, nil
}

// elsewhere names a host other than this machine, which needs no mention.
func elsewhere(name string) string {
	if name == stack.LocalHost || name == host.NewLocal().Name() {
		return ""
	}
	return name
}
