package main

import (
	"context"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/host"
)

// kind is a kind of change with an example of it on the target.
type kind struct {
	name, what string
	changes    func() []change.Change
	// pack makes the archive that changes then put in place, nil if they need none.
	pack        func(context.Context, *change.Executor) (host.Hash, error)
	unit        string // of the service that takes it on
	database    bool   // it goes through a database login
	writesFiles bool
	// edit is what someone else does to the object, and trace a line of what is
	// seen then.
	edit, trace string
	// fail and mend make the service fail, and no longer, where that is not its
	// unit's.
	fail, mend string
	// setUp and see are scripts for what only this kind needs.
	setUp, see string
}

func (k *kind) title() string { return k.name }

func kindNamed(name string) *kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

const (
	hostName = "h1"

	sitePath   = "/etc/nginx/conf.d/faults.conf"
	siteBefore = "server { listen 127.0.0.1:8080; return 200 before; }\n"
	siteAfter  = "server { listen 127.0.0.1:8080; return 200 after; }\n"

	iniPath   = "/etc/mysql/mariadb.conf.d/90-faults.cnf"
	iniBefore = "[mariadbd]\nmax_connections = 151\n"
	iniAfter  = "[mariadbd]\nmax_connections = 222\n"

	sysctlPath   = "/etc/sysctl.d/90-faults.conf"
	sysctlBefore = "net.ipv4.tcp_fin_timeout = 60\n"
	sysctlAfter  = "net.ipv4.tcp_fin_timeout = 33\n"
)

// Configurations of the endpoint that moves.
const (
	backPath  = "/etc/nginx/conf.d/faults-back.conf"
	backTCP   = "server { listen 127.0.0.1:8081; return 200 back; }\n"
	backBoth  = "server { listen 127.0.0.1:8081; listen unix:/run/faults.sock; return 200 back; }\n"
	backUnix  = "server { listen unix:/run/faults.sock; return 200 back; }\n"
	frontPath = "/etc/nginx/conf.d/faults-front.conf"
	frontTCP  = "server { listen 127.0.0.1:8082; location / { proxy_pass http://127.0.0.1:8081; } }\n"
	frontUnix = "server { listen 127.0.0.1:8082; location / { proxy_pass http://unix:/run/faults.sock:; } }\n"
)

func edited(path, before, after, service string, how change.Activation) change.Change {
	return change.Change{Kind: change.KindFile, Host: hostName, Path: path, Service: service, Activate: how,
		Before: &change.FileState{Hash: host.HashOf([]byte(before)), Content: []byte(before), Mode: 0o640},
		After:  &change.FileState{Hash: host.HashOf([]byte(after)), Content: []byte(after), Mode: 0o640}}
}

// kinds in the order of the table.
var kinds = []*kind{
	{name: "file", what: "an nginx configuration file is edited, nginx is reloaded.", unit: "nginx.service", writesFiles: true,
		edit: "echo '# someone else' >> " + sitePath, trace: "someone else",
		changes: func() []change.Change {
			return []change.Change{edited(sitePath, siteBefore, siteAfter, "web", change.Reload)}
		}},
	{name: "directory", what: "a directory of Kasoku's own is made and a file put into it.", writesFiles: true,
		edit: "mkdir -p /srv/kasoku-faults && echo someone else > /srv/kasoku-faults/new", trace: "someone else",
		changes: func() []change.Change {
			return []change.Change{
				{Kind: change.KindDir, Host: hostName, Path: "/srv/kasoku-faults"},
				{Kind: change.KindFile, Host: hostName, Path: "/srv/kasoku-faults/new", After: &change.FileState{Content: []byte("new"), UID: -1, GID: -1, Mode: 0o600}},
			}
		}},
	{name: "link", what: "a symbolic link is made and another one removed.",
		edit: "ln -sfn 'someone else' /srv/faults-links/on; ln -sfn 'someone else' /srv/faults-links/off", trace: "link off someone else",
		changes: func() []change.Change {
			return []change.Change{
				{Kind: change.KindLink, Host: hostName, Path: "/srv/faults-links/off", Link: &change.Link{Target: "../available/off", Remove: true}},
				{Kind: change.KindLink, Host: hostName, Path: "/srv/faults-links/on", Link: &change.Link{Target: "../available/on"}},
			}
		},
		setUp: `
rm -rf /srv/faults-links; mkdir -p /srv/faults-links
ln -s ../available/off /srv/faults-links/off; touch -h -d '2011-11-11 11:11:11' /srv/faults-links/off
`,
		see: `for f in /srv/faults-links/*; do echo "link ${f##*/} $(readlink "$f")"; done
`},
	{name: "variable", what: "a MariaDB variable is set at run time and made permanent in a file.", database: true, writesFiles: true,
		edit: `mariadb -e "SET GLOBAL max_connections = 199"`, trace: "max_connections\t199",
		changes: func() []change.Change {
			return []change.Change{
				{Kind: change.KindVariable, Host: hostName, Service: "db", Variable: "max_connections", BeforeValue: "151", AfterValue: "222"},
				edited(iniPath, iniBefore, iniAfter, "db", change.None),
			}
		}},
	{name: "index", what: "an index is created and another one dropped.", database: true,
		edit:  `mariadb -e "ALTER TABLE faults.t DROP INDEX IF EXISTS new, DROP INDEX IF EXISTS old, ADD INDEX new (b(7)), ADD INDEX old (a)"`,
		trace: "KEY `new` (`b`(7))",
		changes: func() []change.Change {
			return []change.Change{
				{Kind: change.KindIndex, Host: hostName, Service: "db", Index: &change.Index{Schema: "faults", Table: "t", Name: "new", Columns: []string{"a", "b(10)"}}},
				{Kind: change.KindIndex, Host: hostName, Service: "db", Index: &change.Index{Schema: "faults", Table: "t", Name: "old", Columns: []string{"b(20)"}}, Drop: true},
			}
		}},
	{name: "table", what: "a small table gets another storage engine.", database: true,
		edit:  `mariadb -e "ALTER TABLE faults.c ENGINE=MyISAM"`,
		trace: "ENGINE=MyISAM",
		setUp: `
mariadb -e "CREATE DATABASE IF NOT EXISTS faults; CREATE OR REPLACE TABLE faults.c (id BIGINT UNSIGNED NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB; INSERT INTO faults.c VALUES (41)"
`,
		see: `mariadb -N -e "SHOW CREATE TABLE faults.c; SELECT * FROM faults.c"
`,
		changes: func() []change.Change {
			return []change.Change{{Kind: change.KindTable, Host: hostName, Service: "db", Table: &change.Table{Schema: "faults", Name: "c", Engine: "Aria", Before: "InnoDB"}}}
		}},
	{name: "command", what: "a pair of commands, apply and undo.",
		changes: func() []change.Change {
			return []change.Change{{Kind: change.KindExec, Host: hostName, Apply: []string{"touch", "/srv/faults-flag"}, Undo: []string{"rm", "-f", "/srv/faults-flag"}}}
		}},
	{name: "restart", what: "MariaDB reads a changed file at its restart.", unit: "mariadb.service", database: true, writesFiles: true,
		edit: "echo '# someone else' >> " + iniPath, trace: "someone else",
		changes: func() []change.Change {
			return []change.Change{edited(iniPath, iniBefore, iniAfter, "db", change.Restart)}
		}},
	{name: "sysctl", what: "a kernel setting is set at run time and made permanent in a file.", writesFiles: true,
		edit: "sysctl -qw net.ipv4.tcp_fin_timeout=44", trace: "tcp_fin_timeout = 44",
		changes: func() []change.Change {
			return []change.Change{
				{Kind: change.KindSysctl, Host: hostName, Variable: "net.ipv4.tcp_fin_timeout", BeforeValue: "60", AfterValue: "33"},
				edited(sysctlPath, sysctlBefore, sysctlAfter, "", change.None),
			}
		}},
	{name: "unit", what: "a systemd unit is disabled and stopped.",
		edit: "systemctl mask -q --now faults-dummy", trace: "unit masked",
		changes: func() []change.Change {
			return []change.Change{{Kind: change.KindUnit, Host: hostName, Unit: &change.Unit{Name: "faults-dummy.service",
				After: change.UnitState{Enabled: "disabled", Active: "inactive"}}}}
		},
		setUp: `
systemctl unmask -q faults-dummy 2>/dev/null || true
printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' > /usr/lib/systemd/system/faults-dummy.service
systemctl daemon-reload; systemctl enable -q --now faults-dummy
`,
		see: `echo "unit $(systemctl is-enabled faults-dummy) $(systemctl is-active faults-dummy)"
`},
	processKind,
	{name: "package", what: "a Debian package with a configuration file is upgraded.",
		edit: "apt-get remove -qq -y faults-pkg >/dev/null", trace: "package rc",
		changes: func() []change.Change {
			return []change.Change{{Kind: change.KindPackage, Host: hostName, Package: &change.Package{Name: "faults-pkg", Version: "2.0"}}}
		},
		setUp: `
mkdir -p /var/lib/faults; cd /var/lib/faults; rm -rf repo; mkdir -p repo
for v in 1.0 2.0; do
	rm -rf p; mkdir -p p/DEBIAN p/etc p/usr/share/faults-pkg
	printf 'Package: faults-pkg\nVersion: %s\nArchitecture: all\nMaintainer: Kasoku <kasoku@localhost>\nDescription: faults\n' $v > p/DEBIAN/control
	echo /etc/faults-pkg.conf > p/DEBIAN/conffiles
	echo "version $v" > p/etc/faults-pkg.conf; echo $v > p/usr/share/faults-pkg/version
	dpkg-deb -b --root-owner-group p repo/faults-pkg_$v.deb >/dev/null
	{ cat p/DEBIAN/control; echo "Filename: ./faults-pkg_$v.deb"; echo "Size: $(stat -c %s repo/faults-pkg_$v.deb)"; echo "SHA256: $(sha256sum < repo/faults-pkg_$v.deb | cut -d' ' -f1)"; echo; } >> repo/Packages
done
rm -f /etc/apt/sources.list; rm -f /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/var/lib/faults/repo ./' > /etc/apt/sources.list.d/faults.list
apt-get update -qq
dpkg --configure -a >/dev/null
dpkg -P faults-pkg >/dev/null 2>&1 || true
apt-get install -qq -y faults-pkg=1.0 >/dev/null 2>&1
`,
		see: `echo "package $(dpkg-query -W -f '${db:Status-Abbrev}${Version}' faults-pkg 2>/dev/null) $(cat /etc/faults-pkg.conf /usr/share/faults-pkg/version 2>/dev/null | tr '\n' ' ')"
echo "apt $(ls /var/lib/faults/repo | tr '\n' ' ')"
`},
	{name: "move", what: "an endpoint moves to a unix socket in three phases: the server listens on both, the client switches, the old one is closed.", unit: "nginx.service", writesFiles: true,
		edit: "echo '# someone else' >> " + frontPath, trace: "someone else",
		changes: func() []change.Change {
			phase := func(n int, c change.Change) change.Change { c.Phase = n; return c }
			return []change.Change{
				phase(0, edited(backPath, backTCP, backBoth, "web", change.Reload)),
				phase(1, edited(frontPath, frontTCP, frontUnix, "web", change.Reload)),
				phase(2, edited(backPath, backBoth, backUnix, "web", change.Reload)),
			}
		},
		setUp: "put " + backPath + " '" + strings.TrimSpace(backTCP) + "\\n'\nput " + frontPath + " '" + strings.TrimSpace(frontTCP) + "\\n'\nsystemctl reload nginx\nfor i in $(seq 50); do [ \"$(curl -s 127.0.0.1:8082/)$(curl -s 127.0.0.1:8081/)\" = backback ] && break; sleep 0.1; done\nsleep 0.2\n",
		see: `echo "front $(curl -s 127.0.0.1:8082/) $(curl -s 127.0.0.1:8081/) $([ -S /run/faults.sock ] && curl -s --unix-socket /run/faults.sock http://x/)"
`},
	{name: "git", what: "a commit in an application's checkout, and its build.",
		edit: `git -C /srv/app -c user.name=x -c user.email=x@y commit -q --allow-empty -m 'someone else'`, trace: "someone else",
		changes: func() []change.Change {
			return []change.Change{{Kind: change.KindGit, Host: hostName, Git: &change.Git{Dir: "/srv/app", Message: "faster",
				Patch: []byte("diff --git a/app.txt b/app.txt\n--- a/app.txt\n+++ b/app.txt\n@@ -1 +1 @@\n-slow\n+fast\n"),
				Build: []string{"sh", "-c", "cat app.txt > build.out"}, Products: []string{"build.out"}}}}
		},
		setUp: `
rm -rf /srv/app; mkdir -p /srv/app; cd /srv/app
git init -q -b main .
echo slow > app.txt; echo build.out > .gitignore; cat app.txt > build.out
touch -d '2011-11-11 11:11:11' app.txt .gitignore build.out
git add -A; git -c user.name=x -c user.email=x@y commit -q -m first
`,
		see: `cd /srv/app; echo "git $(git rev-parse 'HEAD^{tree}') $(git log -1 --format=%s) $(git rev-list --count HEAD) $(git status --porcelain | tr '\n' ' ') $(git branch --show-current | sed 's,kasoku/.*,kasoku,')"
`},
	readyKind,
}

// edited reports whether what someone else did is still seen.
func (k *kind) edited(seen string) bool { return strings.Contains(seen, k.trace) }
