package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// Need is what a right is for.
type Need string

const (
	NeedWrite    Need = "write"    // replace a configuration file
	NeedValidate Need = "validate" // let the service's own checker read it
	NeedReload   Need = "reload"
	NeedRestart  Need = "restart"
	NeedLogin    Need = "login"    // to a database
	NeedVariable Need = "variable" // SET GLOBAL
	NeedIndex    Need = "index"    // CREATE and DROP INDEX, and the space to build one
	NeedObserve  Need = "observe"  // evidence: logs, processes, profiles, statements
	NeedJournal  Need = "journal"  // the .kasoku folder
	NeedKernel   Need = "kernel"   // settings under /proc/sys
	NeedUnits    Need = "units"    // enable, disable, mask, start and stop units
	NeedPackages Need = "packages" // install, upgrade and remove packages
	NeedCheckout Need = "checkout" // commits in an application's checkout
)

// Right is one thing that Kasoku may or may not do.
type Right struct {
	Need    Need   `json:"need"`
	Host    string `json:"host"`
	Service string `json:"service,omitempty"`
	// Object is the path, unit or schema; "*" for every one.
	Object string `json:"object,omitempty"`
	Have   bool   `json:"have"`
	// Why is what was seen, if it is lacking, and Grant the command that would
	// grant it, run by an administrator; "" if none is known.
	Why   string `json:"why,omitempty"`
	Grant string `json:"grant,omitempty"`
	// Without says what is left out while it is lacking.
	Without string `json:"without,omitempty"`
}

// Rights are what Kasoku may do on a stack, as the user who asked.
type Rights struct {
	User string  `json:"user"` // on this machine
	All  []Right `json:"rights"`

	source bool // the regulation permits changes of source
}

// Lacking are the rights that are not there.
func (r *Rights) Lacking() []Right {
	return slices.DeleteFunc(slices.Clone(r.All), func(x Right) bool { return x.Have })
}

// find returns the right for just this; nil if nothing was asked about it.
func (r *Rights) find(need Need, service, object string) *Right {
	for i := range r.All {
		x := &r.All[i]
		if x.Need == need && x.Service == service && (object == "" || x.Object == object || x.Object == "*") {
			return x
		}
	}
	return nil
}

// Refuses says why something may not be done, and how to allow it; "" if it
// may, or if nothing is known against it.
func (r *Rights) Refuses(need Need, service, object string) string {
	if r == nil {
		return ""
	}
	return r.find(need, service, object).refusal()
}

// RefusesOn is Refuses for what belongs to a host and to no service: its
// kernel, its units, its packages, a folder on it.
func (r *Rights) RefusesOn(need Need, host, object string) string {
	if r == nil {
		return ""
	}
	for i := range r.All {
		x := &r.All[i]
		if x.Need == need && x.Host == host && (x.Object == object || x.Object == "*") {
			return x.refusal()
		}
	}
	return ""
}

// refusal says why there is no such right, and how to get it; "" if there is,
// or if nobody asked (x is nil).
func (x *Right) refusal() string {
	switch {
	case x == nil || x.Have:
		return ""
	case x.Grant == "":
		return x.Why
	}
	return x.Why + "; to allow it: " + x.Grant
}

// Any reports whether there is anything at all that could be tuned: a journal
// to write in, and a service whose file can be written and taken on, a database
// whose variables or indexes can be changed, or a checkout whose source can be.
func (r *Rights) Any() bool {
	for _, x := range r.All {
		if x.Need == NeedJournal && !x.Have {
			return false
		}
	}
	for _, x := range r.All {
		switch {
		case !x.Have:
		case x.Need == NeedVariable || x.Need == NeedIndex || r.source && x.Need == NeedCheckout:
			return true
		case x.Need == NeedWrite:
			if x.Service == "" {
				continue
			}
			for _, how := range []Need{NeedReload, NeedRestart} {
				if a := r.find(how, x.Service, ""); a != nil && a.Have {
					return true
				}
			}
		}
	}
	return false
}

// CheckRights finds out what Kasoku may do, without doing any of it: nothing
// is written, signalled or set. hosts must have every host of the stack.
func CheckRights(ctx context.Context, hosts map[string]host.Host, s *Stack) (*Rights, error) {
	r := &Rights{source: s.Regulation.Source}
	local := hosts[LocalHost]
	if local == nil {
		return nil, fmt.Errorf("check rights: the local host is not among the hosts")
	}
	me, err := whoami(ctx, local)
	if err != nil {
		return nil, fmt.Errorf("check rights: %w", err)
	}
	r.User = me.name
	p := &probe{r: r, s: s, h: local, me: me}
	p.journal(ctx)
	seen := map[string]*probe{LocalHost: p}
	fronts, err := FrontStates(ctx, hosts, s)
	if err != nil {
		return nil, fmt.Errorf("check rights: %w", err)
	}
	for i := range s.Services {
		svc := &s.Services[i]
		if svc.FrontFor != "" && !fronts[svc.Name].InUse {
			continue // what it needs are packages and units, which are the host's
		}
		name := svc.HostName()
		p := seen[name]
		if p == nil {
			h := hosts[name]
			if h == nil {
				return nil, fmt.Errorf("check rights: host %q is not in reach", name)
			}
			who, err := whoami(ctx, h)
			if err != nil {
				return nil, fmt.Errorf("check rights on %s: %w", name, err)
			}
			p = &probe{r: r, s: s, h: h, me: who}
			seen[name] = p
		}
		p.service(ctx, svc)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("check rights: %w", err)
		}
	}
	for _, name := range slices.Sorted(keys(seen)) {
		seen[name].machine(ctx, name)
		seen[name].system(ctx)
	}
	return r, ctx.Err()
}

// keys of the probes by host.
func keys(m map[string]*probe) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// account is who commands on a host run as.
type account struct {
	uid    int
	groups []int
	name   string
}

func (a account) root() bool { return a.uid == 0 }

func whoami(ctx context.Context, h host.Host) (account, error) {
	res, err := run(ctx, h, "", 0, "sh", "-c", `id -u; id -un 2>/dev/null || id -u; id -G`)
	if err != nil {
		return account{}, err
	}
	lines := strings.Split(string(res.Stdout), "\n")
	uid, err := strconv.Atoi(lines[0])
	if err != nil || len(lines) < 3 {
		return account{}, fmt.Errorf("id told %q", res.Stdout)
	}
	a := account{uid: uid, name: lines[1]}
	for word := range strings.FieldsSeq(lines[2]) {
		if gid, err := strconv.Atoi(word); err == nil {
			a.groups = append(a.groups, gid)
		}
	}
	return a, nil
}

// probe asks one host about rights.
type probe struct {
	r  *Rights
	s  *Stack
	h  host.Host
	me account
}

// add notes one right; why "" means that it is there.
func (p *probe) add(x Right, why, grant string) {
	x.Host, x.Have = p.h.Name(), why == ""
	if why != "" {
		x.Why, x.Grant = why, grant
	}
	p.r.All = append(p.r.All, x)
}

// service asks about everything that may be done to one service. An app that
// runs in another one is activated through that one.
func (p *probe) service(ctx context.Context, svc *Service) {
	if slices.Contains(p.s.Regulation.NoTouch, svc.Name) {
		return
	}
	p.files(ctx, svc)
	p.checkout(ctx, svc)
	if svc.RunsIn == "" {
		p.activation(ctx, svc)
		p.observation(ctx, svc)
	}
	if svc.IsDatabase() {
		p.database(ctx, svc)
	}
}

// journalSpace is what a session needs for its journal, runs and profiles; one
// of an hour on cases/login takes a fifth of it.
const journalSpace = 256 << 20

// journal asks about the .kasoku folder, which is on this machine.
func (p *probe) journal(ctx context.Context) {
	dir := filepath.Join(p.s.Dir, ".kasoku")
	x := Right{Need: NeedJournal, Object: dir, Without: "nothing can be measured or changed"}
	at := dir
	for at != "/" && !exists(ctx, p.h, at) {
		at = filepath.Dir(at)
	}
	if !p.test(ctx, "-w", at) {
		p.add(x, fmt.Sprintf("%s may not write in %s", p.me.name, at), fmt.Sprintf("sudo install -d -m 700 -o %s %s", p.me.name, shellWord(dir)))
		return
	}
	free, err := p.free(ctx, at)
	if err == nil && free < journalSpace {
		p.add(x, fmt.Sprintf("%s has %d MiB left, a session may need %d", at, free>>20, journalSpace>>20), "")
		return
	}
	p.add(x, "", "")
}

// test is test(1) with the effective rights.
func (p *probe) test(ctx context.Context, flag, path string) bool {
	res, err := p.h.Run(ctx, host.Command{Argv: []string{"test", flag, path}})
	return err == nil && res.ExitCode == 0
}

// free is how many bytes an ordinary user may still write below path (df(1)).
func (p *probe) free(ctx context.Context, path string) (int64, error) {
	res, err := run(ctx, p.h, "", 0, "df", "-Pk", path)
	if err != nil {
		return 0, err
	}
	return parseFree(string(res.Stdout))
}

// parseFree reads the fourth column of POSIX df -Pk, in KiB.
func parseFree(text string) (int64, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	f := strings.Fields(lines[len(lines)-1])
	if len(lines) < 2 || len(f) < 6 {
		return 0, fmt.Errorf("df told %q", text)
	}
	kib, err := strconv.ParseInt(f[len(f)-3], 10, 64)
	return kib << 10, err
}

// shellWord quotes one word for a command that a person pastes.
func shellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// self is the running program, for commands that grant it something.
func self() string {
	if exe, err := os.Executable(); err == nil {
		return exe
	}
	return "kasoku"
}
