package redis

import "strings"

// multi are the directives whose lines add up instead of the last one
// counting, with how many leading arguments tell one line's subject from
// another's (redis.conf; config.c, loadServerConfigFromString). A number below
// zero means that no line replaces another.
var multi = map[string]int{
	"client-output-buffer-limit": 1,  // by class
	"rename-command":             1,  // by command; a second one is an error to Redis
	"user":                       1,  // by name
	"loadmodule":                 1,  // by path
	"save":                       -1, // see Save and SetSave
	"include":                    -1,
}

// aliases are old names that Redis still reads (the alias column of
// static_configs in config.c), beyond those that canonical handles by rule.
var aliases = map[string]string{"lua-time-limit": "busy-reply-threshold", "slaveof": "replicaof"}

// canonical is a directive's name in lower case and in its new form: replica
// for slave, listpack for ziplist.
func canonical(name string) string {
	name = strings.ToLower(name)
	if a, ok := aliases[name]; ok {
		return a
	}
	name = strings.ReplaceAll(name, "slave", "replica")
	for _, kind := range []string{"hash", "zset", "list"} {
		if strings.HasPrefix(name, kind+"-max-ziplist-") {
			return strings.Replace(name, "ziplist", "listpack", 1)
		}
	}
	return name
}
