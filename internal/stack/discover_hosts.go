package stack

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// Place is a host that is looked at by DiscoverHosts.
type Place struct {
	Name   string // in kasoku.yaml
	Config HostConfig
	Host   host.Host
}

// DiscoverHosts looks at what runs on the hosts and returns a stack to start
// from, and notes: what was not found, what was guessed, what a person must fill
// in. It only reads /proc and configuration, and asks programs for their version.
// No password is looked for or copied. The services of all hosts are in one stack,
// and those that talk to each other over the network are linked by the
// addresses and names that their configurations, settings files and standing
// connections name.
func DiscoverHosts(ctx context.Context, places []Place) (*Stack, []string, error) {
	var all []*discovery
	for _, p := range places {
		procs, err := readProcesses(ctx, p.Host)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, &discovery{place: p, h: p.Host, procs: procs})
	}
	for _, d := range all {
		d.all = all
		if len(all) > 1 {
			d.readAddresses(ctx)
		}
		if err := d.services(ctx); err != nil {
			return nil, nil, err
		}
	}
	for _, d := range all {
		d.apps(ctx)
	}
	for _, d := range all {
		d.workers(ctx)
	}
	s := &Stack{Version: 1, Load: LoadConfig{Scenario: "scenario.yaml"}}
	for _, d := range all {
		d.links(ctx)
	}
	leaveOutStrangers(all)
	renumber(all)
	for _, d := range all {
		for _, in := range d.found {
			d.unsettled(in)
			s.Services = append(s.Services, in.svc)
		}
		if d.place.Name != LocalHost {
			if s.Hosts == nil {
				s.Hosts = map[string]HostConfig{}
			}
			s.Hosts[d.place.Name] = d.place.Config
		}
		if len(d.found) == 0 && (d.place.Name != LocalHost || len(all) == 1) {
			d.note("No nginx, Apache, PHP-FPM, MariaDB, MySQL, memcached, Redis, Varnish or HAProxy runs on %s; start the services first, or write kasoku.yaml by hand.", d.h.Name())
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("discover services on %s: %w", d.h.Name(), err)
		}
	}
	all[0].frontDoor(ctx, s)
	var notes []string
	for _, d := range all {
		for _, n := range d.notes {
			if len(all) > 1 {
				n = d.place.Name + ": " + n
			}
			notes = append(notes, n)
		}
	}
	return s, notes, nil
}

// leaveOutStrangers leaves out what runs on this machine where other hosts were named
// and that has nothing to do with them: whoever names hosts means these, and a
// database that happens to run beside Kasoku is not theirs.
func leaveOutStrangers(all []*discovery) {
	if len(all) < 2 {
		return
	}
	near := map[string][]string{}
	meet := func(a, b string) { near[a], near[b] = append(near[a], b), append(near[b], a) }
	var queue []string
	for _, d := range all {
		for _, in := range d.found {
			for _, to := range in.svc.TalksTo {
				meet(in.svc.Name, to)
			}
			if in.svc.RunsIn != "" {
				meet(in.svc.Name, in.svc.RunsIn)
			}
			if d.place.Name != LocalHost {
				queue = append(queue, in.svc.Name)
			}
		}
	}
	theirs := map[string]bool{}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if !theirs[name] {
			theirs[name] = true
			queue = append(queue, near[name]...)
		}
	}
	for _, d := range all {
		if d.place.Name != LocalHost {
			continue
		}
		var out []string
		d.found = slices.DeleteFunc(d.found, func(in *instance) bool {
			if theirs[in.svc.Name] {
				return false
			}
			out = append(out, in.svc.Name)
			return true
		})
		if len(out) > 0 {
			d.notes = slices.DeleteFunc(d.notes, func(n string) bool {
				return slices.ContainsFunc(out, func(name string) bool { return strings.HasPrefix(n, name+" ") || strings.HasPrefix(n, name+":") })
			})
			d.note("%s of this machine talk to none of the named hosts, so they were left out; `kasoku init` without --host finds them.", strings.Join(out, ", "))
		}
	}
}

var numbered = regexp.MustCompile(`^(.*?)(\d+)$`)

// renumber gives services the names that were free for them without those that were
// left out: db instead of db2.
func renumber(all []*discovery) {
	for _, d := range all {
		for _, in := range d.found {
			m := numbered.FindStringSubmatch(in.svc.Name)
			if m == nil || m[1] == "" {
				continue
			}
			was, free := in.svc.Name, d.freeName(m[1])
			if len(free) > len(was) || len(free) == len(was) && free >= was {
				continue
			}
			rename(all, was, free)
		}
	}
}

// rename a service wherever it is named, also in what people are told.
func rename(all []*discovery, was, now string) {
	word := regexp.MustCompile(`(^|[ (])` + regexp.QuoteMeta(was) + `([ ,:;.)]|$)`) // no part of a path
	for _, d := range all {
		for _, in := range d.found {
			for _, name := range []*string{&in.svc.Name, &in.svc.RunsIn, &in.svc.FrontFor, &in.svc.SpareFor} {
				if *name == was {
					*name = now
				}
			}
			for i := range in.svc.TalksTo {
				if in.svc.TalksTo[i] == was {
					in.svc.TalksTo[i] = now
				}
			}
		}
		for i := range d.notes {
			if !strings.Contains(d.notes[i], "were left out") {
				d.notes[i] = word.ReplaceAllString(d.notes[i], "${1}"+now+"${2}")
			}
		}
	}
}

// HostNameOf proposes a host's name in kasoku.yaml for what is typed after ssh:
// the first label of the machine's name, "db1" of root@db1.example.com; an
// address as it is, with dashes for colons.
func HostNameOf(destination string) string {
	name := strings.TrimPrefix(destination, "ssh://")
	name = name[strings.LastIndexByte(name, '@')+1:]
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(name); err == nil {
		return strings.Trim(strings.ReplaceAll(name, ":", "-"), "-")
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}

// readAddresses finds how other hosts may call this one: its addresses, and its
// own name, the one in kasoku.yaml and the one that ssh is given.
func (d *discovery) readAddresses(ctx context.Context) {
	var err error
	if d.addresses, err = HostAddresses(ctx, d.h); err != nil || len(d.addresses) == 0 {
		d.note("The addresses of %s cannot be read, so whom other hosts talk to there may be missing in talks_to.", d.h.Name())
	}
	if data, err := d.h.ReadFile(ctx, "/proc/sys/kernel/hostname"); err == nil {
		d.addresses = append(d.addresses, strings.TrimSpace(string(data)))
	}
	if d.place.Name != LocalHost {
		to := d.place.Config.SSH
		to = to[strings.LastIndexByte(to, '@')+1:]
		d.addresses = append(d.addresses, d.place.Name, to)
	}
	slices.Sort(d.addresses)
	d.addresses = slices.DeleteFunc(slices.Compact(d.addresses), func(a string) bool {
		return a == "" || a == "localhost" || a == "127.0.0.1" || a == "::1"
	})
}

// parseLocalAddresses reads this host's own IPv4 addresses of
// /proc/net/fib_trie: a leaf "|-- ADDRESS" followed by "/32 host LOCAL".
func parseLocalAddresses(data []byte) []string {
	var out []string
	last := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if a, ok := strings.CutPrefix(line, "|-- "); ok {
			last = a
		} else if line == "/32 host LOCAL" && !slices.Contains(out, last) {
			out = append(out, last)
		}
	}
	return out
}

// parseInet6 reads the addresses of /proc/net/if_inet6, but those that hold on
// one link only (proc_net(5), "if_inet6": 32 digits, index, length, scope, …).
func parseInet6(data []byte) []string {
	var out []string
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) < 4 || len(f[0]) != 32 {
			continue
		}
		var parts []string
		for i := 0; i < 32; i += 4 {
			parts = append(parts, f[0][i:i+4])
		}
		if a, err := netip.ParseAddr(strings.Join(parts, ":")); err == nil && !a.IsLinkLocalUnicast() {
			out = append(out, a.String())
		}
	}
	return out
}

// others are the hosts besides this one.
func (d *discovery) others() []*discovery {
	return slices.DeleteFunc(slices.Clone(d.all), func(o *discovery) bool { return o == d })
}

// callsFor are the names under which this host reaches the other: its
// addresses that are not this host's too (bridges of containers have the same
// one everywhere), and what /etc/hosts here calls them.
func (d *discovery) callsFor(ctx context.Context, o *discovery) []string {
	out := slices.DeleteFunc(slices.Clone(o.addresses), func(a string) bool { return slices.Contains(d.addresses, a) })
	data, err := d.h.ReadFile(ctx, "/etc/hosts")
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		if f := strings.Fields(line); len(f) > 1 && slices.Contains(out, f[0]) {
			out = append(out, f[1:]...)
		}
	}
	return out
}

// listensAt reports whether a connection to one of the endpoints, whose host is
// one of calls, reaches the instance, which is on the host that calls mean.
func (in *instance) listensAt(endpoints, calls []string) bool {
	return slices.ContainsFunc(endpoints, func(e string) bool {
		name, port, err := net.SplitHostPort(e)
		if err != nil || !slices.Contains(calls, name) {
			return false
		}
		return slices.ContainsFunc(in.svc.Listen, func(l string) bool {
			at, p, err := net.SplitHostPort(l)
			_, wildcard := local(at)
			return err == nil && p == port && (wildcard || slices.Contains(calls, at))
		})
	})
}

// hostAt is the other host that an endpoint is on, nil if none.
func (d *discovery) hostAt(ctx context.Context, endpoint string) (o *discovery, port string) {
	name, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return nil, ""
	}
	for _, o := range d.others() {
		if slices.Contains(d.callsFor(ctx, o), name) {
			return o, port
		}
	}
	return nil, ""
}

// farStores finds the stores on other hosts that the text of a settings file
// names. The text is read as that host would, with its addresses for "here".
func (d *discovery) farStores(ctx context.Context, text string) (names []string, guessed bool) {
	for _, o := range d.others() {
		calls := d.callsFor(ctx, o)
		if len(calls) == 0 {
			continue
		}
		var stores []store
		for _, s := range o.stores() {
			s.sockets = nil
			stores = append(stores, s)
		}
		found := namedStores(asSeenFrom(text, calls), stores)
		names, guessed = append(names, found.names...), guessed || found.guessed
	}
	return names, guessed
}

var hereAnywhere = regexp.MustCompile(`(?i)` + here)

// asSeenFrom replaces the addresses of another host by 127.0.0.1, and this
// host's by a name that nobody has.
func asSeenFrom(text string, calls []string) string {
	text = hereAnywhere.ReplaceAllString(text, "elsewhere.invalid")
	quoted := make([]string, len(calls))
	for i, c := range calls {
		quoted[i] = regexp.QuoteMeta(c)
	}
	// Longest first: db1.example.com before db1.
	slices.SortFunc(quoted, func(a, b string) int { return len(b) - len(a) })
	whole := regexp.MustCompile(`(?i)(^|[^0-9A-Za-z._-])(?:` + strings.Join(quoted, "|") + `)($|[^0-9A-Za-z._-])`)
	return whole.ReplaceAllString(text, "${1}127.0.0.1${2}")
}

// reachable is a service's endpoint as this machine can connect to it; "" if
// it cannot.
func (d *discovery) reachable(svc *Service, endpoint string) string {
	name, port, err := net.SplitHostPort(endpoint)
	if err != nil || strings.HasPrefix(endpoint, "unix:") {
		return ""
	}
	if svc.HostName() == LocalHost {
		return connectAddress(endpoint)
	}
	loop, wildcard := local(name)
	switch {
	case loop || name == "localhost":
		return ""
	case !wildcard:
		return endpoint
	}
	for _, o := range d.all {
		if o.place.Name == svc.HostName() {
			to := o.place.Config.SSH
			return net.JoinHostPort(path.Base(to[strings.LastIndexByte(to, '@')+1:]), port)
		}
	}
	return ""
}
