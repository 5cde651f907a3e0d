package evidence

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/confedit/ini"
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

// parseFPMStatus reads the JSON status page. Names keep PHP's words with
// underscores: listen_queue, active_processes, max_children_reached.
func parseFPMStatus(data []byte) (map[string]string, error) {
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
			out[key] = strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	if out["pool"] == "" {
		return nil, fmt.Errorf("parse PHP-FPM status: no pool is named; is pm.status_path shadowed by a script?")
	}
	return out, nil
}

// fpmCounts are the fields of the status page that only grow.
var fpmCounts = []string{"accepted_conn", "max_children_reached", "slow_requests"}

// fpmTimeout: a busy pool answers its status only when a process is free.
const fpmTimeout = time.Second

// fpmStatus asks every pool that has a status page. Keys are "pool.field".
// Pools without one are named in missing.
func fpmStatus(pools []fpmPool) (values map[string]string, missing []string, err error) {
	values = map[string]string{}
	for _, p := range pools {
		if p.StatusPath == "" {
			missing = append(missing, p.Name)
			continue
		}
		body, askErr := fastcgiGet(fpmAddress(p.Listen), p.StatusPath, "json", fpmTimeout)
		if askErr == nil {
			var fields map[string]string
			if fields, askErr = parseFPMStatus(body); askErr == nil {
				for k, v := range fields {
					values[p.Name+"."+k] = v
				}
				continue
			}
		}
		if err == nil {
			err = askErr
		}
	}
	return values, missing, err
}

// fpmDelta is what happened between two status readings.
func fpmDelta(begin, end map[string]string) CounterDelta {
	out := CounterDelta{Delta: map[string]float64{}, Value: end}
	for key, text := range end {
		for _, name := range fpmCounts {
			if !strings.HasSuffix(key, "."+name) {
				continue
			}
			now, err1 := strconv.ParseFloat(text, 64)
			was, err2 := strconv.ParseFloat(begin[key], 64)
			if err1 == nil && err2 == nil && now >= was {
				out.Delta[key] = now - was
			}
		}
	}
	return out
}
