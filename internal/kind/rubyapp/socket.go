package rubyapp

import (
	"regexp"

	"kasoku/internal/appserver"
)

var pumaSocket = &appserver.Socket{
	Option: "--bind", Value: "unix://%s?backlog=4096", Ports: []string{"--port"},
	Names:  regexp.MustCompile(`(?m)^[ \t]*(?:bind|port)[ \t(]+[^ \t=].*$`),
	Line:   `bind "unix://%s?backlog=4096"`,
	Unless: regexp.MustCompile(`bind_to_activated_sockets|clear_binds|set_remote_address`),
	Source: "puma 5.6 lib/puma/dsl.rb, bind and port (each adds an address; those of the command replace those of the file: configuration.rb, UserFileDefaultOptions); binder.rb, add_unix_listener (umask 0, REMOTE_ADDR 127.0.0.1)",
}

var unicornSocket = &appserver.Socket{
	Option: "--listen", Value: "unix:%s", Ports: []string{"--port", "--host"},
	Names:  regexp.MustCompile(`(?m)^[ \t]*listen[ \t(]+[^ \t=].*$`),
	Line:   `listen "unix:%s", backlog: 4096`,
	Unless: regexp.MustCompile(`umask`),
	Source: "unicorn(1), --listen: may be given several times; Unicorn::Configurator#listen (umask 0); Unicorn::HttpRequest (REMOTE_ADDR 127.0.0.1 for sockets)",
}
