package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// Setup is what the diagnostic runs at both ends were measured with, as far as
// the store holds it: who repeats a session sees what differs.
type Setup struct {
	Scenario string         `json:"scenario,omitempty"`
	Seed     uint64         `json:"seed"`
	Engine   string         `json:"engine,omitempty"` // that made the load
	Runs     []SetupRun     `json:"runs,omitempty"`
	Hosts    []SetupHost    `json:"hosts,omitempty"`
	Services []SetupService `json:"services,omitempty"`
}

// SetupRun is one end's load and configuration.
type SetupRun struct {
	Run      int64         `json:"run"`
	Workload int           `json:"workload"`
	Window   time.Duration `json:"window"`
	Warmup   time.Duration `json:"warmup"`      // the most that it might take
	Warmed   time.Duration `json:"warmup_took"` // 0: not known
	// ConfigHash is of all configuration files, variables and schema.
	ConfigHash string `json:"config_hash"`
}

// SetupHost is one machine.
type SetupHost struct {
	Name   string `json:"name"`
	Kernel string `json:"kernel,omitempty"`
	CPUs   int    `json:"cpus"`
	Memory int64  `json:"memory"` // bytes; 0 unknown
}

// SetupService is one service of the stack; Version as its program told it at
// the end, "" unknown.
type SetupService struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// setupOf both ends; after may be nil.
func setupOf(before, after *store.Run) Setup {
	var s Setup
	for _, run := range []*store.Run{before, after} {
		if run == nil {
			continue
		}
		l := run.Evidence.Load
		s.Scenario, s.Seed, s.Engine = l.Scenario, l.Seed, l.Engine
		s.Runs = append(s.Runs, SetupRun{run.ID, l.Workload, l.Window, l.Warmup, l.WarmupTook, run.ConfigHash})
		s.Hosts, s.Services = setupHosts(run.Evidence), setupServices(run.Evidence)
	}
	return s
}

func setupHosts(ev *evidence.Evidence) []SetupHost {
	one := func(name string, x *evidence.System) SetupHost {
		return SetupHost{cmp.Or(name, "local"), x.Release, x.CPUs, x.MemoryTotal}
	}
	out := []SetupHost{one(ev.System.Host, &ev.System)}
	for _, name := range slices.Sorted(maps.Keys(ev.Hosts)) {
		out = append(out, one(name, ev.Hosts[name]))
	}
	return out
}

func setupServices(ev *evidence.Evidence) []SetupService {
	names := slices.Collect(maps.Keys(ev.Services))
	for name := range ev.Versions {
		if _, known := ev.Services[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []SetupService
	for _, name := range names {
		v := ev.Versions[name]
		if value := ev.Counters[name].Value; v == "" && value["redis_version"] != "" { // INFO, stats: they tell it themselves
			v = "Redis " + value["redis_version"]
		} else if v == "" && value["version"] != "" {
			v = "memcached " + value["version"]
		}
		out = append(out, SetupService{name, v})
	}
	return out
}

// shortHash tells configurations, or scenarios, apart, in characters.
const shortHash = 12

func short(hash string) string { return hash[:min(len(hash), shortHash)] }

// setupRows are the rows of the table, what is not known left out.
func setupRows(m *Model) []fact {
	var out []fact
	add := func(name, text string) {
		if text != "" {
			out = append(out, fact{Name: name, Parts: []part{{Text: text}}})
		}
	}
	s := m.Setup
	add("Kasoku", m.Kasoku)
	add("Stack", m.Session.Stack)
	if s.Scenario != "" {
		add("Scenario", fmt.Sprintf("%s, seed %d%s%s", s.Scenario, s.Seed, withText(", engine ", s.Engine), withText(", hash ", short(m.Session.Scenario))))
	}
	for i, r := range s.Runs {
		name := "As found"
		if i > 0 {
			name = m.endName()
		}
		text := fmt.Sprintf("run %d: %s, window %s", r.Run, plural(r.Workload, "user", "users"), ui.Duration(r.Window))
		if r.Warmup > 0 {
			text += ", warm-up at most " + ui.Duration(r.Warmup)
		}
		if r.Warmed > 0 {
			text += fmt.Sprintf(" (took %s)", ui.Duration(r.Warmed))
		}
		add(name, text+withText(", configuration ", short(r.ConfigHash)))
	}
	if p := m.Session.Pace; p.Window > 0 {
		add("Window of experiments", ui.Duration(p.Window)+withText(": ", p.Why))
	}
	for _, h := range s.Hosts {
		text := plural(h.CPUs, "CPU", "CPUs")
		if h.Memory > 0 {
			text += ", " + ui.Bytes(h.Memory) + " of memory"
		}
		add("Host "+h.Name, text+withText(", Linux ", h.Kernel))
	}
	var services []string
	for _, x := range s.Services {
		services = append(services, x.Name+withText(": ", x.Version))
	}
	add("Services", strings.Join(services, "; "))
	return out
}

// withText puts before in front of text, "" without one.
func withText(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}
