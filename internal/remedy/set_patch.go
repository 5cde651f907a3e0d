package remedy

import (
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
)

// Patched says what file changes that name no service give up, and whose
// configuration they are of. A setting that the service's changed files did not have
// counts as with Set. One that they have not any more may fall back to anything, so it
// counts for what a setting of that name can give up.
func Patched(st *stack.Stack, snap *evidence.Snapshot, cs []change.Change) (trades []regulation.Trade, services []string) {
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
		was[svc.Name] = append(was[svc.Name], settingsIn(svc.Kind, string(c.Before.Content))...)
		is[svc.Name] = append(is[svc.Name], settingsIn(svc.Kind, string(c.After.Content))...)
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
	return slices.Compact(trades), services
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

// settingsIn reads nginx's directives, or lines with a "=" or of a name alone, which
// switches it on.
func settingsIn(kind stack.Kind, text string) (out []setting) {
	var plain strings.Builder
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "#") && !strings.HasPrefix(t, ";") {
			plain.WriteString(line)
		}
	}
	ends, between := "\n", "="
	if kind == stack.Nginx {
		ends, between = ";{}", " "
	}
	for _, s := range strings.FieldsFunc(plain.String(), func(c rune) bool { return strings.ContainsRune(ends, c) }) {
		s, _, _ = strings.Cut(strings.Join(strings.Fields(s), " "), " #")
		key, value, valued := strings.Cut(s, between)
		if !valued {
			value = "1"
		}
		if _, key = asListed(kind, strings.TrimSpace(key)); key != "" {
			out = append(out, setting{key, strings.Trim(value, ` "'`)})
		}
	}
	return out
}
