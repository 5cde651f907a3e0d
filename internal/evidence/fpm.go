package evidence

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/host"
)

// fpmPool is where one pool of PHP-FPM tells its status.
type fpmPool struct {
	Name       string
	Listen     string // pm.status_listen if there is one (PHP ≥ 8.0), else listen
	StatusPath string // "" if none is configured
}

// fpmPools reads the pools of a php-fpm configuration; $pool stands for the
// pool's name (PHP manual, "FPM configuration").
func fpmPools(conf *ini.Config) []fpmPool {
	var out []fpmPool
	for _, name := range conf.Sections() {
		if name == "" || name == "global" {
			continue
		}
		get := func(key string) string {
			v, _ := conf.Get(name, key)
			return strings.ReplaceAll(v.Text, "$pool", name)
		}
		p := fpmPool{Name: name, Listen: get("listen"), StatusPath: get("pm.status_path")}
		if own := get("pm.status_listen"); own != "" {
			p.Listen = own
		}
		out = append(out, p)
	}
	return out
}

// fpmAddress makes a listen value one that can be dialled.
func fpmAddress(listen string) string {
	if _, err := strconv.Atoi(listen); err == nil {
		return net.JoinHostPort("127.0.0.1", listen)
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil || strings.HasPrefix(listen, "/") {
		return listen
	}
	if host == "" || host == "*" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// fpmProcess is one entry of the full status page (PHP manual, "Status Page").
type fpmProcess struct {
	State    string  `json:"state"`            // "Idle", "Running", "Reading headers", …
	Duration float64 `json:"request duration"` // µs: of the last request, or so far
	Method   string  `json:"request method"`
	URI      string  `json:"request uri"`
	CPU      float64 `json:"last request cpu"`    // % of one CPU
	Memory   float64 `json:"last request memory"` // bytes
}

// parseFPMStatus reads the JSON status page, in full or not. Names keep PHP's
// words with underscores: listen_queue, active_processes, max_children_reached.
// Processes are summed up: how many are in each state (state_running), and
// over all but the one that answers (it serves page) their last or present
// requests: request_usec_max, request_usec_mean, request_cpu_percent_mean,
// request_memory_max, and longest_request without its query.
func parseFPMStatus(data []byte, page string) (map[string]string, error) {
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("parse PHP-FPM status: %w", err)
	}
	out := map[string]string{}
	for name, v := range fields {
		key := strings.ReplaceAll(name, " ", "_")
		switch v := v.(type) {
		case string:
			out[key] = v
		case float64:
			out[key] = number(v)
		}
	}
	if out["pool"] == "" {
		return nil, fmt.Errorf("parse PHP-FPM status: no pool is named; is pm.status_path shadowed by a script?")
	}
	var full struct {
		Processes []fpmProcess `json:"processes"`
	}
	if err := json.Unmarshal(data, &full); err == nil && len(full.Processes) > 0 {
		sumProcesses(out, full.Processes, page)
	}
	return out, nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func sumProcesses(out map[string]string, processes []fpmProcess, page string) {
	states := map[string]int{}
	var n, sum, most, cpu, memory float64
	longest := ""
	for _, p := range processes {
		path, _, _ := strings.Cut(p.URI, "?")
		if path == page {
			continue
		}
		states["state_"+strings.ReplaceAll(strings.ToLower(p.State), " ", "_")]++
		if p.URI == "" || p.URI == "-" {
			continue // it has served nothing yet
		}
		n++
		sum, cpu, memory = sum+p.Duration, cpu+p.CPU, max(memory, p.Memory)
		if p.Duration >= most {
			most, longest = p.Duration, p.Method+" "+path
		}
	}
	for name, count := range states {
		out[name] = strconv.Itoa(count)
	}
	if n > 0 {
		out["request_usec_max"], out["request_usec_mean"] = number(most), number(math.Round(sum/n))
		out["request_cpu_percent_mean"], out["request_memory_max"] = number(math.Round(cpu/n*100)/100), number(memory)
		out["longest_request"] = shorten(longest, 120)
	}
}

// fpmCount reports whether a field ("pool.field") only grows.
func fpmCount(key string) bool {
	switch key[strings.LastIndexByte(key, '.')+1:] {
	case "accepted_conn", "max_children_reached", "slow_requests":
		return true
	}
	return false
}

// fpmTimeout: a busy pool answers its status only when a process is free.
const fpmTimeout = time.Second

// fpmStatus asks every pool that has a status page. Keys are "pool.field".
// Pools without one are named in missing. The error is the first pool's that
// could not be asked. It is asked from the pools' host.
func fpmStatus(ctx context.Context, h host.Host, pools []fpmPool) (values map[string]string, missing []string, err error) {
	values = map[string]string{}
	for _, p := range pools {
		if p.StatusPath == "" {
			missing = append(missing, p.Name)
			continue
		}
		fields, askErr := p.ask(ctx, h)
		if askErr != nil {
			if err == nil {
				err = askErr
			}
			continue
		}
		for k, v := range fields {
			values[p.Name+"."+k] = v
		}
	}
	return values, missing, err
}

// ask reads the full page, or the short one where the full one is broken: PHP
// before 8.1 does not escape all that a request's address may hold.
func (p fpmPool) ask(ctx context.Context, h host.Host) (map[string]string, error) {
	for _, query := range []string{"json&full", "json"} {
		body, err := fastcgiGet(ctx, h, fpmAddress(p.Listen), p.StatusPath, query, fpmTimeout)
		if isTimeout(err) {
			return nil, fmt.Errorf("%w; all processes of pool %s are busy: give it pm.status_listen, which answers without them", err, p.Name)
		}
		if err != nil {
			return nil, err
		}
		if fields, err := parseFPMStatus(body, p.StatusPath); err == nil || query == "json" {
			return fields, err
		}
	}
	return nil, nil
}
