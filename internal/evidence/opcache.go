package evidence

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"kasoku/internal/stack"
)

// parseOPcache reads opcache_get_status() as JSON (PHP manual): its numbers
// and switches by their path ("opcache_statistics.hits"). The list of scripts
// is left out.
func parseOPcache(data []byte) (map[string]string, error) {
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, fmt.Errorf("parse OPcache status: it is not a JSON object; the page must print json_encode(opcache_get_status(false)): %w", err)
	}
	out := map[string]string{}
	flatten(out, "", fields, 0)
	if out["opcache_enabled"] == "" {
		return nil, fmt.Errorf("parse OPcache status: opcache_enabled is missing; the page must print json_encode(opcache_get_status(false)), and opcache.restrict_api must let it")
	}
	return out, nil
}

func flatten(out map[string]string, prefix string, fields map[string]any, depth int) {
	for name, v := range fields {
		switch v := v.(type) {
		case bool:
			out[prefix+name] = map[bool]string{true: "1", false: "0"}[v]
		case json.Number:
			out[prefix+name] = v.String()
		case map[string]any:
			if name != "scripts" && depth < 4 {
				flatten(out, prefix+name+".", v, depth+1)
			}
		}
	}
}

// opcacheCounts are the values that only grow while the cache lives.
func opcacheCounts(name string) bool {
	switch name {
	case "opcache_statistics.hits", "opcache_statistics.misses", "opcache_statistics.blacklist_misses",
		"opcache_statistics.oom_restarts", "opcache_statistics.hash_restarts", "opcache_statistics.manual_restarts":
		return true
	}
	return false
}

// findOPcache returns OPcache's status of services that tell it: only PHP
// itself can, in the processes that serve, so a page of the site must.
func findOPcache(_ context.Context, s setting) (out []source, health []Health) {
	for _, svc := range s.st.OfKind(stack.PHPFPM, stack.Apache, stack.App) {
		name := "OPcache of " + svc.Name
		h := s.hosts[svc.HostName()]
		switch {
		case h == nil:
		case svc.Status != "":
			page := newStatusPage(h, "", svc.Status)
			x := opcacheSource(svc.Name, page.get)
			x.shut = page.close
			out = append(out, x)
		case svc.Kind != stack.PHPFPM:
		case s.opts.OPcache[svc.Name].File != "":
			page := s.opts.OPcache[svc.Name]
			out = append(out, opcacheSource(svc.Name, func(ctx context.Context) ([]byte, error) {
				return fastcgiGet(ctx, h, fpmAddress(page.Listen), page.File, "", fpmTimeout)
			}))
		default:
			page := s.opts.OPcache[svc.Name]
			why := cmp.Or(page.Refused, "no page tells it")
			if !page.Off {
				why += "; write status: URL of a page that prints json_encode(opcache_get_status(false))"
			}
			health = append(health, Health{Source: name, OK: true, Text: "not judged: " + why})
		}
	}
	return out, health
}

// opcacheSource reads OPcache's counters from a page that is a PHP script.
func opcacheSource(service string, get func(context.Context) ([]byte, error)) *counterSource {
	return &counterSource{service: service, source: "OPcache of " + service, prefix: "opcache.", counts: opcacheCounts,
		identity: func(v map[string]string) string { return v["opcache_statistics.start_time"] },
		own:      map[string]float64{"opcache_statistics.hits": 1}, // the page is a script too
		read: func(ctx context.Context) (map[string]string, error) {
			data, err := get(ctx)
			if err != nil {
				return nil, err
			}
			return parseOPcache(data)
		}}
}
