package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// Blobs gives the bytes that the journal keeps, by hash (change.Executor).
type Blobs interface {
	Blob(hash host.Hash) ([]byte, error)
}

// ErrNotEmpty is returned (wrapped) by Export for a folder that holds something.
var ErrNotEmpty = errors.New("the folder is not empty")

// Formats of an export.
const (
	FormatAll     = "all"
	FormatFiles   = "files"   // the files themselves and their diffs
	FormatAnsible = "ansible" // a playbook
	FormatShell   = "shell"   // scripts
	FormatSQL     = "sql"     // statements
)

// Formats that ExportOptions knows.
var Formats = []string{FormatAll, FormatFiles, FormatAnsible, FormatShell, FormatSQL}

// ExportOptions say what to write.
type ExportOptions struct {
	Format string // one of Formats; "" is all
	Force  bool   // write into a folder that holds something
	// Stack tells how services are activated; may be nil.
	Stack *stack.Stack
}

// Export writes the kept changes to dir, for review or for another machine,
// and returns the files it wrote (below dir):
//
//	files/HOST/…          final configuration files at their paths
//	changes.diff          what is different in them, with passwords masked
//	changes.sql           indexes and variables (changes-SERVICE.sql where there are several databases)
//	apply.sh              everything in order, with the reasons (apply-HOST.sh for other hosts)
//	playbook.yml          the same for Ansible
//	series/…              commits of source, as mails for git am
//	README.md             what is what
//
// A format leaves out what it does not need. Files keep their permission bits,
// because they may hold passwords. dir is created; if it holds something,
// ErrNotEmpty is returned unless Force is set. Nothing outside dir is written,
// whatever paths the changes name.
func Export(dir string, kept []change.Tx, blobs Blobs, o ExportOptions) ([]string, error) {
	if o.Format == "" {
		o.Format = FormatAll
	}
	if !slices.Contains(Formats, o.Format) {
		return nil, fmt.Errorf("export to %s: unknown format %q; it is one of %s", dir, o.Format, strings.Join(Formats, ", "))
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("export to %s: %w", dir, err)
	}
	if len(entries) > 0 && !o.Force {
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
	x := &exporter{root: root, blobs: blobs, options: o, firsts: firstFiles(kept), finals: finalFiles(kept), services: map[string]*strings.Builder{}, hosts: map[string]*exportHost{}, done: map[string]bool{}}
	if err := x.all(kept); err != nil {
		return nil, fmt.Errorf("export to %s: %w", dir, err)
	}
	return x.written, nil
}

// exporter writes below one folder (os.Root keeps it there).
type exporter struct {
	root    *os.Root
	blobs   Blobs
	options ExportOptions
	// The state of every file before the first and after the last change, by
	// host and path.
	firsts, finals map[string]change.Change
	written        []string
	services       map[string]*strings.Builder // SQL by database service
	script         strings.Builder             // shell of the change under way
	hosts          map[string]*exportHost
	order          []string        // of hosts
	mails          int             // written to series
	done           map[string]bool // files that the script has put in place
}

// exportHost is what is to be done on one host, in order.
type exportHost struct {
	script strings.Builder
	expect strings.Builder // what must hold before anything is done
	tasks  []task          // Ansible's
}

// wants reports whether a format is asked for.
func (x *exporter) wants(format string) bool {
	return x.options.Format == FormatAll || x.options.Format == format
}

func (x *exporter) host(name string) *exportHost {
	h := x.hosts[name]
	if h == nil {
		h = &exportHost{}
		x.hosts[name] = h
		x.order = append(x.order, name)
	}
	return h
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

// firstFiles: what a file was before the first of the kept changes counts.
func firstFiles(kept []change.Tx) map[string]change.Change {
	out := map[string]change.Change{}
	for _, tx := range kept {
		for _, c := range tx.Changes {
			if _, seen := out[fileKey(c)]; c.Kind == change.KindFile && !seen {
				out[fileKey(c)] = c
			}
		}
	}
	return out
}

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
	for _, tx := range kept {
		said := map[string]bool{}
		for _, c := range tx.Changes {
			x.script.Reset()
			if err := x.change(c); err != nil {
				return fmt.Errorf("change %d (%s): %w", tx.ID, tx.Title, err)
			}
			h := x.host(hostOf(c))
			if !said[hostOf(c)] {
				said[hostOf(c)] = true
				fmt.Fprintf(&h.script, "\n# %s\n", comment(fmt.Sprintf("%d. %s", tx.ID, tx.Title)))
			}
			if c.Why != "" {
				fmt.Fprintf(&h.script, "# %s\n", comment(c.Why))
			}
			h.script.WriteString(x.script.String())
			h.tasks = append(h.tasks, x.tasks(tx, c, x.script.String())...)
		}
	}
	return errors.Join(x.writeDiffs(), x.writeSQL(), x.writeScripts(kept), x.writePlaybook(kept), x.write("README.md", x.readme(kept), 0o644))
}

// change adds one change to the files, the SQL and the script.
func (x *exporter) change(c change.Change) error {
	switch c.Kind {
	case change.KindFile:
		return x.file(c)
	case change.KindDir:
		mode, owner := fs.FileMode(0o755), ""
		if c.After != nil {
			mode, owner = c.After.Mode.Perm(), ownerFlags(c.After)
		}
		fmt.Fprintf(&x.script, "install -d -m %04o%s -- %s\n", mode, owner, quote(c.Path))
	case change.KindLink:
		if c.Link.Remove {
			fmt.Fprintf(&x.script, "rm -f -- %s\n", quote(c.Path))
		} else {
			fmt.Fprintf(&x.script, "ln -sfn -- %s %s\n", quote(c.Link.Target), quote(c.Path))
		}
	case change.KindVariable:
		fmt.Fprintf(x.sql(c.Service), "-- %s; was %s\n%s;\n\n", comment(c.Why), comment(c.BeforeValue), setGlobal(c))
		fmt.Fprintf(&x.script, "# by SQL, service %s: %s\n", comment(c.Service), comment(setGlobal(c)))
	case change.KindIndex:
		stmt, err := indexSQL(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(x.sql(c.Service), "-- %s\n-- %s;\n%s\n", comment(c.Why), comment(stmt), unlessDone(c, stmt))
		fmt.Fprintf(&x.script, "# by SQL, service %s: %s\n", comment(c.Service), comment(stmt))
	case change.KindTable:
		if c.Table == nil {
			return fmt.Errorf("a change of kind %q names no table", c.Kind)
		}
		fmt.Fprintf(x.sql(c.Service), "-- %s; was %s\n%s;\n\n", comment(c.Why), comment(c.Table.Before), c.SQL())
		fmt.Fprintf(&x.script, "# by SQL, service %s: %s\n", comment(c.Service), comment(c.SQL()))
	case change.KindExec:
		line := quoteAll(c.Apply)
		if c.Dir != "" {
			line = "(cd " + quote(c.Dir) + " && " + line + ")"
		}
		fmt.Fprintf(&x.script, "%s\n# to undo: %s\n", line, comment(quoteAll(c.Undo)))
	case change.KindSysctl, change.KindUnit, change.KindProcess, change.KindPackage, change.KindGit, change.KindReady:
		return x.shell(c)
	case change.KindReplica, change.KindTurn:
		if c.Command == "" { // it only matters to putting back
			return nil
		}
		fmt.Fprintf(&x.script, "# by hand, on both servers: %s\n# %s\n", comment(c.Title()), comment(c.Command))
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
		if err := x.series(g, b); err != nil {
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
