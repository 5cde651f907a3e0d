package remedy_test

import (
	"fmt"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
)

// A patch of configuration trades what the settings in it trade.
func TestPatched(t *testing.T) {
	st := &stack.Stack{Services: []stack.Service{{Name: "db", Kind: stack.MariaDB}, {Name: "web", Kind: stack.Nginx}, {Name: "php", Kind: stack.PHPFPM}, {Name: "httpd", Kind: stack.Apache}}}
	snap := &evidence.Snapshot{Files: map[string]map[string]evidence.File{"local": {"/etc/my.cnf": {Service: "db"}, "/etc/nginx.conf": {Service: "web"}, "/etc/www.conf": {Service: "php"}, "/etc/php.ini": {Service: "php"}, "/etc/apache2.conf": {Service: "httpd"}}}}
	for _, c := range []struct{ path, before, after, want string }{
		{"/etc/my.cnf", "[mysqld]\n", "[mysqld]\ninnodb-flush-log-at-trx-commit = 0 # fast\n", "[durability] [db]"},
		{"/etc/my.cnf", "[mysqld]\nsync_binlog=1\n", "[mysqld]\n", "[durability] [db]"},
		{"/etc/my.cnf", "[mysqld]\nsync_binlog=0\n", "[mysqld]\nsync_binlog = 1\n", "[] [db]"},
		{"/etc/my.cnf", "[mysqld]\n", "[mysqld]\nskip-log-bin\n", "[durability] [db]"},
		{"/etc/my.cnf", "[mysqld]\nsync_binlog=0\n", "[mysqld]\nsync_binlog=0\n# innodb_doublewrite = 0\nmax_connections=9\n", "[] [db]"},
		{"/etc/nginx.conf", "http { server { listen 80; } }", "http { server { listen 80;\n proxy_cache\n pages; access_log off; } }", "[observability staleness] [web]"},
		{"/etc/nginx.conf", "http { }", "http { # access_log off;\n sendfile on; }", "[] [web]"},
		{"/etc/www.conf", "pm = static\n", "pm = dynamic\nphp_admin_value[opcache.validate_timestamps] = \"0\"\n", "[staleness] [php]"},
		{"/etc/php.ini", "[PHP]\nlog_errors = On\n", "[PHP]\nlog_errors = Off ; quiet\n", "[observability] [php]"},
		{"/etc/apache2.conf", "Listen 80\n", "Listen 80\n<Directory /srv>\nphp_admin_value open_basedir none\n</Directory>\n", "[security] [httpd]"},
		{"/srv/app/x.ini", "", "sync_binlog=0\n", "[] []"},
	} {
		trades, services, err := remedy.Patched(st, snap, []change.Change{{Kind: change.KindFile, Path: c.path,
			Before: &change.FileState{Content: []byte(c.before)}, After: &change.FileState{Content: []byte(c.after)}}})
		if got := fmt.Sprint(trades, services); err != nil || got != c.want {
			t.Errorf("%q to %q: %s, want %s; %v", c.before, c.after, got, c.want, err)
		}
	}
}
