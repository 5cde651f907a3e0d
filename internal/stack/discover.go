package stack

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// instance is one running service during discovery.
type instance struct {
	svc     Service
	master  *process
	pids    []int
	sockets []socket
	// backends are the endpoints that its configuration calls.
	backends []string
	worker   bool // background work, which no request passes through
	// byDefault are the stores that its program names where the environment says nothing,
	// and the files in which it does.
	byDefault [][2]string
}

// discovery is the state of looking at one host.
type discovery struct {
	place Place
	h     host.Host
	procs *processes
	// all are the hosts that are looked at together, this one among them.
	all []*discovery
	// addresses and names by which other hosts reach this one.
	addresses []string
	found     []*instance
	notes     []string
	// allOwners maps listening endpoints to processes; built when first needed.
	allOwners map[string]int
}

func (d *discovery) note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(d.notes, n) {
		d.notes = append(d.notes, n)
	}
}

// discoverers fill in what their kind's process tells, in the order in which a
// request passes the services. MariaDB stands for MySQL too: only the program
// itself says which it is.
var discoverers = []struct {
	kind Kind
	name string // of the first instance; others get a number
	fill func(d *discovery, ctx context.Context, in *instance)
}{
	{Varnish, "varnish", (*discovery).varnish},
	{Nginx, "web", (*discovery).nginx},
	{Apache, "apache", (*discovery).apache},
	{PHPFPM, "php", (*discovery).phpFPM},
	{Memcached, "cache", (*discovery).memcached},
	{Redis, "redis", (*discovery).redis},
	{MariaDB, "db", (*discovery).database},
}

// services finds the instances of all kinds that have programs of their own.
func (d *discovery) services(ctx context.Context) error {
	for _, e := range discoverers {
		for _, p := range d.procs.masters(ctx, &Service{Kind: e.kind}) {
			if err := d.add(ctx, e.kind, e.name, p, e.fill); err != nil {
				return err
			}
		}
	}
	return d.haproxies(ctx)
}

// add makes an instance of a main process.
func (d *discovery) add(ctx context.Context, kind Kind, name string, p *process, fill func(*discovery, context.Context, *instance)) error {
	if d.elsewhere(ctx, p) {
		if len(d.all) > 1 && d.place.Name == LocalHost { // nobody asked for them: hosts were named
			return nil
		}
		d.note("Process %d (%s) runs in a container; its files cannot be tuned from here, so it was left out.", p.pid, p.comm)
		return nil
	}
	in := &instance{master: p, pids: d.procs.family(p.pid)}
	in.svc = Service{Name: d.freeName(name), Kind: kind, Host: d.place.Name}
	exe := link(ctx, d.h, p.pid, "exe")
	if exe == "" {
		d.note("The program of process %d (%s) cannot be read; run `kasoku init` as root to find all of it.", p.pid, p.comm)
		exe = lookUp(ctx, d.h, p.comm)
	}
	hidden := kind == Redis && filepath.Base(exe) == redisCheck
	if hidden {
		exe = filepath.Join(filepath.Dir(exe), "redis-server")
	}
	in.svc.Binary = exe
	if err := d.readSockets(ctx, in); err != nil {
		return err
	}
	in.svc.Version = d.version(ctx, kind, exe)
	fill(d, ctx, in)
	d.control(ctx, in)
	if hidden && in.svc.ControlMethod() == MethodProcess { // a unit or supervisor's file has them
		d.note("%[1]s: Redis hides the arguments that it was started with; add those besides the configuration file to %[1]s's control.start.", in.svc.Name)
	}
	d.found = append(d.found, in)
	return nil
}

// elsewhere reports whether the process runs in another PID namespace, that is
// in a container.
func (d *discovery) elsewhere(ctx context.Context, p *process) bool {
	own, err1 := d.h.Stat(ctx, "/proc/self/ns/pid")
	its, err2 := d.h.Stat(ctx, fmt.Sprintf("/proc/%d/ns/pid", p.pid))
	return err1 == nil && err2 == nil && own.Target != "" && its.Target != "" && own.Target != its.Target
}

// freeName is the name, with the first free number from 2 on if it is taken.
func (d *discovery) freeName(name string) string {
	taken := func(n string) bool {
		return slices.ContainsFunc(d.all, func(o *discovery) bool {
			return slices.ContainsFunc(o.found, func(in *instance) bool { return in.svc.Name == n })
		})
	}
	for i, n := 2, name; ; i++ {
		if !taken(n) {
			return n
		}
		n = fmt.Sprintf("%s%d", name, i)
	}
}

// readSockets finds where the instance listens, TCP first: the sockets that its
// main process holds, and those of its children only if it holds none (Varnish).
// What a child opened for itself is gone after a restart (the agent and the
// application processes of an Apache with Passenger, a program that takes its log).
func (d *discovery) readSockets(ctx context.Context, in *instance) error {
	table, err := readSockets(ctx, d.h, in.master.pid)
	var own []socket
	if err == nil {
		in.sockets, err = table.of(ctx, d.h, in.pids)
	}
	if err == nil {
		own, err = table.of(ctx, d.h, []int{in.master.pid})
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		d.note("The sockets of process %d (%s) cannot be read; run `kasoku init` as root, or fill in listen.", in.master.pid, in.master.comm)
	}
	if in.svc.Listen = listening(own); len(in.svc.Listen) == 0 {
		in.svc.Listen = listening(in.sockets)
	}
	return nil
}

// listening are the endpoints of the sockets that take connections by an address or
// a path, sorted, TCP first.
func listening(sockets []socket) []string {
	var tcp, unix []string
	for _, s := range sockets {
		switch {
		case !s.listening:
		case s.path == "":
			tcp = append(tcp, s.endpoint())
		case strings.HasPrefix(s.path, "/"):
			unix = append(unix, s.endpoint())
		}
	}
	slices.Sort(tcp)
	slices.Sort(unix)
	return slices.Compact(append(tcp, unix...))
}

// versionArgs ask a kind's program for its version.
var versionArgs = map[Kind]string{Nginx: "-v", Apache: "-v", PHPFPM: "-v", MariaDB: "--version", Memcached: "-V", Redis: "--version", Varnish: "-V"}

var versionPattern = regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+~-]*`)

func (d *discovery) version(ctx context.Context, kind Kind, bin string) string {
	if versionArgs[kind] == "" {
		return ""
	}
	text := d.output(ctx, bin, versionArgs[kind])
	first, _, _ := strings.Cut(text, "\n")
	return versionPattern.FindString(first)
}

// output is all that a program prints; "" if it cannot be run.
func (d *discovery) output(ctx context.Context, bin string, args ...string) string {
	if bin == "" {
		return ""
	}
	res, err := d.h.Run(ctx, host.Command{Argv: append([]string{bin}, args...)})
	if err != nil {
		return ""
	}
	return string(res.Stdout) + string(res.Stderr)
}

// control fills in how the instance is controlled: its systemd unit, or the
// PID file that holds its PID and the command line that starts it.
func (d *discovery) control(ctx context.Context, in *instance) {
	svc := &in.svc
	if init := d.procs.byPID[1]; init != nil && init.comm == "systemd" {
		if data, err := d.h.ReadFile(ctx, fmt.Sprintf("/proc/%d/cgroup", in.master.pid)); err == nil {
			if unit := parseCgroupUnit(data); unit != "" && d.loaded(ctx, unit) {
				svc.Control = Control{Method: MethodSystemd, Unit: unit}
				return
			}
		}
	}
	svc.Control.Method = MethodProcess
	file := svc.Control.PIDFile
	if file == "" {
		file = readSettings(ctx, d.h, svc).pidFile
	}
	svc.Control.PIDFile = ""
	if file != "" {
		data, err := d.h.ReadFile(ctx, file)
		if err == nil && strings.TrimSpace(string(data)) == fmt.Sprint(in.master.pid) {
			svc.Control.PIDFile = file
		}
	}
	if len(svc.Control.Start) == 0 && svc.Kind == App && titled(ctx, d, in.master) {
		d.note("%s (process %d) shows a title instead of its command line (%s); write control.start, or name its unit.", svc.Name, in.master.pid, strings.Join(in.master.cmdline, " "))
		return
	}
	if len(svc.Control.Start) == 0 {
		svc.Control.Start = d.commandLine(in)
	}
	svc.Control.Start = d.asUser(ctx, in, svc.Control.Start)
}

// loaded reports whether systemd knows the unit.
func (d *discovery) loaded(ctx context.Context, unit string) bool {
	return strings.TrimSpace(d.output(ctx, "systemctl", "show", "--property=LoadState", "--value", unit)) == "loaded"
}

// commandLine is the process's own, with its executable's full path.
func (d *discovery) commandLine(in *instance) []string {
	if len(in.master.cmdline) == 0 {
		return nil
	}
	argv := slices.Clone(in.master.cmdline)
	if in.svc.Binary != "" && filepath.Base(argv[0]) == filepath.Base(in.svc.Binary) {
		argv[0] = in.svc.Binary
	}
	return argv
}

// asUser puts setpriv(1) in front of a command line if the service runs as
// another user than Kasoku and nothing in its options makes it change users.
func (d *discovery) asUser(ctx context.Context, in *instance, argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	status := func(pid string) int {
		data, err := d.h.ReadFile(ctx, "/proc/"+pid+"/status")
		if err != nil {
			return -1
		}
		return parseStatusUID(data)
	}
	own, its := status("self"), status(fmt.Sprint(in.master.pid))
	if own != 0 || its <= 0 || changesUser(ctx, d.h, &in.svc, argv) {
		return argv
	}
	uid := fmt.Sprint(its)
	return append([]string{"setpriv", "--reuid=" + uid, "--regid=" + uid, "--init-groups", "--"}, argv...)
}

// changesUser reports whether a server that is started as root gives that up by
// its own options.
func changesUser(ctx context.Context, h host.Host, svc *Service, argv []string) bool {
	_, short := optionAfter(argv, "-u")
	_, long := flagValue(argv, "--user")
	_, jail := optionAfter(argv, "-j")
	if svc.IsDatabase() && svc.Config != "" {
		return long || short || databaseOptions(ctx, h, svc)("user") != ""
	}
	return short || long || svc.Kind == Varnish && jail
}

// frontDoor guesses load.url: where the first service of the outermost kind serves sites
// and not only sends visitors to another port; one whose sites have names comes first.
func (d *discovery) frontDoor(ctx context.Context, s *Stack) {
	outer := s.balancers()
	for _, kind := range []Kind{Varnish, Nginx, Apache, App} {
		outer = append(outer, s.OfKind(kind)...)
	}
	for _, svc := range outer {
		best, bestRank, at := door{}, -1, ""
		for _, l := range svc.Listen {
			address := d.reachable(svc, l)
			if address == "" {
				continue
			}
			o := d.doorAt(ctx, svc, portOf(address))
			rank := o.rank()
			if at == "" || rank > bestRank {
				best, bestRank, at = o, rank, address
			}
		}
		if at == "" {
			continue
		}
		url, named := d.siteURL(ctx, svc, d.of(svc).both(ctx, at), best)
		s.Load.URL = url
		on := d.of(svc)
		on.note("load.url is a guess (%s, where %s listens); check it.", s.Load.URL, svc.Name)
		if named != "" {
			on.note("Sites of %s have names (%s): if answers depend on the name, write it in load.url, and let this machine resolve it to the service's address (/etc/hosts).", svc.Name, named)
		}
		if svc.Kind == Apache && svc.ControlMethod() == MethodSystemd {
			on.note("Where a run shows that it would help, an nginx may be put in front of %s, if services has %s", svc.Name, FrontLine(svc))
		}
		if svc.HostName() != LocalHost {
			on.note("Load goes to another machine only if its address is allowed: write it under load.allow, if it is yours to load.")
		}
		return
	}
	s.Load.URL = "http://127.0.0.1"
	d.note("No front door was found; load.url is only an example.")
}

// of is the discovery on a service's host.
func (d *discovery) of(svc *Service) *discovery {
	for _, o := range d.all {
		if o.place.Name == svc.HostName() {
			return o
		}
	}
	return d
}

// resolvable is an address with a name that this machine can resolve, or else with an
// IP address of the service's host: the name that ssh is given may be ssh's alone.
func (d *discovery) resolvable(ctx context.Context, svc *Service, address string) string {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if _, err := net.DefaultResolver.LookupHost(ctx, name); err == nil {
		return address
	}
	for _, o := range d.all {
		for _, a := range o.addresses {
			if ip, err := netip.ParseAddr(a); err == nil && o.place.Name == svc.HostName() && ip.Is4() && !ip.IsLoopback() {
				return net.JoinHostPort(a, port)
			}
		}
	}
	return address
}

// resolveUnder makes a path absolute below dir.
func resolveUnder(dir, p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return path.Join(dir, p)
}
