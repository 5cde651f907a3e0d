package php

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// opcacheRoom is one setting of OPcache that bounds what it holds.
type opcacheRoom struct {
	room, setting string
	def, most     int // default and largest value
	mib           bool
}

// opcacheRooms with defaults and limits of the PHP manual ("OPcache
// configuration"): max_accelerated_files is at most 1,000,000, and the buffer
// of interned strings at most 32,767 MiB and part of memory_consumption.
var opcacheRooms = []opcacheRoom{
	{"files", "opcache.max_accelerated_files", 10000, 1000000, false},
	{"strings", "opcache.interned_strings_buffer", 8, 32767, true},
	{"memory", "opcache.memory_consumption", 128, 1 << 20, true},
}

// planOPcacheRoom doubles what is full. The buffer of strings lies in the
// shared memory, which grows by as much.
func planOPcacheRoom(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	php := in.Snapshot.PHP[svc.Name]
	var sets [][2]string
	var names []string
	grow := int64(0)
	memory := 0
	for _, r := range opcacheRooms {
		now := r.def
		if n, err := strconv.Atoi(php[r.setting]); err == nil && n > 0 {
			now = n
		}
		if r.room == "memory" {
			memory = now
		}
		if _, isFull := f.Subject[r.room]; !isFull || now >= r.most {
			continue
		}
		next := min(2*now, r.most)
		switch {
		case r.room == "memory":
			next += int(grow / planning.MiB)
			grow += int64(now) * planning.MiB
		case r.mib:
			grow += int64(next-now) * planning.MiB
		}
		sets = append(sets, [2]string{r.setting, strconv.Itoa(next)})
		names = append(names, fmt.Sprintf("%s %d → %d", strings.TrimPrefix(r.setting, "opcache."), now, next))
	}
	if _, memoryToo := f.Subject["memory"]; grow > 0 && !memoryToo {
		next := memory + int(grow/planning.MiB)
		sets = append(sets, [2]string{"opcache.memory_consumption", strconv.Itoa(next)})
		names = append(names, fmt.Sprintf("memory_consumption %d → %d", memory, next))
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("OPcache of %s is as large as PHP lets it be", svc.Name)
	}
	if spare := planning.SpareMemory(in, svc); grow > spare {
		return nil, fmt.Errorf("OPcache of %s needs %d MiB more and the host can spare %d MiB", svc.Name, grow/planning.MiB, max(spare, 0)/planning.MiB)
	}
	changes, err := Set(in, svc, sets, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "php.opcache-room:" + svc.Name + ":" + strings.ReplaceAll(strings.Join(names, ","), " ", ""),
		Title: "Give OPcache of " + svc.Name + " room: " + strings.Join(names, ", "), Changes: changes}}, nil
}

// planTimestamps stops OPcache from looking for changed scripts. What is
// deployed is seen after a reload, so it trades staleness.
func planTimestamps(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	changes, err := Set(in, svc, [][2]string{{"opcache.validate_timestamps", "0"}}, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "php.timestamps:" + svc.Name, Title: "Have " + svc.Name + " trust its compiled scripts until it is reloaded",
		Why: f.Text + " From then on a deployment ends with a reload of " + svc.Name + ".", Changes: changes}}, nil
}

// planRealpath gives the cache of resolved paths PHP's own default size.
func planRealpath(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	changes, err := Set(in, svc, [][2]string{{"realpath_cache_size", "4096K"}}, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "php.realpath:" + svc.Name, Title: "Let processes of " + svc.Name + " remember resolved paths", Changes: changes}}, nil
}

// debuggers are the settings that leave a debugger, tracer or coverage driver
// loaded without work: Xdebug's documentation says of mode off that it costs
// next to nothing; tideways samples no request at rate 0; pcov hooks nothing
// when it is not enabled.
var debuggers = []struct{ setting, off string }{
	{"xdebug.mode", "off"}, {"pcov.enabled", "0"}, {"tideways.sample_rate", "0"}, {"tideways.enable_cli", "0"},
}

// planDebugger turns debuggers off. They stay loaded, so that nothing that
// calls their functions fails.
func planDebugger(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	php := in.Snapshot.PHP[svc.Name]
	var sets [][2]string
	for _, d := range debuggers {
		v, loaded := php[d.setting]
		if !loaded || v == d.off || v == "" || d.off == "0" && !diagnose.On(v) && !strings.HasSuffix(d.setting, "_rate") {
			continue
		}
		sets = append(sets, [2]string{d.setting, d.off})
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%s: the debugger has no setting that turns it off; take its extension out (phpdismod)", svc.Name)
	}
	changes, err := Set(in, svc, sets, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "php.debugger:" + svc.Name, Title: "Turn debuggers and tracers of " + svc.Name + " off", Changes: changes}}, nil
}

// longLife is the number of requests after which a process may end: its start,
// some 10 ms and cold caches, is then lost in them. The card-battle game's
// engineers went to 2,000 (C18).
const longLife = 2000

// planLongLives lets processes of a pool serve more requests.
func planLongLives(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	pool := f.Subject["pool"]
	conf, err := diagnose.FPMConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if err := conf.Set(pool, "pm.max_requests", strconv.Itoa(longLife)); err != nil {
		return nil, err
	}
	changes, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, f.Text)
	return []planning.Plan{{ID: "php.max-requests:" + svc.Name + ":" + pool,
		Title: fmt.Sprintf("Let processes of pool %s serve %d requests", pool, longLife), Changes: changes}}, err
}

// fewerPercent of the spare memory is given to processes. What one takes is
// measured on the few that run and moves by a quarter from run to run: they
// grow with the requests that they have served, and share more when more run.
// Without a margin the next look would find the new bound too high as well.
const fewerPercent = 75

// planFewer bounds the processes of all pools by the memory that there is.
func planFewer(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	use := in.Evidence.Services[svc.Name]
	pools, err := diagnose.FPMPools(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	allowed := 0
	for _, p := range pools {
		allowed += p.MaxChildren
	}
	if use.Processes < 2 || use.RSS <= 0 || allowed == 0 {
		return nil, fmt.Errorf("%s: what a process takes is not known", svc.Name)
	}
	running := use.Processes - 1 // one is the main process
	each := max(use.RSS/int64(use.Processes), planning.MiB)
	fits := running + int(max(planning.SpareMemory(in, svc), 0)*fewerPercent/100/each)
	conf, err := diagnose.FPMConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range pools {
		// A pool keeps its share, and what dynamic pools start with.
		n := max(p.MaxChildren*fits/allowed, 1)
		for _, key := range []string{"pm.start_servers", "pm.min_spare_servers", "pm.max_spare_servers"} {
			if v, ok := conf.Get(p.Name, key); ok && p.PM == "dynamic" {
				if least, err := strconv.Atoi(v.Text); err == nil {
					n = max(n, least)
				}
			}
		}
		if n >= p.MaxChildren {
			continue
		}
		if err := conf.Set(p.Name, "pm.max_children", strconv.Itoa(n)); err != nil {
			return nil, err
		}
		names = append(names, fmt.Sprintf("%s %d → %d", p.Name, p.MaxChildren, n))
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: its pools keep as many processes as they may start", svc.Name)
	}
	changes, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, f.Text)
	return []planning.Plan{{ID: "php.fewer:" + svc.Name, Title: "Allow " + svc.Name + " as many processes as memory has room for: " + strings.Join(names, ", "),
		Changes: changes}}, err
}
