package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/patch"
	"kasoku/internal/prefetch"
	"kasoku/internal/ui"
)

// AcceleratorAddCmd makes a branch with the library.
type AcceleratorAddCmd struct {
	Source string `default:"." help:"The folder of the program's go.mod." placeholder:"FOLDER"`
	Branch string `default:"kasoku/accelerator" help:"The new branch; it must begin with kasoku/." placeholder:"NAME"`
}

// Help is shown below the flags.
func (AcceleratorAddCmd) Help() string {
	return "The commit copies the library to internal/accelerator, and changes the driver's name where the database is opened (sql.Open, sqlx). It is made only if the program builds with it. " +
		"The checkout and its index stay as they are, and no hook runs. Without a file of rules in ACCELERATOR_RULES the driver works as before. It is refused (exit 3) where work is not committed, or where nothing can be changed.\n\n" +
		"Examples:\n  kasoku accelerator add --source ~/app\n  kasoku try --branch kasoku/accelerator"
}

// addedAccelerator is the result of add as --json prints it.
type addedAccelerator struct {
	Branch string   `json:"branch"`
	Commit string   `json:"commit"`
	On     string   `json:"on"` // the commit that is checked out
	Opens  []string `json:"opens"`
	Left   []string `json:"left,omitempty"`
}

// Run implements the command.
func (c *AcceleratorAddCmd) Run(ctx context.Context, a *App) error {
	dir, err := filepath.Abs(c.Source)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return ui.Coded(ui.BadInput, err, "name the folder of go.mod: --source FOLDER")
	}
	in, err := prefetch.PlanInstall(dir)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "docs/how-to/use-the-accelerator.md tells how to add it by hand")
	}
	repo, err := patch.RepoOf(ctx, dir)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "git init, and commit the program")
	}
	if err := repo.CleanBelow(ctx, dir); err != nil {
		return ui.Coded(ui.BadInput, err, "commit it, or put it aside: git stash")
	}
	if err := builds(ctx, dir, in.Files); err != nil {
		return ui.Coded(ui.BadInput, err, "the program must build in "+dir+" with `go` in PATH, Go 1.21 or later")
	}
	message := "Open the database by the accelerator\n\nIt reads the rows of a loop at once, by the rules in the file that\nACCELERATOR_RULES names. Without one the driver works as before.\n\nChanged: " + strings.Join(in.Opens, ", ") + "\n"
	commit, err := repo.CommitFiles(ctx, in.Files, message)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "")
	}
	if err := repo.Branch(ctx, c.Branch, commit); err != nil {
		return ui.Coded(ui.BadInput, err, "name another one: --branch kasoku/NAME")
	}
	done := addedAccelerator{Branch: c.Branch, Commit: commit, On: repo.Head, Opens: in.Opens, Left: in.Left}
	return a.print(done, func(w io.Writer) error {
		for _, left := range in.Left {
			if _, err := fmt.Fprintf(w, "not changed: %s\n", ui.Clean(left)); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(w, "%s has the accelerator, used at %s; the checkout is as it was.\n  git log -p %s..%s     read it\n  kasoku accelerator rules --help     learn rules\n",
			c.Branch, ui.Clean(strings.Join(in.Opens, ", ")), repo.Head[:12], c.Branch)
		return err
	})
}

// builds compiles a module as if files stood in it. Nothing is written there.
func builds(ctx context.Context, dir string, files map[string][]byte) error {
	tmp, err := os.MkdirTemp("", "kasoku-accelerator")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	replace := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		to := filepath.Join(tmp, strconv.Itoa(i)+".go")
		if err := os.WriteFile(to, files[name], 0o600); err != nil {
			return err
		}
		replace[name] = to
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	list := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", os.DevNull, "-overlay", list, "./...")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("the program does not build with the accelerator: %w", err), errors.New(strings.TrimSpace(ui.Clean(string(out)))))
	}
	return nil
}
