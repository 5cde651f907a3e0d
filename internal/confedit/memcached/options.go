package memcached

import "kasoku/internal/confedit/args"

// Options are memcached's own (memcached -h, 1.6; memcached.c, longopts).
// getopt_long takes long names cut short.
var Options = args.Grammar{Abbreviate: true, Options: []args.Option{
	{Names: []string{"-p", "--port"}, Arg: true},
	{Names: []string{"-U", "--udp-port"}, Arg: true},
	{Names: []string{"-s", "--unix-socket"}, Arg: true},
	{Names: []string{"-a", "--unix-mask"}, Arg: true},
	{Names: []string{"-A", "--enable-shutdown"}},
	{Names: []string{"-l", "--listen"}, Arg: true},
	{Names: []string{"-d", "--daemon"}},
	{Names: []string{"-r", "--enable-coredumps"}},
	{Names: []string{"-u", "--user"}, Arg: true},
	{Names: []string{"-m", "--memory-limit"}, Arg: true},
	{Names: []string{"-M", "--disable-evictions"}},
	{Names: []string{"-c", "--conn-limit"}, Arg: true},
	{Names: []string{"-k", "--lock-memory"}},
	{Names: []string{"-v", "--verbose"}},
	{Names: []string{"-h", "--help"}},
	{Names: []string{"-i", "--license"}},
	{Names: []string{"-V", "--version"}},
	{Names: []string{"-P", "--pidfile"}, Arg: true},
	{Names: []string{"-f", "--slab-growth-factor"}, Arg: true},
	{Names: []string{"-n", "--slab-min-size"}, Arg: true},
	{Names: []string{"-L", "--enable-largepages"}},
	{Names: []string{"-D"}, Arg: true},
	{Names: []string{"-t", "--threads"}, Arg: true},
	{Names: []string{"-R", "--max-reqs-per-event"}, Arg: true},
	{Names: []string{"-C", "--disable-cas"}},
	{Names: []string{"-b", "--listen-backlog"}, Arg: true},
	{Names: []string{"-B", "--protocol"}, Arg: true},
	{Names: []string{"-I", "--max-item-size"}, Arg: true},
	{Names: []string{"-S", "--enable-sasl"}},
	{Names: []string{"-F", "--disable-flush-all"}},
	{Names: []string{"-X", "--disable-dumping"}},
	{Names: []string{"-W", "--disable-watch"}},
	{Names: []string{"-Y", "--auth-file"}, Arg: true},
	{Names: []string{"-e", "--memory-file"}, Arg: true},
	{Names: []string{"-Z", "--enable-ssl"}},
	{Names: []string{"-o", "--extended"}, Arg: true},
	{Names: []string{"-N", "--napi_ids"}, Arg: true},
}}

// takesValue reports whether memcached knows the option and gives it a value.
func takesValue(name string) (known, value bool) {
	for _, o := range Options.Options {
		for _, n := range o.Names {
			if n == name {
				return true, o.Arg
			}
		}
	}
	return false, false
}
