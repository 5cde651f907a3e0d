package report

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/source"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// Where tells which lines of source make statements.
type Where struct {
	Folders    []WhereFolder    `json:"folders"`
	Run        int64            `json:"run,omitempty"` // the statements are of
	Statements []WhereStatement `json:"statements"`    // the most time first
	// Parts (0–1) of the time of all statements whose place is sure, probable, unknown;
	// of those that are shown if the source has no times.
	Sure     float64 `json:"sure"`
	Probable float64 `json:"probable"`
	Unknown  float64 `json:"unknown"`
	// Drivers is the part of the time of what drivers send by themselves (COMMIT, SET …);
	// it is left out of all else.
	Drivers float64 `json:"drivers,omitempty"`
}

// WhereFolder is a folder of source that was read.
type WhereFolder struct {
	Folder  string   `json:"folder"`
	Files   int      `json:"files"`
	Lines   int      `json:"lines"`
	Skipped []string `json:"skipped,omitempty"`
}

// WhereStatement is a class of statements with the places that make it.
type WhereStatement struct {
	Statement string         `json:"statement"` // its class
	Service   string         `json:"service,omitempty"`
	Count     int64          `json:"count,omitempty"`
	Total     time.Duration  `json:"total,omitempty"` // nanoseconds
	Share     float64        `json:"share,omitempty"` // 0–1 of the time of all
	Routes    []string       `json:"routes,omitempty"`
	Places    []source.Place `json:"places"`
}

// Sources are folders of source, read.
type Sources []located

// located is an index with its folder.
type located struct {
	folder string
	index  *source.Index
}

// ReadSources reads folders of this machine. The error names the folder.
func ReadSources(ctx context.Context, folders []string) (Sources, error) {
	var out Sources
	for _, folder := range folders {
		if st, err := os.Stat(folder); err != nil || !st.IsDir() {
			return nil, cmp.Or(err, fmt.Errorf("%s is no folder", folder))
		}
		x, err := source.Build(ctx, os.DirFS(folder))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		out = append(out, located{folder, x})
	}
	return out, nil
}

// SourceRoots are the folders of a stack's applications on this machine, and those
// elsewhere, as "FOLDER on HOST".
func SourceRoots(st *stack.Stack) (here, elsewhere []string) {
	for _, svc := range st.OfKind(stack.App) {
		switch {
		case svc.Root == "":
		case svc.HostName() != stack.LocalHost:
			elsewhere = append(elsewhere, fmt.Sprintf("%s on %s", svc.Root, svc.HostName()))
		case !slices.Contains(here, svc.Root):
			here = append(here, svc.Root)
		}
	}
	return here, elsewhere
}

// FindSources looks for the lines that make statements, of which limit are told, 0 all.
// calls, if known, tell the routes that make them.
func FindSources(in Sources, statements []evidence.Statement, calls *trace.Summary, limit int) *Where {
	w := &Where{Folders: []WhereFolder{}, Statements: []WhereStatement{}}
	for _, x := range in {
		w.Folders = append(w.Folders, WhereFolder{x.folder, x.index.Files, x.index.Lines, x.index.Skipped})
	}
	if len(statements) > 1 || calls != nil {
		statements = w.withoutDrivers(statements)
	}
	slices.SortStableFunc(statements, func(a, b evidence.Statement) int { return cmp.Compare(b.Total, a.Total) })
	shown := len(statements)
	if limit > 0 {
		shown = min(shown, limit)
	}
	var all, weight float64
	for i, s := range statements {
		all += s.Total.Seconds()
		if i < shown {
			weight++
		}
	}
	for i, s := range statements {
		if i >= shown && all == 0 {
			break
		}
		one := WhereStatement{Statement: s.Fingerprint, Service: s.Service, Count: s.Count, Total: s.Total, Routes: routesOf(calls, s.Fingerprint), Places: in.Places(s.Fingerprint)}
		part := 1 / max(weight, 1)
		if all > 0 {
			one.Share = s.Total.Seconds() / all
			part = one.Share
		}
		switch {
		case len(one.Places) == 0:
			w.Unknown += part
		case one.Places[0].Sure:
			w.Sure += part
		default:
			w.Probable += part
		}
		if i < shown {
			w.Statements = append(w.Statements, one)
		}
	}
	return w
}

// byDrivers are how statements begin that calls of a driver make, such as Begin and Commit.
var byDrivers = map[string]bool{"BEGIN": true, "START": true, "COMMIT": true, "ROLLBACK": true, "SAVEPOINT": true, "RELEASE": true, "SET": true, "USE": true}

// withoutDrivers leaves out what drivers send by themselves.
func (w *Where) withoutDrivers(statements []evidence.Statement) []evidence.Statement {
	var all, theirs float64
	var out []evidence.Statement
	for _, s := range statements {
		verb, _, _ := strings.Cut(s.Fingerprint, " ")
		all += s.Total.Seconds()
		if byDrivers[strings.ToUpper(verb)] {
			theirs += s.Total.Seconds()
			continue
		}
		out = append(out, s)
	}
	if all > 0 {
		w.Drivers = theirs / all
	}
	return out
}

// Places that make a statement, or a class of them, the likeliest first.
func (in Sources) Places(statement string) []source.Place {
	out := []source.Place{}
	for _, x := range in {
		for _, p := range x.index.Find(statement) {
			p.File = filepath.Join(x.folder, filepath.FromSlash(p.File))
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b source.Place) int { return cmp.Compare(b.Covered, a.Covered) })
	if len(out) > 1 && out[0].Sure { // of several folders
		out = slices.DeleteFunc(out, func(p source.Place) bool { return p.Covered < out[0].Covered })
		for i := range out {
			if len(out) > 1 {
				out[i].Sure, out[i].Why = false, "one of several that hold the same text"
			}
		}
	}
	return out
}

// routesOf are the routes whose requests make the class.
func routesOf(calls *trace.Summary, class string) []string {
	var out []string
	if calls == nil {
		return nil
	}
	for _, r := range calls.Routes {
		if slices.ContainsFunc(r.Calls, func(c trace.CallClass) bool { return c.What == class }) {
			out = append(out, r.Method+" "+r.Route)
		}
	}
	return out
}

// Lines of a statement's places, "app/user.php:120", at most so many; "probably " before
// those that are not sure.
func (in Sources) Lines(statement string, most int) []string {
	var out []string
	for _, p := range in.Places(statement) {
		if len(out) == most {
			break
		}
		at := fmt.Sprintf("%s:%d", p.File, p.Line)
		if !p.Sure {
			at = "probably " + at
		}
		out = append(out, at)
	}
	return out
}

// MadeBy are the statements that a route's requests make, with what is known of their
// class; false if no request of it was followed, and then the routes that were.
func MadeBy(calls *trace.Summary, route string, all []evidence.Statement) (out []evidence.Statement, followed []string, ok bool) {
	if calls == nil {
		return nil, nil, false
	}
	for _, r := range calls.Routes {
		followed = append(followed, r.Route)
		if r.Route != route && r.Method+" "+r.Route != route {
			continue
		}
		ok = true
		for _, call := range r.Calls {
			if !strings.Contains(call.What, " ") || call.System == "memcached" || call.System == "redis" {
				continue
			}
			at := slices.IndexFunc(all, func(s evidence.Statement) bool { return s.Fingerprint == call.What })
			if at >= 0 {
				out = append(out, all[at])
			} else {
				out = append(out, evidence.Statement{Service: call.Service, Fingerprint: call.What})
			}
		}
	}
	slices.Sort(followed)
	return out, slices.Compact(followed), ok
}

// Drivers are the places where the source chooses that statements are prepared at the
// server, at most so many, as "app/main.go:23" and what to write there.
func (in Sources) Drivers(most int) (lines, edits []string) {
	for _, x := range in {
		for _, d := range x.index.Drivers() {
			if len(lines) == most {
				return lines, edits
			}
			lines = append(lines, fmt.Sprintf("%s:%d", filepath.Join(x.folder, filepath.FromSlash(d.File)), d.Line))
			edits = append(edits, d.Edit)
		}
	}
	return lines, edits
}

// Starts are the places that start a program, at most so many, as "app/zip.go:23".
func (in Sources) Starts(program string, most int) []string {
	var out []string
	for _, x := range in {
		for _, s := range x.index.Starts(program) {
			if len(out) < most {
				out = append(out, fmt.Sprintf("%s:%d", filepath.Join(x.folder, filepath.FromSlash(s.File)), s.Line))
			}
		}
	}
	return out
}
