package apps_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/tune"
	"kasoku/lab"
	"kasoku/lab/labtest"
)

// shopUnit is the host as found: Gunicorn under a user of its own, by a unit
// that has no folder, and nginx that asks it at a port.
const shopUnit = `
umask 022
dpkg -i /srv/debs/*.deb >/dev/null
useradd --system shop
mv /srv/debs/shop.py /srv/shop.py
cat >/etc/systemd/system/shop.service <<'EOF'
[Service]
User=shop
# the monitoring asks at this port
ExecStart=/usr/bin/gunicorn --workers 2 --bind 127.0.0.1:8000 \
    --chdir /srv shop:app
[Install]
WantedBy=multi-user.target
EOF
cat >/etc/nginx/nginx.conf <<'EOF'
user www-data;
pid /run/nginx.pid;
events { worker_connections 512; }
http {
    access_log off;
    server {
        listen 127.0.0.1:80;
        location / {
            proxy_pass http://127.0.0.1:8000;
        }
    }
}
EOF
systemctl daemon-reload
systemctl enable -q shop.service nginx.service
systemctl restart shop.service nginx.service
`

// seenShop is all that undo must bring back.
const seenShop = `find /etc/systemd /etc/nginx /etc/tmpfiles.d -printf '%p %m %u %l\n' | sort; find /etc/systemd /etc/nginx /etc/tmpfiles.d -type f -exec sha256sum {} + | sort
ls /run | grep kasoku || true; systemctl is-active shop.service nginx.service`

const askShop = `for i in $(seq 50); do curl -sf -m 5 http://127.0.0.1/ && break; sleep 0.2; done; curl -s http://127.0.0.1/whoami; echo; curl -s http://127.0.0.1:8000/whoami; echo; curl -s http://127.0.0.1/host`

// A unit gets a folder for the socket, made at each boot; after a reboot
// nginx reaches the application without a hand.
func TestUnitSocket(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("a disposable host needs root, and takes too long for -short")
	}
	programs := sshtest.Programs(t)
	l := labtest.Up(t, lab.Options{Count: 1, Program: filepath.Join(programs, "kasoku-linux-"+runtime.GOARCH), Off: []string{"mariadb", "memcached", "php8.2-fpm", "redis-server", "supervisor"}})
	h, err := ssh.Open(t.Context(), ssh.Options{Name: "h1", Destination: "h1", ConfigFile: l.SSHConfig, Programs: programs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	dir := t.TempDir()
	hosts := map[string]host.Host{"h1": h}
	st := &stack.Stack{Version: 1, Dir: dir, Path: filepath.Join(dir, "kasoku.yaml"), Regulation: bed.Relaxed(), Load: stack.LoadConfig{URL: "http://127.0.0.1"},
		Services: []stack.Service{
			{Name: "web", Kind: stack.Nginx, Host: "h1", Binary: "/usr/sbin/nginx", Config: "/etc/nginx/nginx.conf", Prefix: "/usr/share/nginx", Listen: []string{"127.0.0.1:80"}, TalksTo: []string{"shop"}, Control: stack.Control{Unit: "nginx.service"}},
			{Name: "shop", Kind: stack.App, Host: "h1", Root: "/srv", Listen: []string{"127.0.0.1:8000"}, Control: stack.Control{Unit: "shop.service"}}}}
	st.Regulation.Install = false // or apt is asked
	sh := func(script string) string { t.Helper(); return bed.Shell(t, h, script) }
	putShop(t, h, dir)
	sh(shopUnit)
	exec, err := tune.OpenExecutor(t.Context(), filepath.Join(dir, ".kasoku"), st, hosts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Close() })
	before, asked := sh(seenShop), sh(askShop)
	if want := "sum 2666466670000\n127.0.0.1\n127.0.0.1\n127.0.0.1:8000"; asked != want {
		t.Fatalf("as found the answers are %q, want %q", asked, want)
	}
	p := bed.Want(t, planned(t, st, hosts), "nginx.app-socket")
	tx, err := exec.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
	if err != nil {
		t.Fatal(err)
	}
	moved := func(when string) {
		t.Helper()
		if got, want := sh(askShop), "sum 2666466670000\n\n127.0.0.1\n127.0.0.1:8000"; got != want {
			t.Errorf("%s the answers are %q, want %q", when, got, want)
		}
		if got := sh("stat -c '%F %U' /run/kasoku-shop/kasoku-shop.sock; stat -c '%a %U' /run/kasoku-shop"); got != "socket shop\n755 shop" {
			t.Errorf("%s the socket and its folder are %q", when, got)
		}
	}
	moved("on the socket")
	for _, again := range planned(t, st, hosts).Plans {
		if again.Remedy == p.Remedy {
			t.Errorf("%s is planned again although it is in force: %s", again.ID, again.Why)
		}
	}
	if err := l.Reboot(t.Context(), "h1", false); err != nil {
		t.Fatal(err)
	}
	if h, err = ssh.Open(t.Context(), ssh.Options{Name: "h1", Destination: "h1", ConfigFile: l.SSHConfig, Programs: programs}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	moved("after a reboot")
	if err := exec.Close(); err != nil {
		t.Fatal(err)
	}
	if exec, err = tune.OpenExecutor(t.Context(), filepath.Join(dir, ".kasoku"), st, map[string]host.Host{"h1": h}); err != nil {
		t.Fatal(err)
	}
	if err := exec.Revert(t.Context(), tx.ID); err != nil {
		t.Fatal(err)
	}
	if after := sh(seenShop); after != before {
		t.Errorf("the host is not as before:\n%s\nit was:\n%s", after, before)
	}
	if got := sh(askShop); got != asked {
		t.Errorf("undone, the answers are %q, want %q", got, asked)
	}
}

// putShop puts the application on the host and Gunicorn with what of Python it
// needs; the host reaches no archive itself.
func putShop(t *testing.T, h host.Host, dir string) {
	t.Helper()
	debs := filepath.Join(dir, "debs")
	bed.Output(t, "sh", "-ec", `mkdir -p "$1"; chmod 755 "$1"; cd "$1"; apt-cache depends --recurse --important gunicorn | grep -E '^(gunicorn|python3-[a-z0-9-]+)$' | grep -v minimal | sort -u |
		xargs apt-get -qq -o APT::Sandbox::User=root download`, "sh", debs)
	copied(t, debs, "python/shop.py", "shop.py")
	bed.Shell(t, h, "mkdir -p /srv/debs")
	entries, err := os.ReadDir(debs)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(debs, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := h.ReplaceFile(t.Context(), "/srv/debs/"+e.Name(), data, host.Replace{Mode: 0o644, UID: -1, GID: -1}); err != nil {
			t.Fatal(err)
		}
	}
}

// planned looks at the host and plans.
func planned(t *testing.T, st *stack.Stack, hosts map[string]host.Host) remedy.Result {
	t.Helper()
	ev, snap := bed.Idle(t, st, hosts)
	d, err := diagnose.Diagnose(diagnose.Input{Stack: st, Evidence: ev, Snapshot: snap})
	if err != nil {
		t.Fatal(err)
	}
	return remedy.PlanAll(remedy.Input{Stack: st, Evidence: ev, Snapshot: snap, Diagnosis: d})
}
