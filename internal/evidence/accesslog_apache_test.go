package evidence

import (
	"fmt"
	"strings"
	"testing"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/stack"
)

// TestApacheLogLevels: which logs hold for which virtual host, in which format.
func TestApacheLogLevels(t *testing.T) {
	const timed = "LogFormat \"%t \\\"%r\\\" %>s %D\" timed\n"
	for name, c := range map[string]struct{ conf, levels, chosen string }{
		"no virtual hosts": {timed + "CustomLog logs/a.log timed\n", "main server: /s/logs/a.log timed full", "/s/logs/a.log"},
		"a virtual host's own replaces": {timed + "Listen 80\nCustomLog /m.log timed\n<VirtualHost *:80>\nCustomLog /v.log common\n</VirtualHost>\n<VirtualHost *:80>\n</VirtualHost>\n",
			"main server: /m.log timed full | VirtualHost *:80: /v.log common | VirtualHost *:80: /m.log timed full", "/v.log /m.log"},
		"a global one beside it": {timed + "Listen 80\n<VirtualHost _default_:80>\nCustomLog /v.log common\n</VirtualHost>\nGlobalLog /g.log timed\n",
			"main server: /g.log timed full | VirtualHost _default_:80: /v.log common, /g.log timed full", "/g.log"},
		"a port without a virtual host": {timed + "Listen 127.0.0.1:80\nListen 81\n<VirtualHost 127.0.0.1:80>\nCustomLog /v.log timed\n</VirtualHost>\n",
			"main server:  | VirtualHost 127.0.0.1:80: /v.log timed full", "/v.log without main server"},
		"formats are looked up last": {"CustomLog /a.log late\nTransferLog /t.log\nLogFormat \"%r %D\"\nLogFormat \"%r %T\" late\n", "main server: /a.log late full, /t.log  full", "/a.log"},
		"a format of the virtual host's": {timed + "Listen 80\n<VirtualHost *>\nLogFormat \"%h\" timed\nCustomLog /v.log timed\n</VirtualHost>\n",
			"main server:  | VirtualHost *: /v.log timed", "/v.log"},
		"what cannot be read": {timed + "CustomLog \"|rotatelogs /x 1\" timed\nCustomLog ${NO}/x timed\nCustomLog /e.log timed env=!quiet\nCustomLog /dev/stdout timed\n",
			"main server: |rotatelogs /x 1 timed, ${NO}/x timed, /e.log timed, /dev/stdout timed", "/e.log"},
		"a module that is not there": {timed + "<IfModule mod_no.c>\nCustomLog /x.log timed\n</IfModule>\n", "main server: ", " without main server"},
		"the instrument": {timed + "CustomLog /a.log timed\nLogFormat \"time:%{end:sec}t\\treq:%r\\treqtime_microsec:%D\" kasoku_1\nGlobalLog /k.log kasoku_1\n",
			"main server: /a.log timed full, /k.log kasoku_1 full", "/k.log"},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(string) ([]byte, error) { return []byte("ServerRoot /s\n" + c.conf), nil }
			conf, err := apache.Load("/etc/apache2/apache2.conf", apache.Options{}, read, func(string) ([]string, error) { return nil, nil })
			if err != nil {
				t.Fatal(err)
			}
			levels := ApacheLogLevels(conf, &stack.Service{Config: "/etc/apache2/apache2.conf"})
			var all []string
			for _, l := range levels {
				var logs []string
				for _, a := range l.Logs {
					text := a.Path + " " + a.Name
					if a.Full() {
						text += " full"
					}
					logs = append(logs, text)
				}
				all = append(all, fmt.Sprintf("%s: %s", l.Name, strings.Join(logs, ", ")))
			}
			if got := strings.Join(all, " | "); got != c.levels {
				t.Errorf("levels\n%s, want\n%s", got, c.levels)
			}
			logs, quiet := chosenLogs(levels)
			var chosen []string
			for _, a := range logs {
				chosen = append(chosen, a.Path)
			}
			got := strings.Join(chosen, " ")
			if len(quiet) > 0 {
				got += " without " + strings.Join(quiet, ", ")
			}
			if got != c.chosen {
				t.Errorf("chosen %q, want %q", got, c.chosen)
			}
		})
	}
}
