package main

import (
	"time"

	"kasoku/internal/change"
	"kasoku/internal/stack"
)

// appDir holds a service of two implementations at one address, both nginx
// with a configuration of their own: main is a plain process with a PID file,
// other has commands of its own.
const appDir = "/srv/faults-app"

// appFails: while this file is there, neither can be started.
const appFails = "/run/faults-app.fails"

func appPID(name string) string { return "/run/faults-app." + name + ".pid" }

// appService is that service as kasoku.yaml would have it.
func appService() stack.Service {
	start := func(name string) []string { return []string{appDir + "/run", name} }
	return stack.Service{Name: "app", Kind: stack.App, Host: hostName, Binary: "/usr/sbin/nginx", Root: appDir, Listen: []string{"127.0.0.1:8083"},
		Control: stack.Control{PIDFile: appPID(stack.Main), Start: start(stack.Main)}, Health: stack.Health{Timeout: 10 * time.Second},
		Variants: []stack.Variant{{Name: "other", Binary: "/usr/sbin/nginx", Control: stack.Control{Method: stack.MethodCommand, PIDFile: appPID("other"),
			Start: start("other"), Stop: []string{"/usr/sbin/nginx", "-c", appDir + "/other.conf", "-s", "quit"}}}}}
}

// processKind has one implementation take over from the other. Nobody edits
// it meanwhile: an implementation runs or does not, so that what somebody else
// did looks like Kasoku's own work or like none.
var processKind = &kind{name: "process", what: "an implementation of a service takes over from another one: one process is stopped, another one started. What was started last is started at boot.",
	fail: "touch " + appFails, mend: "rm -f " + appFails,
	changes: func() []change.Change {
		turn := func(name, before, after string) change.Change {
			return change.Change{Kind: change.KindProcess, Host: hostName, Service: "app", Process: &change.Process{Name: name, Before: before, After: after}}
		}
		return []change.Change{turn(stack.Main, "active", "inactive"), turn("other", "inactive", "active")}
	},
	// The boot starts it before SSH answers and before MariaDB, which the
	// matrix waits for, so that both meet what a boot leaves.
	setUp: `
rm -f ` + appFails + `
mkdir -p ` + appDir + `; cd ` + appDir + `
for name in main other; do
	pid=/run/faults-app.$name.pid
	[ -s $pid ] && kill $(cat $pid) 2>/dev/null && while [ -e $pid ]; do sleep 0.05; done
	echo "pid $pid; error_log /var/log/nginx/faults-app.log; events {} http { access_log off; server { listen 127.0.0.1:8083; return 200 $name; } }" > $name.conf
done
cat > run <<'END'
#!/bin/sh
# Starts the implementation $1, by default the one that was started last.
name=${1:-$(cat ` + appDir + `/current)}
[ ! -e ` + appFails + ` ] || { echo "it cannot be started" >&2; exit 1; }
/usr/sbin/nginx -c ` + appDir + `/$name.conf && echo $name > ` + appDir + `/current
END
chmod 755 run
printf '[Unit]\nBefore=ssh.service mariadb.service\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=` + appDir + `/run\n[Install]\nWantedBy=multi-user.target\n' > /etc/systemd/system/faults-boot.service
systemctl daemon-reload; systemctl enable -q faults-boot
./run main
`,
	see: `for name in main other; do echo "app $name $(pgrep -fc "master process .*` + appDir + `/$name.conf")"; done
echo "app serves $(curl -s 127.0.0.1:8083/)"
`}
