package remedy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
)

// Patched says what file changes that name no service give up, and whose
// configuration they are of. A setting that the service's changed files did not have
// counts as with Set. One that they have not any more may fall back to anything, so it
// counts for what a setting of that name can give up. It is an error if a file is not
// understood.
func Patched(st *stack.Stack, snap *evidence.Snapshot, cs []change.Change) (trades []regulation.Trade, services []string, err error) {
	was, is := map[string][]setting{}, map[string][]setting{}
	for _, c := range cs {
		hostName := c.Host
		if hostName == "" {
			hostName = stack.LocalHost
		}
		svc := st.Service(snap.Files[hostName][c.Path].Service)
		if c.Kind != change.KindFile || svc == nil {
			continue
		}
		if !slices.Contains(services, svc.Name) {
			services = append(services, svc.Name)
		}
		for of, side := range map[*change.FileState]map[string][]setting{c.Before: was, c.After: is} {
			found, err := settingsIn(svc.Kind, c.Path, of.Content)
			if err != nil {
				return nil, nil, fmt.Errorf("what it gives up is not known: %w", err)
			}
			side[svc.Name] = append(side[svc.Name], found...)
		}
	}
	for _, name := range services {
		kind := st.Service(name).Kind
		for _, s := range is[name] {
			if !slices.Contains(was[name], s) {
				trades = append(trades, tradesOf(kind, s.key, s.value)...)
			}
		}
		for _, s := range was[name] {
			if !slices.ContainsFunc(is[name], func(o setting) bool { return o.key == s.key }) {
				trades = append(trades, atWorst(kind, s.key)...)
			}
		}
	}
	slices.Sort(trades)
	return slices.Compact(trades), services, nil
}

// atWorst is what a setting of that name can give up.
func atWorst(kind stack.Kind, key string) (out []regulation.Trade) {
	kind, key = asListed(kind, key)
	for _, t := range settingTrades {
		if t.kind == kind && t.key == key {
			out = append(out, t.trade)
		}
	}
	return out
}

// setting of a configuration file, wherever in it it stands.
type setting struct{ key, value string }

// settingsIn reads one file of a service's configuration, without what it includes.
// Files of kinds whose settings are not listed have none.
func settingsIn(kind stack.Kind, name string, text []byte) (out []setting, err error) {
	read := func(p string) ([]byte, error) {
		if p == name {
			return text, nil
		}
		return nil, nil // an include
	}
	none := func(string) ([]string, error) { return nil, nil }
	add := func(key, value string) {
		_, key = asListed(kind, key)
		out = append(out, setting{key, value})
	}
	switch {
	case kind == stack.Nginx:
		conf, err := nginx.Load(name, "/", read, none)
		if err != nil {
			return nil, err
		}
		conf.Root.Walk(func(d *nginx.Directive) bool {
			add(d.Name, strings.Join(d.Args, " "))
			return true
		})
		return out, nil
	case kind == stack.Apache && path.Ext(name) != ".ini":
		conf, err := apache.Load(name, apache.Options{Root: "/"}, read, none)
		if err != nil {
			return nil, err
		}
		conf.Root.Walk(func(d *apache.Directive) bool {
			if strings.HasPrefix(strings.ToLower(d.Name), "php_") && len(d.Args) > 1 {
				add(d.Args[0], strings.Join(d.Args[1:], " "))
			}
			return true
		})
		return out, nil
	}
	dialect, known := dialectOf(kind, name)
	if !known {
		return nil, nil
	}
	conf, err := ini.Load(name, dialect, read, none)
	if err != nil {
		return nil, err
	}
	for _, section := range append(conf.Sections(), "") {
		for _, key := range conf.Keys(section) {
			if v, ok := conf.Get(section, key); ok {
				add(key, v.Text)
			}
		}
	}
	return out, nil
}

func dialectOf(kind stack.Kind, name string) (d ini.Dialect, known bool) {
	switch {
	case kind == stack.MariaDB || kind == stack.MySQL:
		return ini.MySQL, true
	case path.Ext(name) == ".ini" && (kind == stack.PHPFPM || kind == stack.Apache):
		return ini.PHP, true
	}
	return ini.FPM, kind == stack.PHPFPM
}
