package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/host"
)

// Blobs gives the bytes that the journal keeps, by hash (change.Executor).
type Blobs interface {
	Blob(hash host.Hash) ([]byte, error)
}

// ErrNotEmpty is returned (wrapped) by Export for a folder that holds something.
var ErrNotEmpty = errors.New("the folder is not empty")

// Export writes the kept changes to dir, for review or for another machine,
// and returns the files it wrote (below dir):
//
//	files/HOST/…    final configuration files at their paths, with their modes
//	changes.sql     indexes and variables
//	apply.sh        everything in order, with the reasons; it stops at the first error
//	README.md       what is what
//
// dir is created; if it holds something, ErrNotEmpty is returned unless force
// is set. Nothing outside dir is written, whatever paths the changes name.
func Export(dir string, kept []change.Tx, blobs Blobs, force bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("export to %s: %w", dir, err)
	}
	if len(entries) > 0 && !force {
		return nil, fmt.Errorf("export to %s: %w", dir, ErrNotEmpty)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("export to %s: %w", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("export to %s: %w", dir, err)
	}
	defer root.Close()
	kept = changing(kept)
	x := &exporter{root: root, blobs: blobs, finals: finalFiles(kept)}
	if err := x.all(kept); err != nil {
		return nil, fmt.Errorf("export to %s: %w", dir, err)
	}
	return x.written, nil
}

// exporter writes below one folder (os.Root keeps it there).
type exporter struct {
	root    *os.Root
	blobs   Blobs
	finals  map[string]change.Change // last state of every file, by host and path
	written []string
	sql     strings.Builder
	script  strings.Builder
	done    map[string]bool // files that the script has put in place
}

// changing leaves out transactions that only restarted services.
func changing(kept []change.Tx) []change.Tx {
	return slices.DeleteFunc(slices.Clone(kept), func(tx change.Tx) bool {
		return !slices.ContainsFunc(tx.Changes, func(c change.Change) bool { return c.Kind != change.KindRestart })
	})
}

func hostOf(c change.Change) string {
	if c.Host == "" {
		return "local"
	}
	return c.Host
}

func fileKey(c change.Change) string { return hostOf(c) + "\x00" + c.Path }

// finalFiles: when several kept changes replaced one file, the last counts.
func finalFiles(kept []change.Tx) map[string]change.Change {
	out := map[string]change.Change{}
	for _, tx := range kept {
		for _, c := range tx.Changes {
			if c.Kind == change.KindFile {
				out[fileKey(c)] = c
			}
		}
	}
	return out
}

// exported is where a file stands below the folder. Clean of an absolute path
// leaves no "..".
func exported(c change.Change) string {
	name := strings.ReplaceAll(hostOf(c), "/", "_")
	if name == "." || name == ".." {
		name = "_"
	}
	return path.Join("files", name, path.Clean("/"+c.Path))
}

func (x *exporter) all(kept []change.Tx) error {
	x.done = map[string]bool{}
	x.script.WriteString(scriptHead)
	for _, tx := range kept {
		fmt.Fprintf(&x.script, "\n# %s\n", comment(fmt.Sprintf("%d. %s", tx.ID, tx.Title)))
		for _, c := range tx.Changes {
			if err := x.change(c); err != nil {
				return fmt.Errorf("change %d (%s): %w", tx.ID, tx.Title, err)
			}
		}
	}
	x.activate(kept)
	if x.sql.Len() > 0 {
		if err := x.write("changes.sql", sqlHead+x.sql.String(), 0o644); err != nil {
			return err
		}
	}
	if err := x.write("apply.sh", x.script.String(), 0o755); err != nil {
		return err
	}
	return x.write("README.md", x.readme(kept), 0o644)
}

// change adds one change to the files, the SQL and the script.
func (x *exporter) change(c change.Change) error {
	if c.Why != "" {
		fmt.Fprintf(&x.script, "# %s\n", comment(c.Why))
	}
	switch c.Kind {
	case change.KindFile:
		return x.file(c)
	case change.KindDir:
		mode, owner := fs.FileMode(0o755), ""
		if c.After != nil {
			mode, owner = c.After.Mode.Perm(), ownerFlags(c.After)
		}
		fmt.Fprintf(&x.script, "install -d -m %04o%s -- %s\n", mode, owner, quote(c.Path))
	case change.KindVariable:
		fmt.Fprintf(&x.sql, "-- %s, service %s; was %s\n%s;\n\n", comment(c.Why), comment(c.Service), comment(c.BeforeValue), setGlobal(c))
		fmt.Fprintf(&x.script, "# changes.sql, service %s: %s\n", comment(c.Service), comment(setGlobal(c)))
	case change.KindIndex:
		stmt, err := indexSQL(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(&x.sql, "-- %s, service %s\n%s;\n\n", comment(c.Why), comment(c.Service), stmt)
		fmt.Fprintf(&x.script, "# changes.sql, service %s: %s\n", comment(c.Service), comment(stmt))
	case change.KindExec:
		line := quoteAll(c.Apply)
		if c.Dir != "" {
			line = "(cd " + quote(c.Dir) + " && " + line + ")"
		}
		fmt.Fprintf(&x.script, "%s\n# to undo: %s\n", line, comment(quoteAll(c.Undo)))
	case change.KindSysctl, change.KindUnit, change.KindPackage, change.KindGit:
		return x.shell(c)
	case change.KindRestart:
		// Named at the end with the others.
	default:
		return fmt.Errorf("unknown kind %q: it was written by a newer Kasoku", c.Kind)
	}
	return nil
}

// shell exports what a change of the kernel, a unit, a package or a checkout
// comes down to; a patch as a file of its own.
func (x *exporter) shell(c change.Change) error {
	if g := c.Git; g != nil && g.PatchHash != "" {
		b, err := x.blobs.Blob(g.PatchHash)
		if err != nil {
			return err
		}
		if err := x.write(path.Join("patches", string(g.PatchHash)), string(b), 0o644); err != nil {
			return err
		}
	}
	do, undo := c.Shell("patches")
	end := ""
	if c.Git != nil { // the others may be repeated
		fmt.Fprintf(&x.script, "if ! git -C %s rev-parse -q --verify %s >/dev/null; then\n", quote(c.Git.Dir), quote(c.Git.Branch))
		end = "fi\n"
	}
	for _, line := range do {
		fmt.Fprintf(&x.script, "%s\n", line)
	}
	x.script.WriteString(end)
	for _, line := range undo {
		fmt.Fprintf(&x.script, "# to undo: %s\n", comment(line))
	}
	return nil
}

// file exports the final bytes once, however often the file was changed.
func (x *exporter) file(c change.Change) error {
	if x.done[fileKey(c)] {
		fmt.Fprintf(&x.script, "# (%s is already in place in its final state)\n", comment(c.Path))
		return nil
	}
	x.done[fileKey(c)] = true
	c = x.finals[fileKey(c)]
	if c.After == nil || c.After.Hash == "" {
		fmt.Fprintf(&x.script, "rm -f -- %s\n", quote(c.Path))
		return nil
	}
	data := c.After.Content
	if data == nil || host.HashOf(data) != c.After.Hash {
		var err error
		if data, err = x.blobs.Blob(c.After.Hash); err != nil {
			return fmt.Errorf("%s: read its bytes from the journal: %w", c.Path, err)
		}
	}
	name := exported(c)
	if err := x.write(name, string(data), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(&x.script, "install -m %04o%s -- %s %s\n", c.After.Mode.Perm(), ownerFlags(c.After), quote("./"+name), quote(c.Path))
	return nil
}

// ownerFlags of install(1). Numbers, because names differ between machines
// less visibly than numbers do: a reader must look at them.
func ownerFlags(s *change.FileState) string {
	out := ""
	if s.UID >= 0 {
		out += fmt.Sprintf(" -o %d", s.UID)
	}
	if s.GID >= 0 {
		out += fmt.Sprintf(" -g %d", s.GID)
	}
	return out
}

// activate names what must be reloaded or restarted; how, differs by machine.
func (x *exporter) activate(kept []change.Tx) {
	need := map[string]change.Activation{}
	var order []string
	for _, tx := range kept {
		for _, c := range tx.Changes {
			if c.Service == "" || c.Activate == change.None {
				continue
			}
			if _, known := need[c.Service]; !known {
				order = append(order, c.Service)
			}
			need[c.Service] = max(need[c.Service], c.Activate)
		}
	}
	if len(order) == 0 {
		return
	}
	slices.Sort(order)
	x.script.WriteString("\necho 'Now check the configuration of these services, then:'\n")
	for _, s := range order {
		fmt.Fprintf(&x.script, "echo %s\n", quote(fmt.Sprintf("  %s %s", need[s], s)))
	}
}

func (x *exporter) write(name, data string, mode fs.FileMode) error {
	if err := x.root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
		return err
	}
	if err := x.root.WriteFile(filepath.FromSlash(name), []byte(data), mode); err != nil {
		return err
	}
	x.written = append(x.written, name)
	return nil
}

func (x *exporter) readme(kept []change.Tx) string {
	var b strings.Builder
	b.WriteString("# Changes that were proved faster\n\nWritten by `kasoku export`. Read before use: paths, owners and sizes are those of the machine that was measured.\n\n## Order\n\n")
	step := 1
	item := func(text string) {
		fmt.Fprintf(&b, "%d. %s\n", step, text)
		step++
	}
	if x.sql.Len() > 0 {
		item("`changes.sql`: run it on the database (`mysql < changes.sql`). Indexes are made online, but a large table takes its time. `SET GLOBAL` lasts until the server restarts; files below keep it.")
	}
	item("`apply.sh`: run it as root in this folder, or do by hand what it lists: it puts `files/HOST/…` at their paths. It is for the host `local`; the lines of other hosts belong there.")
	item("Check each service's configuration, then reload or restart it as `apply.sh` says at its end.")
	b.WriteString("\n## What was kept\n\n")
	for _, tx := range kept {
		fmt.Fprintf(&b, "- %d. %s\n", tx.ID, mdText(tx.Title))
		for _, c := range tx.Changes {
			if c.Why != "" {
				fmt.Fprintf(&b, "  - %s\n", mdText(c.Why))
			}
		}
	}
	b.WriteString("\nOn the machine where they were made, `kasoku undo ID` takes them back.\n")
	return b.String()
}

const scriptHead = `#!/bin/sh
# Written by kasoku export. Puts the kept changes in place, in order; read it first.
# SQL is in changes.sql and is not run from here.
set -eu
cd "$(dirname "$0")"
`

const sqlHead = "-- Written by kasoku export: indexes and variables of the kept changes, in order.\n\n"
