package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// PHPServices are those in whose processes PHP runs: PHP-FPM, and Apache with
// PHP as a module.
func PHPServices(st *stack.Stack, snap *evidence.Snapshot) []*stack.Service {
	var out []*stack.Service
	for _, svc := range st.OfKind(stack.PHPFPM, stack.Apache) {
		if svc.Kind == stack.PHPFPM || snap.Apache[svc.Name].PHPVersion != "" {
			out = append(out, svc)
		}
	}
	return out
}

// eachPHP calls judge for every service with PHP whose settings are known.
func (m *model) eachPHP(judge func(svc *stack.Service, php map[string]string) []Finding) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range PHPServices(m.in.Stack, m.in.Snapshot) {
		php := m.in.Snapshot.PHP[svc.Name]
		if len(php) == 0 {
			why = svc.Name + ": its effective settings could not be read"
			continue
		}
		out = append(out, judge(svc, php)...)
	}
	return out, why
}

// On reads a PHP boolean as `php -i` prints it.
func On(v string) bool {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "1", "on", "yes", "true":
		return true
	}
	return false
}

func judgeOPcache(m *model) ([]Finding, string) {
	return m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		v, known := php["opcache.enable"]
		if !known || On(v) {
			return nil // not installed, or on
		}
		f := Finding{Service: svc.Name, Title: svc.Name + " compiles its scripts at every request",
			Text: fmt.Sprintf("opcache.enable is %s although the extension is loaded; %s uses %s of CPU per request, part of it for compiling.",
				v, svc.Name, seconds(m.perReq[svc.Name])),
			Evidence: []string{"effective PHP settings of " + svc.Name},
			Settings: []Setting{{Service: svc.Name, Name: "opcache.enable", Now: v, To: "1"}}}
		f = f.bounded(m.boundBy(svc.Name, m.perReq[svc.Name]))
		return []Finding{f}
	})
}

func judgeJIT(m *model) ([]Finding, string) {
	return m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		size, _ := Bytes(php["opcache.jit_buffer_size"])
		version := php["version"]
		if !On(php["opcache.enable"]) || size > 0 || (version != "" && version < "8") {
			return nil
		}
		if _, known := php["opcache.jit_buffer_size"]; !known {
			return nil
		}
		f := Finding{Service: svc.Name, Title: svc.Name + " interprets its scripts",
			Text: fmt.Sprintf("opcache.jit_buffer_size is 0, so nothing is compiled to machine code; %s uses %s of CPU per request.",
				svc.Name, seconds(m.perReq[svc.Name])),
			Evidence: []string{"effective PHP settings of " + svc.Name}}
		f = f.bounded(m.boundBy(svc.Name, m.perReq[svc.Name]))
		return []Finding{f}
	})
}

func judgeWorkers(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM) {
		pools, err := FPMPools(m.in.Snapshot, svc)
		if err != nil {
			return nil, err.Error()
		}
		for _, p := range pools {
			f := Finding{Service: svc.Name, Title: fmt.Sprintf("pool %s of %s: is %d the right number of processes?", p.Name, svc.Name, p.MaxChildren),
				Text: fmt.Sprintf("pm = %s with at most %d processes on %.0f CPUs; %.1f requests are under way on average and CPU is %.0f %% busy. The best number is found by trying.",
					p.PM, p.MaxChildren, m.at(svc.Name).cpus, m.inSystem, 100*m.at(svc.Name).busy),
				Evidence: []string{svc.Config},
				Subject:  map[string]string{"pool": p.Name, "current": strconv.Itoa(p.MaxChildren), "pm": p.PM}}
			if m.at(svc.Name).busy >= saturatedCPU {
				// Only what the kernel spends on switching can be saved.
				f = f.bounded(m.boundKernelOf(1, svc.Name))
			} else {
				f = f.bounded(m.boundWait())
			}
			out = append(out, f)
		}
	}
	return out, ""
}

// judgeMode: processes of a pool come and go with the load.
func judgeMode(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM) {
		pools, err := FPMPools(m.in.Snapshot, svc)
		if err != nil {
			return nil, err.Error()
		}
		use := m.in.Evidence.Services[svc.Name]
		workers := max(use.Processes-1, 0) // one is the main process
		for _, p := range pools {
			if p.PM != "dynamic" && p.PM != "ondemand" {
				continue
			}
			if use.Processes == 0 {
				why = svc.Name + ": its processes were not counted"
				continue
			}
			f := Finding{Service: svc.Name, Title: fmt.Sprintf("Processes of pool %s of %s come and go", p.Name, svc.Name),
				Text: fmt.Sprintf("pm = %s: up to %d processes are started when requests come and ended when none do; %s has %d for %.1f requests under way, and %d of them began in the run. With pm = static all are there when a request comes.",
					p.PM, p.MaxChildren, svc.Name, workers, m.inSystem, use.Started),
				Evidence: []string{svc.Config, "processes of " + svc.Name},
				Subject:  map[string]string{"pool": p.Name, "current": strconv.Itoa(p.MaxChildren), "pm": p.PM}}
			// With max_requests some begin all the time, whoever asks.
			waited := use.Started > 0 && p.MaxRequests == 0 || workers < p.MaxChildren && m.inSystem > float64(workers)
			if waited && m.at(svc.Name).busy < saturatedCPU {
				f = f.bounded(m.boundWait())
			} else {
				// Requests waited for no start, or rather for CPU: what the kernel
				// spends on making and ending processes can be saved.
				f = f.bounded(m.boundKernelOf(1, svc.Name))
			}
			out = append(out, f)
		}
	}
	return out, why
}

// inMemory lists where Debian and systemd mount file systems that live in memory.
var inMemory = []string{"/dev/shm", "/run"}

func judgeSessions(m *model) ([]Finding, string) {
	return m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		// The path may have a depth and a mode before it: 5;0600;/path.
		parts := strings.Split(php["session.save_path"], ";")
		path := parts[len(parts)-1]
		if php["session.save_handler"] != "files" || path == "" || path == "no value" {
			return nil
		}
		for _, dir := range inMemory {
			if path == dir || strings.HasPrefix(path, dir+"/") {
				return nil
			}
		}
		f := Finding{Service: svc.Name, Title: svc.Name + " keeps sessions as files on disk",
			Text:     fmt.Sprintf("session.save_path is %s. In memory they are cheaper, but a reboot logs everybody out.", path),
			Evidence: []string{"effective PHP settings of " + svc.Name}, Subject: map[string]string{"path": path}}
		f = f.bounded(m.boundKernelOf(1, svc.Name))
		return []Finding{f}
	})
}
