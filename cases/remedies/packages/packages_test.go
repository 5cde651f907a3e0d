// Package packages_test shows an upgrade on the real apt, dpkg and nginx, in
// files of the test's own, from an archive that the test builds.
package packages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

func TestMain(m *testing.M) { os.Exit(bed.Private(m)) }

// makeArchive packs the nginx that is installed again, as it is and as a newer
// version, and makes that the only source of packages. Arguments: the folder.
const makeArchive = `
mkdir -p "$1" && cd "$1"
now=$(dpkg-query -W -f '${Version}' nginx)
for v in "$now" "$now+kasoku1"; do
 d=nginx_$(echo "$v" | tr -c 'A-Za-z0-9.+\n' _); mkdir -p "$d/DEBIAN"
 dpkg-query -L nginx | while read -r f; do [ ! -f "$f" ] || { mkdir -p "$d$(dirname "$f")"; cp -a "$f" "$d$f"; }; done
 dpkg-query -s nginx | awk '/^[^ ]/ {skip = /^(Status|Conffiles|Version|Config-Version):/} !skip' >"$d/DEBIAN/control"
 echo "Version: $v" >>"$d/DEBIAN/control"
 dpkg-query -W -f '${Conffiles}\n' nginx | awk 'NF {print $1}' >"$d/DEBIAN/conffiles"
 [ -s "$d/DEBIAN/conffiles" ] || rm "$d/DEBIAN/conffiles"
 dpkg-deb --build -Znone --root-owner-group "$d" >/dev/null; rm -r "$d"
done
dpkg-scanpackages -m . >Packages 2>/dev/null
find /etc/apt -name '*.list' -delete -o -name '*.sources' -delete
echo "deb [trusted=yes] file:$1 ./" >/etc/apt/sources.list
rm -f /var/lib/man-db/auto-update # else dpkg's trigger reads every manual page
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
apt-get update -qq -o APT::Sandbox::User=root
`

const nginxConf = `worker_processes 1;
pid %DIR%/nginx.pid;
error_log %DIR%/error.log;
events { worker_connections 1000; }
http {
  access_log %DIR%/access.log;
  client_body_temp_path %DIR%/t1; proxy_temp_path %DIR%/t2; fastcgi_temp_path %DIR%/t3; uwsgi_temp_path %DIR%/t4; scgi_temp_path %DIR%/t5;
  server { listen 127.0.0.1:@PORT@; location / { return 200 "hello\n"; } }
}
`

const stackYAML = `version: 1
name: packages
services:
  - name: web
    kind: nginx
    binary: /usr/sbin/nginx
    config: %DIR%/nginx.conf
    prefix: %DIR%
    listen: ["127.0.0.1:@PORT@"]
    control: {method: process, pid_file: %DIR%/nginx.pid, start: [/usr/sbin/nginx, -p, %DIR%, -c, %DIR%/nginx.conf]}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:@PORT@"}
regulation: {install: true}
tune: {max_foreign_cpu: 1}
`

const scenarioYAML = `version: 1
name: packages
workload: 4
warmup: 100ms
duration: 500ms
timeout: 10s
seed: 1
sessions:
  - name: page
    weight: 1
    steps:
      - {@PAUSE@request: GET /, expect: {status: 200, regexp: ['^hello']}}
`

// state is what must come back: what dpkg and apt know of the package, and the
// bytes of its files.
func state(t *testing.T) string {
	t.Helper()
	return bed.Output(t, "sh", "-ec", `dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n' 'nginx*'
apt-mark showauto nginx; dpkg-query -L nginx | while read -r f; do [ ! -f "$f" ] || sha256sum "$f"; done; find /etc/nginx -type f -exec sha256sum {} + | sort; dpkg --audit`)
}

func TestPackagesUpgrade(t *testing.T) {
	bed.NeedPrivate(t)
	dir := bed.Folder(t)
	bed.Output(t, "sh", "-ec", makeArchive, "sh", filepath.Join(dir, "archive"))
	port := fmt.Sprint(bed.FreePort(t))
	for name, text := range map[string]string{"nginx.conf": nginxConf, "kasoku.yaml": stackYAML, "scenario.yaml": scenarioYAML} {
		bed.Write(t, dir, name, strings.NewReplacer("@PORT@", port, "@PAUSE@", bed.Pause()).Replace(text))
	}
	bed.StopByPIDFile(t, filepath.Join(dir, "nginx.pid"))
	bed.Output(t, "/usr/sbin/nginx", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	bed.Await(t, "127.0.0.1:"+port)
	b := bed.Open(t, dir)

	before := state(t)
	pid, err := os.ReadFile(filepath.Join(dir, "nginx.pid"))
	if err != nil {
		t.Fatal(err)
	}
	in := b.Seen(t)
	p := bed.Want(t, remedy.PlanAll(in), "packages.upgrade")
	tx := b.Apply(t, p)
	now := bed.Output(t, "dpkg-query", "-W", "-f", "${Version}", "nginx")
	if !strings.HasSuffix(now, "+kasoku1") {
		t.Errorf("version %s", now)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "nginx.pid")); err != nil || string(again) == string(pid) {
		t.Errorf("nginx was not restarted: %v", err)
	}
	b.Answers(t, "upgraded")
	for _, q := range b.Plans(t).Plans {
		if q.Remedy == "packages.upgrade" {
			t.Errorf("planned again: %s", q.Title)
		}
	}
	b.Revert(t, tx)
	if after := state(t); after != before {
		t.Errorf("after undo:\n%s\nbefore:\n%s", after, before)
	}
	b.Answers(t, "undone")

	in.Stack.Regulation.Install = false
	for _, q := range remedy.PlanAll(in).Plans {
		if q.Remedy == "packages.upgrade" {
			t.Error("it is planned although packages may not be installed")
		}
	}
}
