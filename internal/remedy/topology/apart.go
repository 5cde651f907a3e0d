package topology

import (
	"fmt"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/database"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// pairOf is a database and the one on another host that its data may move to.
type pairOf struct {
	in          planning.Input
	f           diagnose.Finding
	main, spare *stack.Service
	has         evidence.Standby
	db          *evidence.Database
}

// planApart moves a database's data to another host: a copy that follows is
// prepared, the switch holds writes back, turns the two round and gives the
// applications the other address.
func planApart(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	has, planned := in.Snapshot.Standbys[f.Subject["spare"]]
	if !planned {
		return nil, nil // advice: kasoku.yaml names no database that the data may move to
	}
	p := pairOf{in: in, f: f, main: in.Stack.Service(f.Subject["database"]), spare: &has.Service, has: has, db: in.Snapshot.Databases[f.Subject["database"]]}
	if p.main == nil || p.db == nil || has.Variables == nil {
		return nil, fmt.Errorf("%s and %s are not known well enough", f.Subject["database"], f.Subject["spare"])
	}
	settings, err := p.settings()
	if err != nil {
		return nil, err
	}
	copied := change.Change{Kind: change.KindReplica, Host: planning.HostOf(p.spare), Service: p.spare.Name,
		Replica: &change.Replica{Main: p.main.Name, Address: f.Subject["address"], MainAddress: f.Subject["main_address"],
			Clients: strings.Fields(f.Subject["clients"]), OwnLog: !p.logs()},
		Why:     fmt.Sprintf("%s gets the data of %s and follows it, so that either can be written to from one moment to the next.", p.spare.Name, p.main.Name),
		Command: fmt.Sprintf("on %s: mariadb-dump --single-transaction --master-data --gtid -h %s … | mariadb; CHANGE MASTER TO … MASTER_USE_GTID = slave_pos; START SLAVE", p.spare.HostName(), f.Subject["main_address"])}
	changes, err := p.change(settings)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "database.apart:" + p.main.Name + ":" + p.spare.Name, Trades: []regulation.Trade{regulation.Security},
		Title:   fmt.Sprintf("Write to %s on %s instead of %s, which shares its host", p.spare.Name, p.spare.HostName(), p.main.Name),
		Prepare: [][]change.Change{settings, {copied}}, Changes: changes, Build: 15*time.Second + time.Duration(p.db.DataBytes/copiedPerSecond)*time.Second}}, nil
}

// copiedPerSecond is about what dump and load bring, bytes, on a slow host. It
// only tells how long the plan takes.
const copiedPerSecond = 10 << 20

// logs reports whether the main server has a binary log already.
func (p *pairOf) logs() bool { return diagnose.On(p.db.Variables["log_bin"]) }

// ownLog names the binary logs that Kasoku makes, in the data folder.
const ownLog = "kasoku-bin"

// logFor is how long a follower may be away before it cannot follow any more,
// seconds (three days); what is older is deleted.
const logFor = "259200"

// settings sets both servers for replication. Logs that this makes are deleted
// when it is put back, which needs a phase before: it is put back last.
func (p *pairOf) settings() ([]change.Change, error) {
	main, err := p.mainSettings()
	if err != nil {
		return nil, err
	}
	spare, err := p.spareSettings()
	if err != nil {
		return nil, err
	}
	var clean, out []change.Change
	for _, e := range []struct {
		svc  *stack.Service
		data string
		own  bool
	}{{p.main, p.db.Variables["datadir"], !p.logs()}, {p.spare, p.has.Variables["datadir"], true}} {
		if e.own && path.IsAbs(e.data) {
			clean = append(clean, change.Change{Kind: change.KindExec, Host: planning.HostOf(e.svc), Apply: []string{"true"},
				Undo: []string{"find", e.data, "-maxdepth", "1", "-name", ownLog + ".*", "-delete"},
				Why:  "The binary log that is made for replication goes when it is put back."})
		}
	}
	why := fmt.Sprintf("%s follows %s by its binary log; only that makes the switch and the way back lose nothing. It costs each commit of %s one more write.", p.spare.Name, p.main.Name, p.main.Name)
	for _, e := range []struct {
		svc  *stack.Service
		sets [][2]string
	}{{p.main, main}, {p.spare, spare}} {
		cs, err := p.edit(p.in.Snapshot, e.svc, e.sets, change.Restart, why)
		if err != nil {
			return nil, err
		}
		for i := range cs {
			cs[i].Phase = 1
		}
		out = append(out, cs...)
	}
	return append(clean, out...), nil
}

// edit writes settings into a server's own files.
func (p *pairOf) edit(snap *evidence.Snapshot, svc *stack.Service, sets [][2]string, act change.Activation, why string) ([]change.Change, error) {
	conf, err := diagnose.MySQLConfig(snap, svc)
	if err != nil {
		return nil, err
	}
	for _, s := range sets {
		if err := conf.Set(database.ServerSection(conf, s[0]), spelledIn(conf, s[0]), s[1]); err != nil {
			return nil, fmt.Errorf("%s: set %s: %w", svc.Name, s[0], err)
		}
	}
	return planning.FileChanges(snap, svc, conf.Changed(), act, why)
}

// spelledIn is the option as the files spell it already.
func spelledIn(conf *ini.Config, option string) string {
	for _, k := range conf.Keys(database.ServerSection(conf, option)) {
		if plain(k) == option {
			return k
		}
	}
	return option
}

func plain(option string) string { return strings.ReplaceAll(option, "-", "_") }

// mainSettings are those that the server lacks whose data is copied.
func (p *pairOf) mainSettings() ([][2]string, error) {
	var out [][2]string
	if !p.logs() {
		out = append(out, [2]string{"log_bin", ownLog}, [2]string{"binlog_format", "ROW"}, [2]string{"sync_binlog", "1"}, [2]string{"binlog_expire_logs_seconds", logFor})
	}
	if !diagnose.On(p.db.Variables["log_slave_updates"]) {
		out = append(out, [2]string{"log_slave_updates", "1"})
	}
	if p.db.Variables["sync_master_info"] != "1" {
		out = append(out, followsForSure)
	}
	bind, err := listening(p.db.Variables, p.f.Subject["main_address"])
	return append(out, bind...), err
}

// listening lets a server listen at an address, too; nothing if it does.
func listening(vars map[string]string, address string) ([][2]string, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	now := vars["bind_address"]
	for a := range strings.SplitSeq(now, ",") {
		if a == "" || a == "*" || a == "0.0.0.0" || a == "::" || a == host {
			return nil, nil
		}
	}
	// Several addresses: MariaDB 10.11 (manual, "bind_address").
	if !diagnose.VersionAtLeast(vars["version"], "10.11") {
		return [][2]string{{"bind_address", "0.0.0.0"}}, nil
	}
	return [][2]string{{"bind_address", now + "," + host}}, nil
}

// followsForSure: that a server follows the other one (master.info) is on disk before
// the other one takes writes. By default it is there after 10,000 events only, and a
// server that lost power would come back following nobody, and be let be written to.
// What it has of relay logs need not outlive that: without, it follows still, by name.
var followsForSure = [2]string{"sync_master_info", "1"}

// notCarried are options that are of one host, or of the pair.
var notCarried = []string{"user", "pid_file", "socket", "port", "basedir", "datadir", "tmpdir", "lc_messages_dir", "log_error", "general_log", "general_log_file",
	"slow_query_log_file", "bind_address", "server_id", "log_bin", "log_bin_index", "log_basename", "relay_log", "relay_log_index", "binlog_format", "sync_binlog",
	"binlog_expire_logs_seconds", "expire_logs_days", "log_slave_updates", "read_only", "skip_networking", "skip_bind_address", "plugin_dir", "plugin_load", "plugin_load_add",
	"innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory", "init_file", "chroot", "slave_load_tmpdir"}

// keepsWrites are settings whose weaker values lose acknowledged writes in a
// crash: the spare gets the values that the other has, wherever those come from.
var keepsWrites = []string{"innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_flush_log_at_timeout", "innodb_checksum_algorithm"}

// spareSettings are like the other server's, and those of one that follows.
func (p *pairOf) spareSettings() ([][2]string, error) {
	conf, err := diagnose.MySQLConfig(p.in.Snapshot, p.main)
	if err != nil {
		return nil, err
	}
	var out [][2]string
	for _, section := range conf.Sections() {
		if !database.ServerGroup(section) {
			continue
		}
		for _, key := range conf.Keys(section) {
			v, ok := conf.Get(section, key)
			if stack.FiltersReplication(plain(key)) {
				return nil, fmt.Errorf("%s has %s, which leaves writes out of replication, so that they would be lost; take it out of its configuration and restart it", p.main.Name, key)
			}
			if name := plain(key); ok && !slices.Contains(notCarried, name) && !strings.HasPrefix(name, "ssl") && !strings.HasPrefix(name, "report_") {
				out = append(out, [2]string{name, v.Text})
			}
		}
	}
	for _, name := range keepsWrites {
		if now, want := p.has.Variables[name], p.db.Variables[name]; want != "" && now != want {
			out = append(out, [2]string{name, want})
		}
	}
	format, sync := "ROW", "1"
	if p.logs() {
		format, sync = p.db.Variables["binlog_format"], p.db.Variables["sync_binlog"]
	}
	id := p.has.Variables["server_id"]
	if id == p.db.Variables["server_id"] || id == "0" {
		id = otherID(p.f.Subject["address"])
	}
	out = append(out, [2]string{"server_id", id}, [2]string{"log_bin", ownLog}, [2]string{"binlog_format", format}, [2]string{"sync_binlog", sync},
		[2]string{"binlog_expire_logs_seconds", logFor}, [2]string{"log_slave_updates", "1"}, followsForSure, [2]string{"read_only", "1"})
	bind, err := listening(p.has.Variables, p.f.Subject["address"])
	return append(out, bind...), err
}

// otherID is a server_id out of an address: the same on each host for good, and
// not the default of any server, 1.
func otherID(address string) string {
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host).To4()
	if ip == nil {
		return "2"
	}
	return fmt.Sprint(int(ip[2])<<8 | int(ip[3]) + 2)
}

// change is the switch. The applications go first: until the databases are turned
// round, a moment later, they can read but not write; on the way back they go
// last, and stay where they are if the databases cannot be turned back.
func (p *pairOf) change(prepared []change.Change) ([]change.Change, error) {
	snap := planning.WithChanges(p.in.Snapshot, prepared)
	out, err := p.applications()
	if err != nil {
		return nil, err
	}
	held, err := p.edit(snap, p.main, [][2]string{{"read_only", "1"}}, change.None, fmt.Sprintf("After a restart, too, %s takes no writes while %s does.", p.main.Name, p.spare.Name))
	if err != nil {
		return nil, err
	}
	freed, err := p.edit(snap, p.spare, [][2]string{{"read_only", "0"}}, change.None, p.spare.Name+" is written to after a restart, too.")
	if err != nil {
		return nil, err
	}
	turn := func(from, to *stack.Service, fromAt, toAt string, half bool) change.Change {
		return change.Change{Kind: change.KindTurn, Host: planning.HostOf(from), Service: from.Name, Phase: 1,
			Turn:    &change.Turn{To: to.Name, FromAddress: fromAt, ToAddress: toAt, Half: half},
			Why:     fmt.Sprintf("Writes are held back until %s has all of them.", p.spare.Name),
			Command: fmt.Sprintf("%s: SET GLOBAL read_only = 1; %s: SELECT MASTER_GTID_WAIT(…); STOP SLAVE; RESET SLAVE ALL; %s: CHANGE MASTER TO …; START SLAVE; %s: SET GLOBAL read_only = 0", p.main.Name, p.spare.Name, p.main.Name, p.spare.Name)}
	}
	main, spare := p.f.Subject["main_address"], p.f.Subject["address"]
	settled := turn(p.main, p.spare, main, spare, false)
	settled.Phase, settled.Turn.Settle, settled.Command = 0, true, ""
	settled.Why = fmt.Sprintf("Put back, %s takes writes also if it was restarted while its file said that it does not.", p.main.Name)
	out = append(append(append(out, settled), held...), turn(p.spare, p.main, spare, main, true), turn(p.main, p.spare, main, spare, false))
	for _, c := range freed {
		c.Phase = 2
		out = append(out, c)
	}
	return out, nil
}

// applications get the other address.
func (p *pairOf) applications() ([]change.Change, error) {
	name, port, err := net.SplitHostPort(p.f.Subject["address"])
	if err != nil {
		return nil, err
	}
	var out []change.Change
	for line := range strings.SplitSeq(p.f.Subject["apps"], "\n") {
		of, file, _ := strings.Cut(line, " ")
		app := p.in.Stack.Service(of)
		if app == nil {
			return nil, fmt.Errorf("there is no service %q", of)
		}
		content, n := diagnose.MoveDatabase(p.in.Snapshot.Files[planning.HostOf(app)][file].Content, diagnose.Place(p.in.Snapshot, app, p.main), name, port)
		if n == 0 {
			return nil, fmt.Errorf("%s does not name %s any more", file, p.main.Name)
		}
		act := change.Restart
		if app.RunsIn != "" {
			act = change.Reload
		}
		c, err := planning.FileChange(p.in.Snapshot, app, file, content, act, p.f.Text)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}
