package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/kind/nodeapp"
	"kasoku/internal/kind/rubyapp"
	"kasoku/internal/stack"
)

const (
	needApp = "an app's process and how it is started"
	needGC  = "the runtime's counters of a Go program with symbols, or a profile of it, in a diagnostic run"
)

var appRules = []Rule{
	{"app.workers", []string{"I17", "C18"}, needApp, judgeAppWorkers},
	{"app.wsgi", []string{"I17", "C18"}, "an application that mod_wsgi runs, and Apache's configuration", judgeWSGI},
	{"app.go-gc", []string{"G11"}, needGC, judgeGoGC},
	{"app.gomaxprocs", []string{"C05", "G11"}, needApp, judgeGoMaxProcs},
	{"app.interpolate", []string{"I06"}, needDB, judgeInterpolate},
	{"app.go-flags", []string{"G12"}, needApp, judgeGoFlags},
	{"app.ruby-jit", []string{"I16"}, needApp, judgeRubyJIT},
	{"app.patch", []string{"I04", "I08", "I12", "G04"}, "source of a Go program in a git checkout, and how it is built, or of a PHP application", judgePatches},
	{"app.node-env", []string{"W14"}, needApp, judgeNodeEnv},
	{"app.node-heap", []string{"G11"}, needApp, judgeNodeHeap},
	{"app.paced", []string{"I17"}, needApp, judgePaced},
}

// fullLoop of the time a thread that serves requests one after the other may be
// at work before they wait for each other longer than they are served: the mean
// wait is ρ/2(1−ρ) service times, 1.2 at 0.7 (Kleinrock 1975, Queueing Systems
// I, M/D/1).
const fullLoop = 0.7

// fillsWorkers reports whether the requests under way keep all of an
// application server's workers at work.
func (m *model) fillsWorkers(s *AppServer, service string) bool {
	// An interpreter's lock has the threads that help a loop take turns with it.
	each := m.perReq[service] * m.x / float64(max(s.Now.Workers, 1))
	if s.Loops() && max(m.threads[service], each) < fullLoop {
		return false
	}
	return m.inSystem >= 0.8*float64(s.Slots())
}

// judgeAppWorkers: workers that are all at work while CPU is idle are too few;
// many more than CPUs on a full machine switch, and their memory may be more
// than there is.
func judgeAppWorkers(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		s, err := AppServerOf(m.in.Snapshot, svc)
		if err != nil {
			why = err.Error()
			continue
		}
		if s == nil {
			continue
		}
		k := m.at(svc.Name)
		processes := max(s.Now.Workers, 1)
		use := m.in.Evidence.Services[svc.Name]
		each := int64(0)
		if use.Processes > 0 {
			each = use.RSS / int64(use.Processes)
		}
		f := about(svc.Name, fmt.Sprintf("%s: is %d the right number of %s's workers?", svc.Name, s.Now.Workers, s.Name),
			fmt.Sprintf("%d processes with %d threads each on %.0f CPUs; %.1f requests are under way on average and CPU is %s busy.", processes, max(s.Now.Threads, 1), k.cpus, m.inSystem, percent(k.busy)),
			"start of "+svc.Name, "latency × throughput")
		f.Subject = map[string]string{"server": s.Name, "current": strconv.Itoa(s.Now.Workers)}
		setting := Setting{Service: svc.Name, Name: "workers", Now: strconv.Itoa(s.Now.Workers)}
		switch {
		case k.sys.MemoryTotal > 0 && float64(k.sys.MemoryAvailable) < 0.05*float64(k.sys.MemoryTotal) && float64(processes) > k.cpus:
			f.Text += fmt.Sprintf(" They take %s each, and %s of memory are left: fewer would do.", size(each), size(k.sys.MemoryAvailable))
			setting.Up, setting.Memory = -1, -each
			f = f.bounded(m.boundWait())
		case m.fillsWorkers(s, svc.Name) && (k.busy < saturatedCPU || float64(processes) < k.cpus):
			f.Text += " All are at work while requests wait: more would answer them. The best number is found by trying."
			setting.Up, setting.Memory = 1, each
			if k.busy < saturatedCPU && float64(processes) >= k.cpus {
				f.Subject["waits"] = "1" // not for CPU
			}
			f = f.bounded(m.boundWait())
		case k.busy >= saturatedCPU && float64(processes) > 4*k.cpus:
			f.Text += " On full CPUs so many only take turns; the best number is found by trying."
			setting.Up = -1
			f = f.bounded(m.boundKernelOf(1, svc.Name))
		default:
			continue
		}
		f.Subject["up"] = strconv.Itoa(setting.Up)
		out = append(out, f.asks(setting))
	}
	return out, why
}

// gcFrames are functions of Go's collector and of what it makes programs do
// (runtime package, mgc.go, mgcmark.go, mgcsweep.go).
var gcFrames = []string{"runtime.gc", "runtime.(*gcwork)", "runtime.scan", "runtime.greyobject", "runtime.markroot", "runtime.findobject", "runtime.wbbuf", "runtime.bgsweep", "runtime.sweepone", "runtime.(*mspan).sweep", "runtime.(*sweeplocked)", "runtime.trygetfull", "runtime.(*mspan).typepointersof", "runtime.typepointers"}

// gcShare of a profile: what its frames have themselves, or what the worker
// and the assists have with all that they call, whichever is seen more of.
func gcShare(p evidence.Profile) float64 {
	self, total := 0.0, 0.0
	for _, f := range p.Top {
		name := strings.ToLower(f.Function)
		for _, part := range gcFrames {
			if strings.HasPrefix(name, part) {
				self += f.Self
				break
			}
		}
		if name == "runtime.gcbgmarkworker" || name == "runtime.gcassistalloc" {
			total += f.Total
		}
	}
	return math.Min(1, math.Max(self, total))
}

const (
	// gcWorth: a tenth of a service's samples is the least whose removal a run
	// shows.
	gcWorth = 0.10
	// gcCounted: what the runtime has counted is no sample, so less is sure.
	gcCounted = 0.05
	// gcRoom: the collector's work is in proportion to 1/(heap − live); at
	// eight times what the process takes now it is a seventh, and more memory
	// saves little more ("A Guide to the Go Garbage Collector", GOGC).
	gcRoom = 8
	// gcLeast: with less than twice as much it would run as often as now.
	gcLeast = 2
)

// judgeGoGC: a Go program whose collector takes much and that has memory to
// spare may collect less often (G11). What it takes is told by the runtime's own
// counters, which are exact, else by a profile.
func judgeGoGC(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	counted := false
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		use := m.in.Evidence.Services[svc.Name]
		if use.GC <= 0 || use.CPU <= 0 {
			continue
		}
		counted = true
		if share := math.Min(1, use.GC/use.CPU); share >= gcCounted {
			found, not := m.lessGC(svc, share, "counters of "+svc.Name+"'s runtime")
			out, why = append(out, found...), cmp.Or(not, why)
		}
	}
	profiled, not := m.eachProfile(func(p evidence.Profile) []Finding {
		svc := m.in.Stack.Service(p.Service)
		share := gcShare(p)
		if svc == nil || p.Of != "" || share < gcWorth || m.in.Evidence.Services[p.Service].GC > 0 {
			return nil
		}
		found, not := m.lessGC(svc, share, "profile of "+svc.Name)
		why = cmp.Or(not, why)
		return found
	})
	out = append(out, profiled...)
	if why == "" && len(out) == 0 && !counted && m.anyGo() {
		why = not
	}
	return out, why
}

// lessGC is the finding that a Go program may collect less often; source says
// how its collector's share is known.
func (m *model) lessGC(svc *stack.Service, share float64, source string) ([]Finding, string) {
	app, known := m.in.Snapshot.Apps[svc.Name]
	if !known || app.Go == nil || !app.Go.AtLeast(19) {
		return nil, "" // GOMEMLIMIT is there since Go 1.19
	}
	start, err := StartOf(m.in.Snapshot, svc)
	if err != nil {
		return nil, err.Error()
	}
	if app.Env == nil {
		return nil, svc.Name + ": the environment of its process could not be read"
	}
	gogc, _ := start.Env("GOGC")
	if _, limited := start.Env("GOMEMLIMIT"); limited || gogc == "off" {
		return nil, "" // someone has chosen
	}
	use := m.in.Evidence.Services[svc.Name]
	limit := m.heapLimit(svc, use)
	if limit < gcLeast*use.RSS || use.RSS == 0 {
		return nil, fmt.Sprintf("%s: its collector takes %s, but it has %s and there is no memory for twice as much", svc.Name, percent(share), size(use.RSS))
	}
	f := about(svc.Name, fmt.Sprintf("%s spends %s of its CPU on collecting garbage, and memory is free", svc.Name, percent(share)),
		fmt.Sprintf("It takes %s now (GOGC=%s). With GOGC=off and GOMEMLIMIT=%dMiB it would collect only when it comes near that.", size(use.RSS), orWord(gogc, "100"), limit>>20),
		source, "memory of "+svc.Name)
	f.Subject = map[string]string{"limit": strconv.FormatInt(limit>>20, 10), "share": percent(share)}
	return []Finding{f.asks(Setting{Service: svc.Name, Name: "GOMEMLIMIT", To: fmt.Sprintf("%dMiB", limit>>20), Up: 1, Memory: limit - use.RSS}).
		bounded(m.boundBy(svc.Name, m.perReq[svc.Name]*share))}, ""
}

// heapLimit is what a Go program may take: most of what is free beyond the
// regulation's headroom, not more than helps, and below its group's limit.
func (m *model) heapLimit(svc *stack.Service, use evidence.ServiceUse) int64 {
	k := m.at(svc.Name)
	spare := k.sys.MemoryAvailable - k.sys.MemoryTotal*int64(m.in.Stack.Regulation.Headroom())/100
	limit := min(use.RSS+max(0, int64(roomLeft*float64(spare))), gcRoom*use.RSS)
	for _, c := range []*evidence.CgroupUse{use.Cgroup, k.sys.Cgroup} {
		if c != nil && c.MemoryLimit > 0 {
			// A tenth stays for what the runtime does not count (the guide above).
			limit = min(limit, use.RSS+(c.MemoryLimit*9/10-c.MemoryUsed))
		}
	}
	return limit
}

func (m *model) anyGo() bool {
	for _, a := range m.in.Snapshot.Apps {
		if a.Go != nil {
			return true
		}
	}
	return false
}

// judgeGoMaxProcs: more threads at work than the CPU quota allows use it up
// early in each period and stand still for the rest.
func judgeGoMaxProcs(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		app := m.in.Snapshot.Apps[svc.Name]
		if app.Go == nil {
			continue
		}
		var quota, throttled float64
		for _, c := range []*evidence.CgroupUse{m.at(svc.Name).sys.Cgroup, m.in.Evidence.Services[svc.Name].Cgroup} {
			if c != nil && c.CPUs > 0 && (quota == 0 || c.CPUs < quota) {
				quota, throttled = c.CPUs, c.Throttled.Seconds()
			}
		}
		if quota == 0 || throttled == 0 {
			continue
		}
		start, err := StartOf(m.in.Snapshot, svc)
		if err != nil {
			why = err.Error()
			continue
		}
		godebug, _ := start.Env("GODEBUG")
		have := m.in.Snapshot.On(m.hostOf(svc.Name)).CPUs
		if text, set := start.Env("GOMAXPROCS"); set {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				have = n
			}
		} else if app.Go.SeesQuota(godebug) {
			continue
		}
		// As Go 1.25 chooses by itself: rounded up, at least 2
		// (runtime/cgroup_linux.go, adjustCgroupGOMAXPROCS).
		want := max(int(math.Ceil(quota)), 2)
		if have <= want {
			continue
		}
		f := about(svc.Name, fmt.Sprintf("%s runs Go on %d threads under a quota of %.3g CPUs", svc.Name, have, quota),
			fmt.Sprintf("%s looks at the machine's CPUs only. Its threads used the quota up early and were stopped for %.1f s of %.0f s.", app.Go.Version, throttled, m.window), "cpu.max, cpu.stat", "program of "+svc.Name)
		f.Subject = map[string]string{"procs": strconv.Itoa(want)}
		out = append(out, f.asks(Setting{Service: svc.Name, Name: "GOMAXPROCS", Now: strconv.Itoa(have), To: strconv.Itoa(want), Up: -1}).
			bounded(m.boundDelay(throttled/(m.x*m.window))))
	}
	return out, why
}

// jitShare: an interpreter with less than a third of the machine's work has
// less to save than a run shows; YJIT saves 15–25 % of it (Ruby 3.1 release
// notes: 22 % on railsbench).
const jitShare = 0.3

// runner is the service whose CPU an application's code takes: its own, or the web
// server's that starts it.
func (m *model) runner(svc *stack.Service) string {
	if svc.RunsIn != "" {
		return svc.RunsIn
	}
	return svc.Name
}

// judgeRubyJIT: Ruby 3.1 and later can compile hot methods (YJIT).
func judgeRubyJIT(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		app, known := m.in.Snapshot.Apps[svc.Name]
		runs := m.runner(svc)
		if !known || !rubyapp.Is(app.Exe) || m.perReq[runs] < jitShare*m.allCPU {
			continue
		}
		version := rubyapp.Version(app.Exe)
		if version == "" {
			why = svc.Name + ": " + app.Exe + " does not tell its version"
			continue
		}
		start, _, err := EnvironmentOf(m.in.Stack, m.in.Snapshot, svc)
		if err != nil {
			why = err.Error()
			continue
		}
		opts, _ := start.Env("RUBYOPT")
		enabled, _ := start.Env("RUBY_YJIT_ENABLE")
		words := app.Argv
		if s, ok := start.(*AppStart); ok {
			words = s.Words()
		}
		if !rubyapp.HasYJIT(version) || rubyapp.JITChosen(opts, enabled, words) {
			continue
		}
		f := about(svc.Name, svc.Name+" interprets its Ruby code",
			fmt.Sprintf("Ruby %s can compile hot methods to machine code (YJIT), which is off; %s takes %s of CPU per request.", version, runs, seconds(m.perReq[runs])), "process of "+svc.Name)
		out = append(out, f.asks(Setting{Service: svc.Name, Name: "RUBYOPT", Now: opts, To: strings.TrimSpace(opts + " --yjit")}).
			bounded(m.boundBy(runs, 0.25*m.perReq[runs])))
	}
	return out, why
}

// judgeNodeEnv: without NODE_ENV=production Express compiles its views anew at
// each request and frameworks check and log more (Express, "Production best
// practices"). What else the variable chooses, such as the database, is named.
func judgeNodeEnv(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		app, known := m.in.Snapshot.Apps[svc.Name]
		if !known || !nodeapp.Is(app.Exe) || app.Env == nil || app.Env["NODE_ENV"] == "production" {
			continue
		}
		now := app.Env["NODE_ENV"]
		f := about(svc.Name, svc.Name+" runs Node without NODE_ENV=production",
			fmt.Sprintf("NODE_ENV is %q: templates may be compiled at each request, and frameworks check and log more, and tell clients more of errors. The code may choose more by it, such as the database.", now), "process of "+svc.Name)
		if len(app.ByNodeEnv) > 0 {
			f.Text += fmt.Sprintf(" It also chooses what is in %s: set it after a look at that.", strings.Join(app.ByNodeEnv, ", "))
			f.Subject = map[string]string{"source": "yes"}
		}
		out = append(out, f.asks(Setting{Service: svc.Name, Name: "NODE_ENV", Now: now, To: "production"}).bounded(m.serviceBound(svc.Name)))
	}
	return out, ""
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}
