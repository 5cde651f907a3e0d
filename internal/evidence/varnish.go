package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// varnishCounter is one counter of `varnishstat -1 -j`.
type varnishCounter struct {
	Flag  string      `json:"flag"` // "c" counter, "g" gauge, "b" bitmap
	Value json.Number `json:"value"`
}

// varnishStats are a reading's values, and which of them count up.
type varnishStats struct {
	values map[string]string
	counts map[string]bool
}

// parseVarnishstat reads both shapes of the JSON: since Varnish 6.5 the
// counters are in an object of their own beside "version" and "timestamp";
// before they stand beside "timestamp" (varnishstat(1)). Bitmaps (which probes
// of a backend were good) are left out.
func parseVarnishstat(data []byte) (varnishStats, error) {
	out := varnishStats{values: map[string]string{}, counts: map[string]bool{}}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return out, fmt.Errorf("parse varnishstat: %w", err)
	}
	if inner, ok := fields["counters"]; ok {
		fields = nil
		if err := json.Unmarshal(inner, &fields); err != nil {
			return out, fmt.Errorf("parse varnishstat: counters: %w", err)
		}
	}
	for name, raw := range fields {
		var c varnishCounter
		if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &c) != nil || c.Flag == "b" || c.Value == "" {
			continue
		}
		out.values[name] = c.Value.String()
		// "a" was the counters' mark up to 4.0. Uptimes are marked as counters.
		if (c.Flag == "c" || c.Flag == "a") && !strings.HasSuffix(name, ".uptime") {
			out.counts[name] = true
		}
	}
	if len(out.values) == 0 {
		return out, fmt.Errorf("parse varnishstat: no counters; its child process may not run")
	}
	return out, nil
}

// varnishSource asks varnishstat, because the counters lie in shared memory
// whose layout only Varnish's own programs know.
type varnishSource struct {
	h      host.Host
	argv   []string
	counts map[string]bool
}

// findVarnish returns the counters of every Varnish.
func findVarnish(ctx context.Context, s setting) ([]source, []Health) {
	var out []source
	for _, svc := range s.st.OfKind(stack.Varnish) {
		h := s.hosts[svc.HostName()]
		if h == nil {
			continue
		}
		v := &varnishSource{h: h, argv: []string{"varnishstat", "-1", "-j"}, counts: map[string]bool{}}
		if dir := varnishDir(ctx, h, svc, s.roots[svc.HostName()][svc.Name]); dir != "" {
			v.argv = append(v.argv, "-n", dir)
		}
		out = append(out, &counterSource{service: svc.Name, source: "counters of " + svc.Name, read: v.read,
			counts:   func(name string) bool { return v.counts[name] },
			identity: func(v map[string]string) string { return v["MGT.child_start"] }})
	}
	return out, nil
}

// varnishDir is the working directory (-n) of the running varnishd, else of
// the command that starts it; "" is the default.
func varnishDir(ctx context.Context, h host.Host, svc *stack.Service, pids []int) string {
	argv := svc.Control.Start
	for _, pid := range pids {
		if data, err := h.ReadFile(ctx, fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && len(data) > 0 {
			argv = strings.Split(string(bytes.TrimRight(data, "\x00")), "\x00")
			break
		}
	}
	for i, a := range argv {
		if i == 0 {
			continue
		}
		if a == "-n" && i+1 < len(argv) {
			return argv[i+1]
		}
		if dir, ok := strings.CutPrefix(a, "-n"); ok && dir != "" {
			return dir
		}
	}
	return ""
}

func (v *varnishSource) read(ctx context.Context) (map[string]string, error) {
	res, err := v.h.Run(ctx, host.Command{Argv: v.argv, Timeout: 10 * time.Second})
	if err != nil {
		return nil, fmt.Errorf("read Varnish's counters: %w", err)
	}
	if res.ExitCode != 0 {
		return nil, fmt.Errorf("read Varnish's counters: %s: %s", strings.Join(v.argv, " "), shorten(strings.TrimSpace(string(res.Stderr)), 200))
	}
	s, err := parseVarnishstat(res.Stdout)
	if err != nil {
		return nil, err
	}
	for name := range s.counts {
		v.counts[name] = true
	}
	return s.values, nil
}
