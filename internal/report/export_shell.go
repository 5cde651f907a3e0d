package report

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/host"
)

// file exports the final bytes once, however often the file was changed.
func (x *exporter) file(c change.Change) error {
	if x.done[fileKey(c)] {
		fmt.Fprintf(&x.script, "# (%s is already in place in its final state)\n", comment(c.Path))
		return nil
	}
	x.done[fileKey(c)] = true
	before := hashOf(x.firsts[fileKey(c)].Before)
	c = x.finals[fileKey(c)]
	h := x.host(hostOf(c))
	fmt.Fprintf(&h.expect, "expect %s %s %s\n", quote(c.Path), before, hashOf(c.After))
	if hashOf(c.After) == "absent" {
		fmt.Fprintf(&x.script, "gone %s %s\n", quote(c.Path), before)
		return nil
	}
	data, err := x.bytes(c.After)
	if err != nil {
		return fmt.Errorf("%s: read its bytes from the journal: %w", c.Path, err)
	}
	name := exported(c)
	if x.options.Format != FormatSQL {
		if err := x.write(name, string(data), c.After.Mode.Perm()|0o600); err != nil {
			return err
		}
	}
	fmt.Fprintf(&x.script, "put %s %s %s %s -m %04o%s\n", quote("./"+name), quote(c.Path), before, c.After.Hash, c.After.Mode.Perm(), ownerFlags(c.After))
	return nil
}

// bytes of one side of a file change.
func (x *exporter) bytes(s *change.FileState) ([]byte, error) {
	if s == nil || s.Hash == "" {
		return nil, nil
	}
	if s.Content != nil && host.HashOf(s.Content) == s.Hash {
		return s.Content, nil
	}
	return x.blobs.Blob(s.Hash)
}

// hashOf a side of a file change, as the script names it.
func hashOf(s *change.FileState) string {
	if s == nil || s.Hash == "" {
		return "absent"
	}
	return string(s.Hash)
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

// scriptName of a host.
func scriptName(hostName string) string {
	if hostName == "local" {
		return "apply.sh"
	}
	return "apply-" + strings.ReplaceAll(hostName, "/", "_") + ".sh"
}

// writeScripts writes one script for each host.
func (x *exporter) writeScripts(kept []change.Tx) error {
	if !x.wants(FormatShell) {
		return nil
	}
	for _, name := range x.order {
		h := x.hosts[name]
		text := scriptHead + h.expect.String() + "if [ \"${1:-}\" = --check ]; then echo 'everything is as expected'; exit 0; fi\n" +
			h.script.String() + x.statements(kept, name) + activate(kept, name)
		if err := x.write(scriptName(name), text, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// statements tells which ones a host's script does not run.
func (x *exporter) statements(kept []change.Tx, hostName string) string {
	out := ""
	for _, service := range x.databases() {
		if x.serviceHost(kept, service) == hostName {
			line := fmt.Sprintf("Not run from here: %s < %s", strings.Join(x.client(service), " "), x.sqlName(service))
			out += "\necho " + quote(line) + "\n"
		}
	}
	return out
}

// needs is the strongest activation of each service on a host, and the
// services in order of their names.
func needs(kept []change.Tx, hostName string) (map[string]change.Activation, []string) {
	need := map[string]change.Activation{}
	var order []string
	for _, tx := range kept {
		for _, c := range tx.Changes {
			if c.Service == "" || c.Activate == change.None || hostOf(c) != hostName {
				continue
			}
			if _, known := need[c.Service]; !known {
				order = append(order, c.Service)
			}
			need[c.Service] = max(need[c.Service], c.Activate)
		}
	}
	slices.Sort(order)
	return need, order
}

// activate names what must be reloaded or restarted; how, differs by machine.
func activate(kept []change.Tx, hostName string) string {
	need, order := needs(kept, hostName)
	if len(order) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nif [ \"$changed\" = 0 ]; then echo 'nothing was different; no service needs anything'; exit 0; fi\n")
	b.WriteString("echo 'Now check the configuration of these services, then:'\n")
	for _, s := range order {
		fmt.Fprintf(&b, "echo %s\n", quote(fmt.Sprintf("  %s %s", need[s], s)))
	}
	return b.String()
}

const scriptHead = `#!/bin/sh
# Written by kasoku export. Puts the kept changes in place, in order; read it
# first. It can be run again: what is in place is left alone. Before it does
# anything it looks whether every file is as it was where it was measured, or
# in place already; "--check" only looks. Where files differ by intent,
# FORCE=1 overwrites them. SQL is in changes*.sql and is not run from here.
set -eu
cd "$(dirname "$0")"
changed=0

hash_of() { # path: its SHA-256, or "absent"
    if [ -e "$1" ]; then sha256sum <"$1" | cut -d ' ' -f 1; else echo absent; fi
}
expect() { # path, hash before, hash after
    now=$(hash_of "$1")
    if [ "$now" = "$2" ] || [ "$now" = "$3" ] || [ "${FORCE:-0}" = 1 ]; then return 0; fi
    echo "$1 is neither as it was measured ($2) nor in place ($3), but $now." >&2
    echo "Nothing was done. Compare it with files/ and changes.diff; FORCE=1 overwrites it." >&2
    exit 1
}
put() { # source, path, hash before, hash after, flags of install
    source=$1 path=$2
    expect "$2" "$3" "$4"
    if [ "$(hash_of "$2")" = "$4" ]; then echo "$2 is in place"; return 0; fi
    shift 4
    path=$(readlink -f -- "$path")
    install "$@" -- "$source" "$path.kasoku-new"
    if [ -e "$path" ] && command -v getfacl >/dev/null && [ -n "$(getfacl -cps -- "$path" 2>/dev/null)" ]; then
        mode=$(stat -c %a -- "$path.kasoku-new") # its bits for the group are the mask
        getfacl -cpE -- "$path" | setfacl --set-file=- -- "$path.kasoku-new"
        chmod "$mode" -- "$path.kasoku-new"
    fi
    mv -f -- "$path.kasoku-new" "$path"
    changed=1
    echo "$path was replaced"
}
gone() { # path, hash before
    expect "$1" "$2" absent
    if [ -e "$1" ]; then rm -f -- "$1"; changed=1; echo "$1 was removed"; fi
}

`
