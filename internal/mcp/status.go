package mcp

import (
	"context"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/store"
)

// Status is what status answers.
type Status struct {
	Stack      string    `json:"stack"`
	Services   []Service `json:"services"`
	Load       Load      `json:"load"`
	Allowed    []string  `json:"allowed" jsonschema:"trades that the regulation allows; empty: strict"`
	NoRestart  []string  `json:"no_restart"`
	NoTouch    []string  `json:"no_touch"`
	Effect     float64   `json:"smallest_effect" jsonschema:"least effect worth keeping, as a fraction"`
	Busy       string    `json:"busy,omitempty" jsonschema:"who works on the project now"`
	Recovery   bool      `json:"recovery_needed" jsonschema:"a change was interrupted; the next Kasoku that writes puts it back first"`
	Kept       []Kept    `json:"kept" jsonschema:"changes of Kasoku's that are in effect"`
	Session    *Session  `json:"last_session,omitempty"`
	Diagnostic int64     `json:"latest_diagnostic_run,omitempty"`
	Try        string    `json:"try" jsonschema:"what this server may do"`
}

// Service of the stack.
type Service struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Host    string   `json:"host,omitempty"`
	Root    string   `json:"root,omitempty" jsonschema:"folder of the application; patches are relative to it or to kasoku.yaml's folder"`
	Listen  []string `json:"listen,omitempty"`
	TalksTo []string `json:"talks_to,omitempty"`
}

// Load says what drives the stack.
type Load struct {
	URL      string `json:"url"`
	Scenario string `json:"scenario,omitempty"`
	Command  string `json:"command,omitempty" jsonschema:"the program of load.command"`
	Workload int    `json:"workload,omitempty"`
}

// Kept is a change that is in effect.
type Kept struct {
	Transaction int64  `json:"transaction"`
	Title       string `json:"title"`
}

// Session in short.
type Session struct {
	ID      int64     `json:"id"`
	Command string    `json:"command"`
	State   string    `json:"state"`
	Started time.Time `json:"started"`
	AsFound float64   `json:"as_found" jsonschema:"points per second"`
	Final   float64   `json:"final" jsonschema:"points per second"`
	Binds   string    `json:"binds,omitempty"`
	Stopped string    `json:"stopped,omitempty"`
}

type noInput struct{}

func (s *Server) addStatus() {
	add(s, "status", "Status", "The stack, what drives it, what the regulation allows, what is in effect, who is at work, and what this server may do. Read it first.",
		func(_ context.Context, v *View, _ noInput) (Status, error) { return s.status(v) })
}

func (s *Server) status(v *View) (Status, error) {
	st := v.Stack
	out := Status{Stack: st.Name, Services: []Service{}, Allowed: []string{}, Kept: []Kept{}, Effect: st.Tune.Effect(),
		NoRestart: append([]string{}, st.Regulation.NoRestart...), NoTouch: append([]string{}, st.Regulation.NoTouch...),
		Load: Load{URL: st.Load.URL, Scenario: st.Load.Scenario, Workload: st.Load.Workload}, Try: s.may()}
	if c := st.Load.Command; c != nil && len(c.Argv) > 0 {
		out.Load.Command = c.Argv[0] // arguments may hold secrets
	}
	for i := range st.Services {
		x := &st.Services[i]
		out.Services = append(out.Services, Service{Name: x.Name, Kind: string(x.Kind), Host: elsewhere(x.HostName()), Root: x.Root, Listen: x.Listen, TalksTo: x.TalksTo})
	}
	for _, t := range st.Regulation.Allow {
		out.Allowed = append(out.Allowed, string(t))
	}
	out.Busy = change.AtWork(v.Dir)
	txs, err := change.Read(v.Dir)
	if err != nil {
		return out, err
	}
	for _, tx := range txs {
		switch {
		case tx.InForce():
			out.Kept = append(out.Kept, Kept{tx.ID, change.Redact(tx.Title)})
		case tx.Pending() && out.Busy == "":
			out.Recovery = true
		}
	}
	sessions, err := v.Store.Sessions(1)
	if err != nil {
		return out, err
	}
	if len(sessions) > 0 {
		short := session(&sessions[0])
		out.Session = &short
	}
	runs, err := v.Store.Runs(store.RunFilter{Kind: store.Diagnostic, Limit: 1})
	if err != nil {
		return out, err
	}
	if len(runs) > 0 {
		out.Diagnostic = runs[0].ID
	}
	return out, nil
}

func session(x *store.Session) Session {
	return Session{x.ID, x.Command, x.State, x.Started, x.AsFound, x.Final, change.Redact(x.BindsText), change.Redact(x.Stopped)}
}

// may says what try may do here.
func (s *Server) may() string {
	switch {
	case !s.options.AllowTry:
		return "not allowed: reading only. Whoever runs this server allows it with `kasoku mcp --allow-try`"
	case !s.options.AllowCommands:
		return "settings, patches of applications and configuration files, and branches; no commands (`kasoku mcp --allow-try --allow-commands`)"
	}
	return "settings, patches, branches and commands"
}
