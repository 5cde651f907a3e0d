package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/patch"
	"kasoku/internal/source"
	"kasoku/internal/stack"
	"kasoku/internal/tables"
	"kasoku/internal/trace"
)

// pgoProfile is what the Go tool builds by if it lies in the main package's folder.
const pgoProfile = "default.pgo"

// SourcePatches are the patches of the applications of this machine whose build is known
// (PHP needs none) and that run from a git checkout without anybody's work in it, with what a run tells of
// their statements. It looks at the source and runs nothing of it. Where source cannot be
// looked at, a Health says why. Files that changes in force have edited, held, are nobody's
// work.
func SourcePatches(ctx context.Context, st *stack.Stack, hosts map[string]host.Host, ev *evidence.Evidence, held []string) Patches {
	var out Patches
	var seen []string
	var known []tables.Table
	if ev != nil {
		known = ev.Tables
	}
	for _, app := range st.OfKind(stack.App) {
		dir := sourceOf(app)
		if builtElsewhere(app) {
			out.Looked = append(out.Looked, evidence.Health{Source: "source of " + app.Name, OK: true, Text: notJudged + fmt.Sprintf("patches of the source in %s: it lies on %s, and source is read only on the machine where Kasoku runs; run Kasoku there, or `kasoku patch --source FOLDER` with a copy", dir, app.HostName())})
			continue
		}
		if app.HostName() != stack.LocalHost || slices.Contains(seen, dir) || !builtHere(app, dir) && !runsPHP(st, app, dir) {
			continue
		}
		seen = append(seen, dir)
		found, join, err := patchesOf(ctx, st, hosts, app, known, held)
		text := fmt.Sprintf("%d patches are offered for the source in %s", len(found), dir)
		if err != nil {
			text = notJudged + "patches of the source in " + dir + ": " + err.Error()
		} else if err = joinStatements(ctx, dir, found, ev); err != nil {
			text = "the source in " + dir + ": " + err.Error()
		}
		out.Looked = append(out.Looked, evidence.Health{Source: "source of " + app.Name, OK: true, Text: text})
		out.Offered = append(out.Offered, found...)
		if out.join == nil {
			out.join = map[string]joiner{}
		}
		out.join[app.Name] = join
	}
	return out
}

// Patches of the source of applications.
type Patches struct {
	Offered []evidence.SourcePatch
	// Looked says of each application what was found, or why nothing was looked for.
	Looked []evidence.Health

	join map[string]joiner // by application
}

// joiner makes one patch of several, by their IDs.
type joiner func(ids []string) (evidence.JoinedPatch, error)

// Into puts them into a snapshot, with what its profiles tell of them.
func (p Patches) Into(snap *evidence.Snapshot) {
	snap.Patches, snap.Unpatched = p.Offered, nil
	for _, h := range p.Looked {
		if why, ok := strings.CutPrefix(h.Text, notJudged); ok {
			snap.Unpatched = append(snap.Unpatched, why)
		}
	}
	for i, p := range snap.Patches {
		data := snap.GoProfiles[p.Service]
		if len(p.Makes) == 0 || data == nil {
			continue
		}
		share, err := evidence.ShareWithin(data, p.Symbol, p.Makes)
		if err != nil {
			snap.Unpatched = append(snap.Unpatched, "what "+p.Place()+" makes: "+err.Error())
		}
		snap.Patches[i].Made = share
	}
	snap.JoinPatches = func(service string, ids []string) (evidence.JoinedPatch, error) {
		join := p.join[service]
		if join == nil {
			return evidence.JoinedPatch{}, fmt.Errorf("%s has no patches", service)
		}
		return join(ids)
	}
}

// notJudged is what a Health begins with that says why something was not looked at.
const notJudged = "not judged: "

// heldFiles are the files of this machine that changes in force have edited.
func heldFiles(exec *change.Executor) []string {
	if exec == nil {
		return nil
	}
	return change.HeldFiles(exec.Kept(), stack.LocalHost)
}

// builtElsewhere reports whether an application is made by the Go tool on another host.
func builtElsewhere(app *stack.Service) bool {
	return app.HostName() != stack.LocalHost && app.Build != nil && len(app.Build.Command) > 0 && filepath.Base(app.Build.Command[0]) == "go"
}

// builtHere reports a program of Go whose build is known.
func builtHere(app *stack.Service, dir string) bool {
	return app.Build != nil && len(app.Build.Command) > 0 && len(app.Build.Products) > 0 && goModule(dir)
}

// runsPHP reports an application of PHP, which needs no build: what runs it takes new files
// when it is told to.
func runsPHP(st *stack.Stack, app *stack.Service, dir string) bool {
	in := st.Service(app.RunsIn)
	return app.RunsIn != "" && in != nil && (in.Kind == stack.PHPFPM || in.Kind == stack.Apache) && dir != "" && patch.HoldsPHP(dir)
}

// goModule reports whether a folder is in a module of Go, whose top is at most a few
// folders above.
func goModule(dir string) bool {
	for range 4 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
		dir = filepath.Dir(dir)
	}
	return false
}

// patchesOf are the patches of one application, each on what is checked out. One that
// would show a secret is left to `kasoku patch`.
func patchesOf(ctx context.Context, st *stack.Stack, hosts map[string]host.Host, app *stack.Service, known []tables.Table, held []string) ([]evidence.SourcePatch, joiner, error) {
	c, err := checkoutOf(ctx, st, hosts, app.Name)
	if err != nil {
		return nil, nil, err
	}
	command, products, err := c.recipe()
	if err != nil {
		return nil, nil, err
	}
	program, err := patch.Load(ctx, sourceOf(app), known...)
	if err != nil {
		return nil, nil, err
	}
	repo, err := patch.OpenRepo(ctx, program)
	if err != nil {
		return nil, nil, err
	}
	if err := repo.Clean(ctx, program, held...); err != nil {
		return nil, nil, err
	}
	// A profile that a build by profile has put there is no work, and stays what it is.
	if profile := filepath.Join(program.Dir, pgoProfile); len(command) > 0 && !c.tracks(ctx, profile) {
		products = append(products, c.relative(profile))
	}
	var out []evidence.SourcePatch
	places := program.Find()
	for _, at := range places {
		if at.Refused != nil || at.With != "" {
			continue
		}
		diff, err := fromTop(ctx, c, []*patch.Place{at})
		if err != nil {
			return nil, nil, err
		}
		if patch.Secret(string(diff)) {
			continue
		}
		out = append(out, evidence.SourcePatch{Service: app.Name, ID: at.ID, Shape: at.Shape, Title: at.Subject, What: at.What,
			File: at.File, Line: at.Line, Lines: at.Lines, Function: at.Function, Dir: c.top, Diff: diff, Message: at.Message(), Build: command, Products: products, Statement: at.Statement, Text: textOf(at), More: othersOf(at, places), Makes: at.Makes, Symbol: at.Symbol, Tables: at.Tables, Staleness: at.Staleness})
	}
	return out, func(ids []string) (evidence.JoinedPatch, error) { return joinPlaces(ctx, c, places, ids) }, nil
}

// othersOf is where the statements of the places stand that a place's patch changes too.
func othersOf(at *patch.Place, places []*patch.Place) []evidence.CodeSpan {
	var out []evidence.CodeSpan
	for _, other := range places {
		if other != at && other.Lead() == at {
			out = append(out, textOf(other))
		}
	}
	return out
}

// joinPlaces makes one patch of places of a program, by their IDs, in that order. One that
// changes the same lines as those before it is left out.
func joinPlaces(ctx context.Context, c *checkout, places []*patch.Place, ids []string) (evidence.JoinedPatch, error) {
	var joined evidence.JoinedPatch
	var chosen []*patch.Place
	for _, id := range ids {
		i := slices.IndexFunc(places, func(at *patch.Place) bool { return at.ID == id && at.Refused == nil })
		if i < 0 {
			return joined, fmt.Errorf("there is no patch %s", id)
		}
		if _, err := patch.Files(append(slices.Clone(chosen), places[i])); err == nil {
			chosen, joined.IDs = append(chosen, places[i]), append(joined.IDs, id)
		}
	}
	if len(chosen) == 0 {
		return joined, nil
	}
	diff, err := fromTop(ctx, c, chosen)
	if err == nil && patch.Secret(string(diff)) {
		err = errors.New("its lines hold what looks like a secret")
	}
	var message strings.Builder
	fmt.Fprintf(&message, "Make %d changes that are shown to answer the same\n", len(chosen))
	for _, at := range chosen {
		fmt.Fprintf(&message, "\n%s: %s", at.ID, at.Message())
	}
	joined.Diff, joined.Message = diff, message.String()
	return joined, err
}

// textOf is where the statement of a place stands.
func textOf(at *patch.Place) evidence.CodeSpan {
	if at.Text != nil {
		return evidence.CodeSpan{File: filepath.ToSlash(at.Text.File), Line: at.Text.Line, Lines: at.Text.Lines}
	}
	return evidence.CodeSpan{File: filepath.ToSlash(at.File), Line: at.Line, Lines: at.Lines}
}

// fromTop is the patch of places of one program from the top of their checkout.
func fromTop(ctx context.Context, c *checkout, places []*patch.Place) ([]byte, error) {
	files, err := patch.Files(places)
	if err != nil {
		return nil, err
	}
	var changes []change.Change
	for name, content := range files {
		path := filepath.Join(places[0].Program().Dir, name)
		before, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change.Change{Path: path, Before: &change.FileState{Hash: host.HashOf(before), Content: before},
			After: &change.FileState{Hash: host.HashOf(content), Content: content}})
	}
	return rerooted(ctx, c, changes)
}

// joinStatements adds what a run tells of the statements of patches of a folder.
func joinStatements(ctx context.Context, dir string, patches []evidence.SourcePatch, ev *evidence.Evidence) error {
	if len(patches) == 0 || ev == nil || len(ev.Statements) == 0 {
		return nil
	}
	index, err := source.Build(ctx, os.DirFS(dir))
	if err != nil {
		return err
	}
	for i := range patches {
		if patches[i].Statement != "" {
			joinStatement(index, &patches[i], ev)
		}
		for _, s := range ev.Statements {
			if len(patches[i].Tables) > 0 && patch.Writes(s.Fingerprint, patches[i].Tables) {
				patches[i].Written = s.Fingerprint
			}
		}
	}
	slices.SortStableFunc(patches, func(a, b evidence.SourcePatch) int { return cmp.Compare(b.Total, a.Total) })
	return nil
}

// joinStatement adds what a run tells of the statements that stand where p does.
func joinStatement(index *source.Index, p *evidence.SourcePatch, ev *evidence.Evidence) {
	for _, s := range ev.Statements {
		if !slices.ContainsFunc(index.Find(s.Fingerprint), func(at source.Place) bool {
			return at.Sure && (p.Text.Holds(at.File, at.Line) || slices.ContainsFunc(p.More, func(s evidence.CodeSpan) bool { return s.Holds(at.File, at.Line) }))
		}) {
			continue
		}
		p.Database, p.Count, p.Total = s.Service, p.Count+s.Count, p.Total+s.Total
		p.PerRequest = max(p.PerRequest, perRequest(ev.Requests, s.Fingerprint))
	}
	for _, s := range ev.Statements {
		if s.Service == p.Database {
			p.All, p.Counts = p.All+s.Total, p.Counts+s.Count
		}
	}
}

// perRequest is how often the route that runs a statement most runs it in one request;
// 0 where no requests were followed.
func perRequest(requests *trace.Summary, fingerprint string) float64 {
	most := 0.0
	if requests == nil {
		return most
	}
	for _, r := range requests.Routes {
		for _, call := range r.Calls {
			if call.What == fingerprint {
				most = max(most, call.PerRequest)
			}
		}
	}
	return most
}
