package evidence

import (
	"bytes"
	"strings"

	"kasoku/internal/confedit/ini"
)

// phpInfo is what `php-fpm -i` tells.
type phpInfo struct {
	// Values by directive; "" for "no value". "version" is PHP's own,
	// "excimer.version" that of the sampling profiler if it is there.
	Values  map[string]string
	Ini     string // php.ini in use
	ScanDir string
	Scanned []string // files of ScanDir that were read, in order
}

// parsePHPInfo reads the text form of phpinfo(). Only tables of directives are
// taken: the others hold the environment, which may hold secrets.
func parsePHPInfo(data []byte) phpInfo {
	info := phpInfo{Values: map[string]string{}}
	directives, scanned := false, false
	for raw := range bytes.Lines(data) {
		line := strings.TrimRight(string(raw), "\r\n")
		f := strings.Split(line, " => ")
		if scanned {
			info.scan(line)
			scanned = strings.HasSuffix(line, ",")
			continue
		}
		switch {
		case line == "Directive => Local Value => Master Value":
			directives = true
		case line == "":
			directives = false
		case directives && len(f) >= 3:
			info.Values[f[0]] = noValue(strings.Join(f[1:1+(len(f)-1)/2], " => "))
		case len(f) != 2:
		case f[0] == "PHP Version" && info.Values["version"] == "":
			info.Values["version"] = f[1]
		case f[0] == "excimer version":
			info.Values["excimer.version"] = f[1]
		case f[0] == "Loaded Configuration File":
			info.Ini = none(f[1])
		case f[0] == "Scan this dir for additional .ini files":
			info.ScanDir = none(f[1])
		case f[0] == "Additional .ini files parsed":
			info.scan(f[1])
			scanned = strings.HasSuffix(f[1], ",")
		}
	}
	return info
}

func (i *phpInfo) scan(file string) {
	if file = none(strings.TrimRight(file, ",")); file != "" {
		i.Scanned = append(i.Scanned, file)
	}
}

func noValue(s string) string {
	if s == "no value" {
		return ""
	}
	return s
}

func none(s string) string {
	if s == "(none)" {
		return ""
	}
	return s
}

// startupOnly are directives that OPcache reads once, when the main process
// starts; a pool's value shows in phpinfo() there but has no effect
// (PHP source, ext/opcache/zend_accelerator_module.c: shared memory is set up
// in the extension's start, before pools are).
var startupOnly = map[string]bool{
	"opcache.memory_consumption": true, "opcache.interned_strings_buffer": true, "opcache.max_accelerated_files": true,
	"opcache.jit_buffer_size": true, "opcache.preload": true, "opcache.preload_user": true, "opcache.huge_code_pages": true,
	"opcache.file_cache": true, "opcache.file_cache_only": true,
}

// poolValues lays the pools' php_value and php_admin_value over the values of
// php.ini. A pool wins over php.ini and its scan folder; an admin value wins
// over a plain one and over ini_set() (PHP manual, "FPM configuration"). Two
// things a pool cannot do: startupOnly, and turning OPcache on, which PHP
// allows only from on to off after the start. Each is noted under
// "pool.NAME.DIRECTIVE"; it becomes the directive's value when all pools agree.
func poolValues(values map[string]string, conf *ini.Config) {
	pools := fpmPools(conf)
	agreed := map[string]map[string]int{}
	for _, p := range pools {
		own := map[string]string{}
		for _, form := range []string{"php_value", "php_flag", "php_admin_value", "php_admin_flag"} {
			for _, key := range conf.Keys(p.Name) {
				directive, ok := strings.CutPrefix(key, form+"[")
				if !ok {
					continue
				}
				v, _ := conf.Get(p.Name, key)
				own[strings.TrimSuffix(directive, "]")] = strings.ReplaceAll(v.Text, "$pool", p.Name)
			}
		}
		for directive, v := range own {
			values["pool."+p.Name+"."+directive] = v
			if agreed[directive] == nil {
				agreed[directive] = map[string]int{}
			}
			agreed[directive][v]++
		}
	}
	for directive, by := range agreed {
		for v, n := range by {
			refused := startupOnly[directive] || directive == "opcache.enable" && !on(values[directive])
			if n == len(pools) && !refused {
				values[directive] = v
			}
		}
	}
}

func on(v string) bool {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "1", "on", "yes", "true":
		return true
	}
	return false
}
