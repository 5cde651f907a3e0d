package kernel

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/confedit/redis"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

const (
	// leastBacklog is the kernel's own somaxconn since Linux 5.4 (ip-sysctl.rst).
	leastBacklog = 4096
	// mostBacklog: programs and older kernels keep it in 16 bits.
	mostBacklog = 65535
)

// planBacklog lets more connections wait to be accepted. The queue is as long
// as the smaller of what the program asks for and net.core.somaxconn, both as
// they are when the program calls listen(2). So where the kernel's limit changes
// the server is restarted, also when that is taken back: else the queue would
// keep the length that it had meanwhile.
func planBacklog(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	t, err := targetOf(in, f)
	if err != nil {
		return nil, err
	}
	n := t.backlog()
	var sets []set
	for _, key := range []string{"net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog"} {
		if now, err := t.number(key); err != nil {
			return nil, err
		} else if now < int64(n) {
			sets = append(sets, set{key, strconv.Itoa(n)})
		}
	}
	var cs []change.Change
	if len(sets) > 0 {
		if cs, err = t.changes(sets, f.Text); err != nil {
			return nil, err
		}
	}
	title := t.describe(cs)
	full := t.full()
	for _, service := range slices.Sorted(maps.Keys(full)) {
		more, err := t.serverBacklog(in.Stack.Service(service), full[service], n, f.Text, len(sets) > 0)
		if err != nil {
			return nil, err
		}
		if len(more) > 0 {
			title += fmt.Sprintf(", %s listens with %d on %s", service, n, strings.Join(full[service], " and "))
		}
		cs = append(cs, more...)
	}
	if len(cs) == 0 {
		return nil, fmt.Errorf("the queues may hold %d already; whoever accepts is too slow", n)
	}
	return []planning.Plan{{ID: fmt.Sprintf("kernel.backlog:%s:%d", t.host, n), Title: "Let more connections wait: " + strings.TrimPrefix(title, ", "), Changes: cs}}, nil
}

// backlog is twice what could wait in a run like this one, rounded up to a
// power of two.
func (t *target) backlog() int {
	need := 2 * t.in.Evidence.Load.Workload
	for _, q := range t.sys.TCP.Queues {
		if q.Longest >= q.Limit {
			need = max(need, 2*q.Limit)
		}
	}
	n := leastBacklog
	for n < need && n < mostBacklog {
		n *= 2
	}
	return min(n, mostBacklog)
}

// full are the listeners of services that were nearly full, by service. Where
// only the kernel's counter tells, it is the one that most waited at.
func (t *target) full() map[string][]string {
	out := map[string][]string{}
	for _, q := range t.sys.TCP.Queues {
		// As diagnose takes a queue for full (tcp.accept-queue).
		if q.Service != "" && q.Limit > 0 && 100*q.Longest >= 85*q.Limit {
			out[q.Service] = append(out[q.Service], q.Listen)
		}
	}
	if len(out) == 0 && t.sys.ListenOverflows > 0 {
		for _, q := range t.sys.TCP.Queues { // fullest first
			if q.Service != "" && q.Longest > 0 {
				return map[string][]string{q.Service: {q.Listen}}
			}
		}
	}
	return out
}

// serverBacklog makes a server ask for n. anew: the kernel's limit changes, so
// the server must listen again even if it asks for enough.
func (t *target) serverBacklog(svc *stack.Service, listens []string, n int, why string, anew bool) ([]change.Change, error) {
	var cs []change.Change
	var err error
	switch svc.Kind {
	case stack.Nginx:
		cs, err = t.nginxBacklog(svc, listens, n, why)
	case stack.PHPFPM:
		cs, err = t.fpmBacklog(svc, listens, n, why)
	case stack.MariaDB, stack.MySQL:
		cs, err = t.databaseBacklog(svc, n, why)
	case stack.Redis:
		cs, err = t.redisBacklog(svc, n, why)
	default: // nothing to set: below
	}
	if err != nil || !anew {
		return cs, err
	}
	for i := range cs {
		cs[i].Activate = change.Restart
	}
	if len(cs) > 0 {
		return cs, nil
	}
	// Others take what the kernel allows, or ask for enough: they only have to
	// call listen(2) again.
	return []change.Change{{Kind: change.KindRestart, Host: t.host, Service: svc.Name, Activate: change.Restart, Why: why}}, nil
}

// nginxBacklog: 511 by default (nginx documentation, "listen": backlog). With
// another number a reload calls listen(2) again (ngx_configure_listening_sockets).
func (t *target) nginxBacklog(svc *stack.Service, listens []string, n int, why string) ([]change.Change, error) {
	conf, err := diagnose.NginxConfig(t.in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	// The parameter may stand once for each address.
	at := map[string]*nginx.Directive{}
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name == "listen" && len(d.Args) > 0 && anyListener(d.Args[0], listens) {
			old := at[d.Args[0]]
			if old == nil || backlogOf(old) < 0 && (backlogOf(d) >= 0 || slices.Contains(d.Args, "default_server") && !slices.Contains(old.Args, "default_server")) {
				at[d.Args[0]] = d
			}
		}
		return true
	})
	for _, d := range at {
		i := backlogOf(d)
		args := slices.Clone(d.Args)
		switch {
		case i < 0:
			args = append(args, fmt.Sprintf("backlog=%d", n))
		case atLeast(strings.TrimPrefix(args[i], "backlog="), n):
			continue
		default:
			args[i] = fmt.Sprintf("backlog=%d", n)
		}
		if err := d.SetArgs(args...); err != nil {
			return nil, err
		}
	}
	if len(at) == 0 {
		return nil, fmt.Errorf("%s has no listen directive for %s", svc.Name, strings.Join(listens, ", "))
	}
	return planning.FileChanges(t.in.Snapshot, svc, conf.Changed(), change.Reload, why)
}

func backlogOf(d *nginx.Directive) int {
	return slices.IndexFunc(d.Args, func(a string) bool { return strings.HasPrefix(a, "backlog=") })
}

func atLeast(text string, n int) bool {
	have, err := strconv.Atoi(text)
	return err == nil && have >= n
}

func anyListener(conf string, kernel []string) bool {
	return slices.ContainsFunc(kernel, func(k string) bool { return sameListener(conf, k) })
}

// sameListener compares an address of a configuration with one of the kernel:
// by port, or by the socket's path.
func sameListener(conf, kernel string) bool {
	if strings.HasPrefix(kernel, "unix:") {
		return strings.TrimPrefix(conf, "unix:") == strings.TrimPrefix(kernel, "unix:")
	}
	if strings.HasPrefix(conf, "unix:") || strings.HasPrefix(conf, "/") {
		return false
	}
	port := kernel[strings.LastIndexByte(kernel, ':')+1:]
	own := conf[strings.LastIndexByte(conf, ':')+1:]
	if _, err := strconv.Atoi(own); err != nil {
		own = "80" // an address alone
	}
	return own == port
}

// fpmBacklog: listen.backlog, 511 by default (PHP manual, "FPM configuration").
// A reload keeps the listening sockets, so it takes a restart.
func (t *target) fpmBacklog(svc *stack.Service, listens []string, n int, why string) ([]change.Change, error) {
	conf, err := diagnose.FPMConfig(t.in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	pools, err := diagnose.FPMPools(t.in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	for _, p := range pools {
		if v, ok := conf.Get(p.Name, "listen.backlog"); !anyListener(p.Listen, listens) || ok && atLeast(v.Text, n) {
			continue
		}
		if err := conf.Set(p.Name, "listen.backlog", strconv.Itoa(n)); err != nil {
			return nil, err
		}
	}
	return planning.FileChanges(t.in.Snapshot, svc, conf.Changed(), change.Restart, why)
}

// databaseBacklog: back_log, at most 900 by default and read at start (MariaDB
// Knowledge Base, "back_log").
func (t *target) databaseBacklog(svc *stack.Service, n int, why string) ([]change.Change, error) {
	if db := t.in.Snapshot.Databases[svc.Name]; db != nil && atLeast(db.Variables["back_log"], n) {
		return nil, nil
	}
	conf, err := diagnose.MySQLConfig(t.in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if err := setServer(conf, "back_log", strconv.Itoa(n)); err != nil {
		return nil, err
	}
	return planning.FileChanges(t.in.Snapshot, svc, conf.Changed(), change.Restart, why)
}

// setServer sets a server option in the group that has it, else in [mysqld].
func setServer(conf *ini.Config, option, value string) error {
	for _, s := range []string{"mysqld", "mariadb", "mariadbd", "server"} {
		if _, ok := conf.Get(s, option); ok {
			return conf.Set(s, option, value)
		}
	}
	return conf.Set("mysqld", option, value)
}

// redisBacklog: tcp-backlog, 511 by default and read at start (redis.conf).
func (t *target) redisBacklog(svc *stack.Service, n int, why string) ([]change.Change, error) {
	conf, err := redis.Load(svc.Config, t.read, t.glob)
	if err != nil {
		return nil, err
	}
	if v, ok := conf.Get("tcp-backlog"); ok && len(v.Args) > 0 && atLeast(v.Args[0], n) {
		return nil, nil
	}
	if _, err := conf.Set("tcp-backlog", strconv.Itoa(n)); err != nil {
		return nil, err
	}
	return planning.FileChanges(t.in.Snapshot, svc, conf.Changed(), change.Restart, why)
}
