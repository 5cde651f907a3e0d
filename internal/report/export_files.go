package report

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/change"
)

// writeDiffs writes what is different in each file, from before the first to
// after the last kept change. Passwords are masked: it is for reading.
func (x *exporter) writeDiffs() error {
	if !x.wants(FormatFiles) {
		return nil
	}
	var keys []string
	for key := range x.finals {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		first, last := x.firsts[key], x.finals[key]
		c := change.Change{Kind: change.KindFile, Host: last.Host, Path: last.Path}
		for _, side := range []struct{ from, to **change.FileState }{{&first.Before, &c.Before}, {&last.After, &c.After}} {
			if *side.from == nil {
				continue
			}
			data, err := x.bytes(*side.from)
			if err != nil {
				return fmt.Errorf("%s: read its bytes from the journal: %w", c.Path, err)
			}
			state := **side.from
			state.Content = data
			*side.to = &state
		}
		if hostOf(last) != "local" {
			fmt.Fprintf(&b, "# on %s\n", comment(hostOf(last)))
		}
		b.WriteString(change.Diff(c))
	}
	if b.Len() == 0 {
		return nil
	}
	return x.write("changes.diff", b.String(), 0o644)
}

// writeSQL writes one file for each database.
func (x *exporter) writeSQL() error {
	if !x.wants(FormatSQL) && !x.wants(FormatShell) && !x.wants(FormatAnsible) {
		return nil
	}
	for _, service := range x.databases() {
		if err := x.write(x.sqlName(service), sqlHead+x.services[service].String(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// databases that there is SQL for.
func (x *exporter) databases() []string {
	var out []string
	for s := range x.services {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// sqlName is the file for one database's statements.
func (x *exporter) sqlName(service string) string {
	if len(x.services) == 1 {
		return "changes.sql"
	}
	return "changes-" + service + ".sql"
}

// sql is where one database's statements are written.
func (x *exporter) sql(service string) *strings.Builder {
	if x.services[service] == nil {
		x.services[service] = &strings.Builder{}
	}
	return x.services[service]
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

// readme says what is what.
func (x *exporter) readme(kept []change.Tx) string {
	var b strings.Builder
	b.WriteString("# Changes that were proved faster\n\nWritten by `kasoku export`. Read before use: paths, owners and sizes are those of the machine that was measured.\n\n")
	if x.wants(FormatAnsible) {
		b.WriteString("With Ansible: `ansible-playbook -i INVENTORY playbook.yml --check --diff`, then without `--check`. Hosts of the inventory are named as in kasoku.yaml (`local` is the machine where Kasoku ran).\n\n")
	}
	if x.mails > 0 {
		b.WriteString("Source: `series/` holds the commits that were kept, for `git am` on what was checked out before.\n\n")
	}
	b.WriteString("## Order\n\n")
	step := 1
	item := func(text string) {
		fmt.Fprintf(&b, "%d. %s\n", step, text)
		step++
	}
	for _, service := range x.databases() {
		if x.options.Format == FormatFiles {
			item(fmt.Sprintf("What was kept on the database %s, indexes and variables, is no file: `kasoku export --format sql` writes it.", service))
			continue
		}
		name := x.sqlName(service)
		item(fmt.Sprintf("`%s`: run it on the database %s (`%s < %s`). It can be run again. InnoDB makes indexes while others write, but a large table takes its time; other engines keep writers out until it is done. `SET GLOBAL` lasts until the server restarts; files below keep it.", name, service, strings.Join(x.client(service), " "), name))
	}
	for _, name := range x.order {
		if x.wants(FormatShell) {
			item(fmt.Sprintf("`%s`: run it as root on the host `%s` in this folder, with `--check` first; it puts `files/%s/…` at their paths, and can be run again.", scriptName(name), name, strings.ReplaceAll(name, "/", "_")))
		}
	}
	item("Check each service's configuration, then reload or restart it.")
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
