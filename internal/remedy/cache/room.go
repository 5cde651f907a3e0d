package cache

import (
	"fmt"
	"slices"
	"strconv"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planMemory doubles the memory of a cache that throws entries out, as far as
// the host has it to spare.
func planMemory(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	values := in.Evidence.Counters[svc.Name].Value
	name, limit := "-m", "limit_maxbytes"
	if svc.Kind == stack.Redis {
		name, limit = "maxmemory", "maxmemory"
	}
	now, err := strconv.ParseInt(values[limit], 10, 64)
	if err != nil || now <= 0 {
		return nil, fmt.Errorf("%s: its limit of memory is not known", svc.Name)
	}
	// memcached counts in MiB, and so do people.
	now = max(now/planning.MiB, 1)
	grow := min(now, max(planning.SpareMemory(in, svc), 0)/planning.MiB)
	if grow < 1 {
		return nil, fmt.Errorf("the host has no memory left beyond the regulation's headroom for %s", svc.Name)
	}
	text := strconv.FormatInt(now+grow, 10)
	if svc.Kind == stack.Redis {
		text += "mb"
	}
	changes, err := set(in, svc, f.Text, name, text)
	return []planning.Plan{{ID: fmt.Sprintf("cache.memory:%s:%d", svc.Name, now), Title: fmt.Sprintf("Give %s %d MiB instead of %d", svc.Name, now+grow, now),
		Trades: restartTrades(in, svc), Changes: changes}}, err
}

// planConnections lets a cache take twice the connections.
func planConnections(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	values := in.Evidence.Counters[svc.Name].Value
	name, limit := "-c", "max_connections"
	if svc.Kind == stack.Redis {
		name, limit = "maxclients", "maxclients"
	}
	now, err := strconv.Atoi(values[limit])
	if err != nil || now <= 0 {
		return nil, fmt.Errorf("%s: its limit of connections is not known", svc.Name)
	}
	// 1024 is memcached's default (memcached(1), -c); each idle connection
	// takes some KiB.
	next := max(2*now, 1024)
	// memcached raises its own limit of files as root and else ends; Redis
	// takes fewer clients (32 files are for itself: redis.conf, maxclients).
	const own = 32
	unit, err := planning.UnitFiles(in, svc, next+own, f.Text)
	if err != nil {
		return nil, err
	}
	if use := in.Evidence.Services[svc.Name]; svc.ControlMethod() != stack.MethodSystemd && !planning.MachineOf(in, svc).Root && use.FileLimit > 0 && next+own > use.FileLimit {
		return nil, fmt.Errorf("%s may open %d files and needs %d for as many connections; raise the limit of who starts it (ulimit -n)", svc.Name, use.FileLimit, next+own)
	}
	changes, err := set(in, svc, f.Text, name, strconv.Itoa(next))
	changes = append(unit, changes...)
	return []planning.Plan{{ID: fmt.Sprintf("cache.connections:%s:%d", svc.Name, now), Title: fmt.Sprintf("Let %s take %d connections instead of %d", svc.Name, next, now),
		Trades: restartTrades(in, svc), Changes: changes}}, err
}

// set plans one option of a memcached or Redis.
func set(in planning.Input, svc *stack.Service, why, name, value string) ([]change.Change, error) {
	if svc.Config == "" {
		return nil, fmt.Errorf("%s: name its configuration file in kasoku.yaml (config)", svc.Name)
	}
	var changed map[string][]byte
	if svc.Kind == stack.Memcached {
		conf, err := diagnose.MemcachedConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		if _, err := conf.Set(name, value); err != nil {
			return nil, err
		}
		changed = conf.Changed()
	} else {
		conf, err := diagnose.RedisConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		if _, err := conf.Set(name, value); err != nil {
			return nil, err
		}
		changed = conf.Changed()
	}
	return planning.FileChanges(in.Snapshot, svc, changed, change.Restart, why)
}

// planPersistence has Redis write to disk less often: the log synced once a
// second, and only the rarest of its snapshots.
func planPersistence(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	conf, err := diagnose.RedisConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	title := ""
	asks := func(name string) bool {
		return slices.ContainsFunc(f.Settings, func(s diagnose.Setting) bool { return s.Name == name })
	}
	if asks("appendfsync") {
		if _, err := conf.Set("appendfsync", "everysec"); err != nil {
			return nil, err
		}
		title = "sync its log once a second"
	}
	if asks("save") {
		points, written := conf.Save()
		if !written {
			points = []string{"3600 1", "300 100", "60 10000"} // Redis's own (redis.conf, "save")
		}
		if rare := rarest(points); rare != "" {
			if _, err := conf.SetSave(rare); err != nil {
				return nil, err
			}
			if title != "" {
				title += " and "
			}
			title += "write snapshots only after " + rare + " (seconds, changes)"
		}
	}
	if title == "" {
		return nil, fmt.Errorf("%s: its configuration has nothing to relax", svc.Name)
	}
	changes, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, f.Text)
	return []planning.Plan{{ID: "redis.persistence:" + svc.Name, Title: "Have " + svc.Name + " " + title, Changes: changes}}, err
}

// rarest is the snapshot point with the longest time, if there are others.
func rarest(points []string) string {
	best, longest := "", -1
	for _, p := range points {
		var seconds, writes int
		if _, err := fmt.Sscan(p, &seconds, &writes); err == nil && seconds > longest {
			best, longest = p, seconds
		}
	}
	if len(points) < 2 {
		return ""
	}
	return best
}
