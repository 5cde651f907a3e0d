package evidence

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/ini"
)

// OPcachePage is a PHP file that tells OPcache's counters, and how to ask for
// it. All pools of a php-fpm service share one OPcache, so one page serves.
type OPcachePage struct {
	Listen    string // of the pool that is asked
	File      string // on the service's host; "" if it is not there
	Extension string // that the pool runs as PHP, ".php"
	Refused   string // why no pool can be asked; "" if one can
	Off       bool   // OPcache is, so that there is nothing to ask for
}

// OPcachePageText is the file. It is no page of the site: it lies outside of
// every document root, and is asked for over FastCGI.
const OPcachePageText = "<?php\n// Written by Kasoku for a diagnostic run, after which it is taken away again.\necho json_encode(opcache_get_status(false));\n"

// opcacheNeeds are the functions that OPcachePageText calls.
var opcacheNeeds = []string{"opcache_get_status", "json_encode"}

// OPcachePageOf finds a pool that can run the file and nothing of the
// application with it. values are the service's effective settings
// (Snapshot.PHP).
func OPcachePageOf(values map[string]string, conf *ini.Config) OPcachePage {
	out := OPcachePage{Refused: "it has no pool"}
	if !on(values["opcache.enable"]) {
		return OPcachePage{Off: true, Refused: "OPcache is off (opcache.enable)"}
	}
	for _, pool := range fpmPools(conf) {
		get := func(key string) string {
			v, _ := conf.Get(pool.Name, key)
			return strings.ReplaceAll(v.Text, "$pool", pool.Name)
		}
		setting := func(directive string) string {
			if v, own := values["pool."+pool.Name+"."+directive]; own {
				return v
			}
			return values[directive]
		}
		if why := opcacheRefused(get, setting); why != "" {
			out.Refused = fmt.Sprintf("pool %s: %s", pool.Name, why)
			continue
		}
		return OPcachePage{Listen: get("listen"), Extension: phpExtension(get("security.limit_extensions"))}
	}
	return out
}

// opcacheRefused says why a pool cannot run the file; "" if it can.
func opcacheRefused(get, setting func(string) string) string {
	disabled := strings.FieldsFunc(setting("disable_functions"), func(r rune) bool { return r == ',' || r == ' ' })
	for _, f := range opcacheNeeds {
		if slices.Contains(disabled, f) {
			return "disable_functions has " + f
		}
	}
	for _, c := range []struct{ value, why string }{
		{setting("open_basedir"), "open_basedir keeps it from files elsewhere"},
		{setting("opcache.restrict_api"), "opcache.restrict_api lets only scripts below a path ask"},
		{setting("doc_root"), "doc_root lets it run only scripts below a path"},
		{get("chroot"), "it runs in a chroot"},
		{withoutNone(setting("auto_prepend_file")), "auto_prepend_file would run code of the application"},
		{withoutNone(setting("auto_append_file")), "auto_append_file would run code of the application"},
	} {
		if c.value != "" {
			return c.why
		}
	}
	return ""
}

// withoutNone: none turns it off (PHP manual, "auto_prepend_file").
func withoutNone(file string) string {
	if strings.EqualFold(file, "none") {
		return ""
	}
	return file
}

// phpExtension is the first that a pool runs (security.limit_extensions; PHP
// manual, "FPM configuration": .php .phar by default, an empty value allows
// all).
func phpExtension(limit string) string {
	if f := strings.FieldsFunc(strings.Trim(limit, `"'`), func(r rune) bool { return r == ' ' || r == ',' }); len(f) > 0 {
		return f[0]
	}
	return ".php"
}
