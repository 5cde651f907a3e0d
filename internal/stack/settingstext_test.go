package stack

import (
	"slices"
	"testing"
)

func TestNamedStores(t *testing.T) {
	db := store{name: "db", port: "3307", database: true, sockets: []string{"/run/db/my.sock"}}
	other := store{name: "db2", port: "3308", database: true}
	cache := store{name: "cache", port: "11211"}
	for _, c := range []struct {
		name, text string
		stores     []store
		want       []string
		guessed    bool
		mentions   bool
	}{
		{"PDO with port", `new PDO("mysql:host=127.0.0.1;port=3307;dbname=x")`, []store{db, other}, []string{"db"}, false, false},
		{"PDO with socket", `mysql:unix_socket=/run/db/my.sock;dbname=x`, []store{db, other}, []string{"db"}, false, false},
		{"PDO without port, one database", `mysql:host=localhost;dbname=x`, []store{db, cache}, []string{"db"}, true, false},
		{"PDO without port, two databases", `mysql:host=localhost;dbname=x`, []store{db, other}, nil, false, true},
		{"PDO of a variable", `"mysql:host=$host;dbname=$db"`, []store{db}, nil, false, false},
		{"PDO elsewhere", `mysql:host=db.example.com;dbname=x`, []store{db}, nil, false, true},
		{"URL", `DATABASE_URL=mysql://u:p@127.0.0.1:3308/x`, []store{db, other}, []string{"db2"}, false, false},
		{"URL without port", `mysql2://u@localhost/x`, []store{db}, []string{"db"}, true, false},
		{"URL elsewhere", `mysql://u:p@10.0.0.9/x`, []store{db}, nil, false, true},
		{"env", "DB_HOST=127.0.0.1\nDB_PORT=3307\n", []store{db, other}, []string{"db"}, false, false},
		{"ini with sections", "[database]\nhost = 127.0.0.1\nport = 3307\n[cache]\nhost = ::1\nport=11211\n", []store{db, other, cache}, []string{"db", "cache"}, false, false},
		{"PHP array", `'db' => ['host' => 'localhost', 'port' => 3308]`, []store{db, other}, []string{"db2"}, false, false},
		{"PHP elements", "$DB['TYPE'] = 'MYSQL';\n$DB['SERVER'] = 'localhost';\n$DB['PORT'] = '3308';\n$DB['DATABASE'] = 'zabbix';\n", []store{db, other}, []string{"db2"}, false, false},
		{"JSON", `{"database": {"server": "127.0.0.1", "port": "3307"}}`, []store{db}, []string{"db"}, false, false},
		{"cache address", `servers: ["127.0.0.1:11211"]`, []store{db, cache}, []string{"cache"}, false, false},
		{"Django's, with a cache", "DATABASES = {\"default\": {\"ENGINE\": \"django.db.backends.mysql\", \"HOST\": \"localhost\", \"PORT\": \"\"}}\nCACHES = {\"default\": {\"LOCATION\": \"localhost:11211\"}}\n", []store{db, cache}, []string{"cache", "db"}, true, false},
		{"a URL and a cache", "redis = 127.0.0.1:11211\nurl = mysql://u@localhost/x\n", []store{db, cache}, []string{"cache", "db"}, true, false},
		{"a database elsewhere, a cache here", "DB_HOST=10.0.0.9\nREDIS_HOST=127.0.0.1\nREDIS_PORT=11211\n", []store{db, cache}, []string{"cache"}, false, false},
		{"a database elsewhere, mails here", "DB_HOST=10.0.0.9\nCACHE=127.0.0.1:11211\nSMTP_HOST=localhost\n", []store{db, cache}, []string{"cache"}, false, false},
		{"mysqli", `$l = mysqli_connect("localhost", "u", "p");`, []store{db}, []string{"db"}, true, false},
		{"dbconfig-common", "$dbuser='x';\n$dbname='x';\n$dbserver='';\n$dbport='';\n$dbtype='mysql';\n", []store{db}, []string{"db"}, true, false},
		{"dbconfig-common, another kind", "$dbname='x';\n$dbserver='';\n$dbtype='pgsql';\n", []store{db}, nil, false, false},
		{"host of something else", "listen_host = 127.0.0.1\n", []store{db}, nil, false, false},
		{"nothing", "<?php echo 1;", []store{db}, nil, false, false},
	} {
		got := namedStores(c.text, c.stores)
		if !slices.Equal(got.names, c.want) || got.guessed != c.guessed || got.mentions != c.mentions {
			t.Errorf("%s: %+v, want %v %v %v", c.name, got, c.want, c.guessed, c.mentions)
		}
	}
}
