package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/patch"
	"kasoku/internal/redact"
	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// PatchCmd writes changes of source.
type PatchCmd struct {
	List   PatchListCmd   `cmd:"" default:"withargs" help:"List the places that a patch is offered for."`
	Show   PatchShowCmd   `cmd:"" help:"Print a patch as a diff, with its message."`
	Apply  PatchApplyCmd  `cmd:"" help:"Commit patches on a branch of their own; the checkout is not touched."`
	Export PatchExportCmd `cmd:"" help:"Write patches as a series of mails (git format-patch)."`
}

// Help is shown below the flags.
func (PatchCmd) Help() string {
	return "Finds code of Go and PHP programs that makes more calls than it has to, and writes it as an engineer would: a read in a loop becomes one read before it. " +
		"A place is offered only where every precondition can be shown; --all shows the others, each with the one that could not. Nothing that runs is changed: `kasoku try --branch` judges the branch.\n\n" +
		"Examples:\n  kasoku patch --source ~/app\n  kasoku patch show P1-3f2a\n  kasoku patch apply P1-3f2a P5-7c1e --branch kasoku/fewer-reads\n  kasoku try --branch kasoku/fewer-reads\n  kasoku patch export patches"
}

// patchFrom says which source is looked at.
type patchFrom struct {
	Source []string `help:"A folder of source; may be repeated (default: the folders of the applications in kasoku.yaml; without one this folder, if it holds a program)." placeholder:"FOLDER"`
}

// PatchListCmd lists.
type PatchListCmd struct {
	patchFrom
	All   bool  `help:"Also what is refused, with the precondition that could not be shown."`
	RunID int64 `name:"run" help:"A stored diagnostic run that tells what statements took; default: the latest, if there is one." placeholder:"ID"`
}

// Help is shown below the flags.
func (PatchListCmd) Help() string {
	return "The shapes and their preconditions are in docs/how-to/change-the-code-of-a-program.md.\n\nExamples:\n  kasoku patch\n  kasoku patch --all --source ~/app --json"
}

// Run implements the command.
func (c *PatchListCmd) Run(ctx context.Context, a *App) error {
	p, err := c.find(ctx, a, c.RunID)
	if err != nil {
		return err
	}
	return a.print(p, func(out io.Writer) error { return report.PatchesText(out, p, textWidth(out), c.All) })
}

// patchRun is the run that tells what statements took; without kasoku.yaml there is none.
func (a *App) patchRun(id int64) (*store.Run, error) {
	if id == 0 && !stackThere(a.cli.File) {
		return nil, nil
	}
	return a.diagnosed(id)
}

// find looks for places, with what a run tells.
func (f patchFrom) find(ctx context.Context, a *App, id int64) (*report.Patches, error) {
	run, err := a.patchRun(id)
	if err != nil {
		return nil, err
	}
	folders, seen := f.Source, &evidence.Evidence{}
	if run != nil {
		seen.Statements, seen.Requests = run.Evidence.Statements, run.Evidence.Requests
	}
	if run != nil && len(folders) == 0 { // other folders may have another database
		seen.Tables = run.Evidence.Tables
	}
	if len(folders) == 0 {
		job := &whereJob{WhereCmd: &WhereCmd{}, app: a}
		if folders, err = job.roots(); err != nil {
			return nil, err
		}
	}
	if a.UI.Draws() {
		a.UI.Progress("reading " + strings.Join(folders, ", "))
	}
	p, err := report.FindPatches(ctx, folders, seen)
	a.UI.Clear()
	switch {
	case ctx.Err() != nil:
		return nil, ui.Coded(ui.Interrupted, errors.New("interrupted; nothing was written"), "")
	case err != nil:
		return nil, ui.Coded(ui.BadInput, err, "the folder must hold a Go module that builds, with `go` in PATH, or PHP, with `php` in PATH and the package php-parser")
	}
	if run != nil {
		p.Run = run.ID
	}
	return p, nil
}

// PatchShowCmd prints one.
type PatchShowCmd struct {
	ID string `arg:"" help:"Its ID, as the list names it."`
	patchFrom
}

// Help is shown below the flags.
func (PatchShowCmd) Help() string {
	return "Values that look like secrets are masked; the diff applies only where there are none.\n\nExamples:\n  kasoku patch show P1-3f2a\n  kasoku patch show P1-3f2a --source ~/app --json"
}

// shownPatch is a patch as --json prints it.
type shownPatch struct {
	ID      string `json:"id"`
	Message string `json:"message"`
	Diff    string `json:"diff"`
	Masked  bool   `json:"masked"` // a line of it holds a secret
}

// Run implements the command.
func (c *PatchShowCmd) Run(ctx context.Context, a *App) error {
	p, err := c.find(ctx, a, 0)
	if err != nil {
		return err
	}
	chosen, err := choose(p, []string{c.ID})
	if err != nil {
		return err
	}
	diff, err := patch.Diff(chosen)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "")
	}
	s := shownPatch{ID: chosen[0].ID, Message: chosen[0].Message(), Diff: diff, Masked: patch.Secret(diff)}
	if s.Masked {
		s.Diff = redact.Text(diff)
	}
	return a.print(s, func(w io.Writer) error {
		_, err := fmt.Fprint(w, ui.Clean(s.Message), "\n", ui.Clean(s.Diff))
		return err
	})
}

func choose(p *report.Patches, ids []string) ([]*patch.Place, error) {
	chosen, err := p.Choose(ids)
	if err != nil {
		return nil, ui.Coded(ui.BadInput, err, "`kasoku patch --all` lists all, with the reasons")
	}
	return chosen, nil
}

// PatchApplyCmd makes a branch.
type PatchApplyCmd struct {
	IDs    []string `arg:"" name:"id" help:"IDs, as the list names them; each becomes a commit."`
	Branch string   `help:"The new branch; it must begin with kasoku/ (default: kasoku/ and the first ID)." placeholder:"NAME"`
	patchFrom
}

// Help is shown below the flags.
func (PatchApplyCmd) Help() string {
	return "The commits stand on what is checked out. The checkout and its index stay as they are, and no hook runs. It is refused (exit 3) where work is not committed, or where there is such a branch.\n\n" +
		"Examples:\n  kasoku patch apply P1-3f2a\n  kasoku patch apply P1-3f2a P3-77aa --branch kasoku/fewer-statements\n  kasoku try --branch kasoku/fewer-statements"
}

// Run implements the command.
func (c *PatchApplyCmd) Run(ctx context.Context, a *App) error {
	p, err := c.find(ctx, a, 0)
	if err != nil {
		return err
	}
	chosen, err := choose(p, c.IDs)
	if err != nil {
		return err
	}
	repo, commit, err := commits(ctx, chosen)
	if err != nil {
		return err
	}
	name := c.Branch
	if name == "" {
		name = patch.BranchPrefix + chosen[0].ID
	}
	if err := repo.Branch(ctx, name, commit); err != nil {
		return ui.Coded(ui.BadInput, err, "name another one: --branch kasoku/NAME")
	}
	done := appliedPatches{Branch: name, Commit: commit, On: repo.Head}
	return a.print(done, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s is %s on what is checked out; the checkout is as it was.\n  git log -p %s..%s     read it\n  kasoku try --branch %s     build it, run it, judge it\n",
			name, ui.Plural(len(chosen), "commit", "commits"), repo.Head[:12], name, name)
		return err
	})
}

// appliedPatches is the result of apply as --json prints it.
type appliedPatches struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	On     string `json:"on"` // the commit that is checked out
}

// commits makes the commits of places, on no branch.
func commits(ctx context.Context, chosen []*patch.Place) (*patch.Repo, string, error) {
	program := chosen[0].Program()
	for _, at := range chosen {
		if at.Program() != program {
			return nil, "", ui.Coded(ui.BadInput, errors.New("the patches are of several folders"), "name one: --source FOLDER")
		}
	}
	repo, err := patch.OpenRepo(ctx, program)
	if err != nil {
		return nil, "", ui.Coded(ui.BadInput, err, "`kasoku patch show ID` prints the diff without one")
	}
	if err := repo.Clean(ctx, program); err != nil {
		return nil, "", ui.Coded(ui.BadInput, err, "commit it, or put it aside: git stash")
	}
	commit, err := repo.Commits(ctx, chosen)
	if err != nil {
		return nil, "", ui.Coded(ui.BadInput, err, "apply one, then look again: the others may have moved")
	}
	return repo, commit, nil
}

// PatchExportCmd writes files.
type PatchExportCmd struct {
	Dir string   `arg:"" help:"The folder that the files are written to."`
	IDs []string `arg:"" optional:"" name:"id" help:"IDs, as the list names them; default: all that are offered."`
	patchFrom
}

// Help is shown below the flags.
func (PatchExportCmd) Help() string {
	return "The files are those of git format-patch: `git am DIR/*.patch` applies them. A patch with a line that holds a secret is refused.\n\nExamples:\n  kasoku patch export patches\n  kasoku patch export patches P1-3f2a --source ~/app"
}

// Run implements the command.
func (c *PatchExportCmd) Run(ctx context.Context, a *App) error {
	p, err := c.find(ctx, a, 0)
	if err != nil {
		return err
	}
	chosen := p.All()
	if len(c.IDs) > 0 {
		if chosen, err = choose(p, c.IDs); err != nil {
			return err
		}
	}
	if len(chosen) == 0 {
		return ui.Coded(ui.BadInput, errors.New("no patch is offered"), "`kasoku patch --all` shows why")
	}
	for _, at := range chosen {
		diff, err := patch.Diff([]*patch.Place{at})
		if err != nil {
			return ui.Coded(ui.BadInput, err, "")
		}
		if patch.Secret(diff) {
			return ui.Coded(ui.BadInput, fmt.Errorf("a line of %s holds what looks like a secret", at.ID), "name the others, or take it as a commit: kasoku patch apply "+at.ID)
		}
	}
	repo, commit, err := commits(ctx, chosen)
	if err != nil {
		return err
	}
	files, err := repo.Export(ctx, c.Dir, commit)
	if err != nil {
		return ui.Coded(ui.Failure, err, "check that the folder can be written")
	}
	return a.print(exportedPatches{files}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, strings.Join(files, "\n"))
		return err
	})
}

// exportedPatches is the result of export as --json prints it.
type exportedPatches struct {
	Files []string `json:"files"` // that were written, in the order in which git am takes them
}

// stackThere reports whether there is a kasoku.yaml.
func stackThere(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
