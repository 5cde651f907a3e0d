package diagnose

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/stack"
)

func judgeTimestamps(m *model) ([]Finding, string) {
	return m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		freq, _ := strconv.Atoi(php["opcache.revalidate_freq"])
		if !On(php["opcache.enable"]) || !On(php["opcache.validate_timestamps"]) || freq >= 60 {
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+" looks for changed scripts all the time",
			fmt.Sprintf("opcache.validate_timestamps is on with revalidate_freq = %d s: each script is stat'ed again. Off, a deployment must reload %s.", freq, svc.Name),
			"effective PHP settings of "+svc.Name).
			asks(Setting{Service: svc.Name, Name: "opcache.validate_timestamps", Now: "1", To: "0"}).bounded(m.boundKernelOf(0.2, svc.Name))}
	})
}

func judgeRealpath(m *model) ([]Finding, string) {
	return m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		size, ok := Bytes(php["realpath_cache_size"])
		if !ok || size >= 256<<10 { // PHP's default is 4096K since 7.0
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+" resolves paths anew", fmt.Sprintf("realpath_cache_size is %s; an application of a thousand files needs some hundred KiB.", php["realpath_cache_size"]),
			"effective PHP settings of "+svc.Name).
			asks(Setting{Service: svc.Name, Name: "realpath_cache_size", Now: php["realpath_cache_size"], To: "4096K", Up: 1}).bounded(m.boundKernelOf(0.2, svc.Name))}
	})
}

// judgeDebuggers finds extensions that make every call dearer while they are on.
func judgeDebuggers(m *model) ([]Finding, string) {
	return m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		var on []string
		if mode := php["xdebug.mode"]; mode != "" && mode != "off" && mode != "no value" {
			on = append(on, "xdebug.mode = "+mode)
		}
		if On(php["xdebug.default_enable"]) && php["xdebug.mode"] == "" {
			on = append(on, "xdebug is loaded")
		}
		if On(php["tideways.enable_cli"]) || php["tideways.sample_rate"] != "" && php["tideways.sample_rate"] != "0" {
			on = append(on, "tideways samples requests")
		}
		if On(php["pcov.enabled"]) {
			on = append(on, "pcov.enabled is on")
		}
		if len(on) == 0 {
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+" runs with a debugger or tracer on", strings.Join(on, "; ")+": it hooks each call. Off in production.", "effective PHP settings of "+svc.Name).
			bounded(m.serviceBound(svc.Name))}
	})
}

// judgePoolFull: PHP-FPM itself says that it had too few processes (C18).
func judgePoolFull(m *model) ([]Finding, string) {
	pools, missing := false, ""
	out, why := m.eachCounted(func(svc *stack.Service, delta, value func(string) (float64, bool)) []Finding {
		all, err := FPMPools(m.in.Snapshot, svc)
		if err != nil {
			return nil
		}
		var out []Finding
		for _, p := range all {
			pools = true
			if !m.tells(svc.Name, p.Name+".") {
				missing = m.unread(svc.Name)
				continue
			}
			reached, _ := delta(p.Name + ".max_children_reached")
			queue, _ := value(p.Name + ".max_listen_queue")
			slow, _ := delta(p.Name + ".slow_requests")
			if reached == 0 && queue < 1 && slow == 0 || m.at(svc.Name).busy >= saturatedCPU {
				continue // with full CPU more processes only switch more
			}
			need := int64(float64(m.in.Evidence.Services[svc.Name].RSS) / max(1, float64(m.in.Evidence.Services[svc.Name].Processes)))
			out = append(out, about(svc.Name, fmt.Sprintf("Requests wait for a process of pool %s", p.Name),
				fmt.Sprintf("max_children_reached rose by %.0f, up to %.0f connections waited, %.0f requests were slow; %d processes, CPU %s busy. Another takes about %s.", reached, queue, slow, p.MaxChildren, percent(m.at(svc.Name).busy), size(need)),
				"PHP-FPM status of "+svc.Name).
				asks(Setting{Service: svc.Name, Name: "pm.max_children", Now: strconv.Itoa(p.MaxChildren), Up: 1, Memory: need}).bounded(m.boundWait()))
		}
		return out
	}, stack.PHPFPM)
	if why == "" && !pools && len(m.in.Stack.OfKind(stack.PHPFPM)) > 0 {
		why = "no pool has a status page (pm.status_path)"
	}
	return out, cmp.Or(why, missing)
}

// judgeTooManyProcesses: all processes together need more than the host has.
func judgeTooManyProcesses(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM) {
		use := m.in.Evidence.Services[svc.Name]
		pools, err := FPMPools(m.in.Snapshot, svc)
		if err != nil || use.Processes < 2 || m.at(svc.Name).sys.MemoryTotal == 0 {
			continue
		}
		room, each := 0, use.RSS/int64(use.Processes)
		for _, p := range pools {
			room += p.MaxChildren
		}
		free := m.at(svc.Name).sys.MemoryAvailable
		if more := int64(room-use.Processes) * each; more > free {
			out = append(out, about(svc.Name, svc.Name+" may take more memory than there is",
				fmt.Sprintf("%d processes are allowed, %d run, %s each: all of them would take %s more and %s are available.", room, use.Processes, size(each), size(more), size(free)),
				svc.Config).asks(Setting{Service: svc.Name, Name: "pm.max_children", Now: strconv.Itoa(room), Up: -1}).atMost(1, "it is a risk, not a gain"))
		}
	}
	return out, ""
}

// judgeShortLives: processes that end after few requests are started anew.
func judgeShortLives(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM) {
		conf, err := FPMConfig(m.in.Snapshot, svc)
		if err != nil {
			return nil, err.Error()
		}
		for _, name := range conf.Sections() {
			v, ok := conf.Get(name, "pm.max_requests")
			n, err := strconv.Atoi(v.Text)
			// At 500 requests a process lives long enough that its start (some
			// 10 ms, and cold caches) is less than a percent.
			if !ok || err != nil || n <= 0 || n >= 500 {
				continue
			}
			f := about(svc.Name, fmt.Sprintf("Processes of pool %s end after %d requests", name, n),
				fmt.Sprintf("pm.max_requests is %d: at %.0f requests/s %.1f processes are started each second.", n, m.x, m.x/float64(n)), svc.Config).
				asks(Setting{Service: svc.Name, Name: "pm.max_requests", Now: v.Text, Up: 1}).bounded(m.boundBy(svc.Name, 0.02/float64(n)))
			f.Subject = map[string]string{"pool": name}
			out = append(out, f)
		}
	}
	return out, ""
}
