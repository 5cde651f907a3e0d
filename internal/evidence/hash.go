package evidence

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// volatile variables change by themselves, not because somebody tunes.
var volatile = map[string]bool{
	"timestamp": true, "rand_seed1": true, "rand_seed2": true, "pseudo_thread_id": true, "identity": true,
	"insert_id": true, "last_insert_id": true, "error_count": true, "warning_count": true, "in_transaction": true,
	"last_gtid": true, "pseudo_slave_mode": true, "server_uuid": true, "executed_gtid_set": true, "wsrep_start_position": true,
	"system_time_zone": true,
}

// settable reports whether a variable belongs into the hash.
func settable(name string) bool {
	return !volatile[name] && !strings.HasPrefix(name, "gtid_")
}

// facts lists all that Hash covers, one "subject = value" a line, sorted:
// content, mode and owner of every configuration file, variables of databases
// except volatile ones, tables with their columns and indexes, which of a
// service's implementations runs and starts at boot, and kernel
// settings of the host's network and disks. Times, sizes and numbers of rows
// are left out.
func (s *Snapshot) facts() map[string]string {
	out := map[string]string{}
	for h, files := range s.Files {
		for p, f := range files {
			out["file "+h+":"+p] = fmt.Sprintf("%s mode %04o owner %d:%d", f.Hash, f.Mode, f.UID, f.GID)
		}
	}
	s.kernelFacts(out)
	for service, states := range s.Variants {
		for name, v := range states {
			out["implementation "+service+"/"+name] = v.String()
		}
	}
	for service, db := range s.Databases {
		for name, v := range db.Variables {
			if settable(name) {
				out["variable "+service+"."+name] = v
			}
		}
		for _, t := range db.Tables {
			table := service + "." + t.Schema + "." + t.Name
			out["table "+table] = t.Engine
			var columns []string
			for _, c := range t.Columns {
				columns = append(columns, fmt.Sprintf("%q %s null=%t", c.Name, c.Type, c.Nullable))
			}
			out["columns of "+table] = strings.Join(columns, ", ")
			for _, x := range t.Indexes {
				fact := fmt.Sprintf("%s unique=%t %q", x.Type, x.Unique, x.Columns)
				if x.Descending != nil {
					fact += fmt.Sprintf(" descending=%v", x.Descending)
				}
				if x.Hidden {
					fact += " hidden"
				}
				out["index "+table+"."+x.Name] = fact
			}
		}
	}
	return out
}

// Hash identifies the configuration: two snapshots with the same hash are of
// the same configuration (see facts). It proves that an undo put everything
// back.
func (s *Snapshot) Hash() string {
	facts := s.facts()
	var b strings.Builder
	for _, subject := range sortedKeys(facts) {
		fmt.Fprintf(&b, "%q = %q\n", subject, facts[subject])
	}
	return string(host.HashOf([]byte(b.String())))
}

// Differences says what differs from another snapshot, one subject a line with
// both values; nothing if the hashes are equal.
func (s *Snapshot) Differences(other *Snapshot) []string {
	a, b := s.facts(), other.facts()
	all := map[string]string{}
	for k := range a {
		all[k] = ""
	}
	for k := range b {
		all[k] = ""
	}
	var out []string
	for _, subject := range sortedKeys(all) {
		was, inA := a[subject]
		now, inB := b[subject]
		switch {
		case inA && !inB:
			out = append(out, subject+": is gone")
		case !inA && inB:
			out = append(out, subject+": is new")
		case was != now:
			out = append(out, fmt.Sprintf("%s: %s → %s", subject, shorten(was, 120), shorten(now, 120)))
		}
	}
	return out
}

// FileList names every configuration file for people: host, path, mode, owner,
// the first twelve digits of its hash, and the service that reads it.
func (s *Snapshot) FileList() []string {
	var out []string
	for _, h := range sortedKeys(s.Files) {
		for _, p := range sortedKeys(s.Files[h]) {
			f := s.Files[h][p]
			line := fmt.Sprintf("%s:%s %04o %d:%d %.12s %s", h, p, f.Mode, f.UID, f.GID, f.Hash, f.Service)
			if !f.Writable {
				line += " (read-only)"
			}
			out = append(out, line)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
