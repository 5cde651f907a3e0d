package diagnose

import "testing"

// Each form of a setting is turned, and nothing else: not a comment, not a
// cache's setting, not what keeps connections already.
func TestKeepConnections(t *testing.T) {
	for _, c := range []struct{ name, old, want string }{
		{"CodeIgniter 3", "\t'dbdriver' => 'mysqli',\n\t'pconnect' => FALSE,\n", "\t'dbdriver' => 'mysqli',\n\t'pconnect' => TRUE,\n"},
		{"CodeIgniter 2", "$db['default']['pconnect'] = FALSE;\n", "$db['default']['pconnect'] = TRUE;\n"},
		{"Moodle", "    'dbpersist' => 0,\n", "    'dbpersist' => 1,\n"},
		{"PDO", "  PDO::ATTR_PERSISTENT => false,\n  \\PDO::ATTR_PERSISTENT=>0\n", "  PDO::ATTR_PERSISTENT => true,\n  \\PDO::ATTR_PERSISTENT=>1\n"},
		{"CakePHP", "'driver' => 'Mysql',\n'persistent' => false,\n", "'driver' => 'Mysql',\n'persistent' => true,\n"},
		{"a cache beside it", "'driver' => 'Mysql',\n'persistent' => false,\n'engine' => 'Memcached',\n'persistent' => false,\n", ""},
		{"a mailer", "'host' => 'smtp',\n'persistent' => false,\n", ""},
		{"an environment", "APP_DB_PERSISTENT=off\nMYSQL_PERSISTENT='no'\n", "APP_DB_PERSISTENT=on\nMYSQL_PERSISTENT='yes'\n"},
		{"another variable", "CACHE_PERSISTENT=0\nDB_PERSISTENT_ID=0\n", ""},
		{"Django", "    'CONN_MAX_AGE': 0,\n", "    'CONN_MAX_AGE': 60,\n"},
		{"Django that does not say", "DATABASES = {\n    'default': {'ENGINE': 'django.db.backends.mysql'},\n}", "DATABASES = {\n    'default': {'ENGINE': 'django.db.backends.mysql'},\n}\n" + keptByDjango},
		{"Django from a URL", "DATABASES = {'default': dj_database_url.parse('mysql://app@db/app')}\n", "DATABASES = {'default': dj_database_url.parse('mysql://app@db/app')}\n" + keptByDjango},
		{"Django that keeps them by its URL", "DATABASES = {'default': dj_database_url.parse('mysql://app@db/app', conn_max_age=60)}\n", ""},
		{"Django on another database", "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3'}}\n", ""},
		{"Django's settings of a test", "# DATABASES = {'default': {'ENGINE': 'django.db.backends.mysql'}}\n", ""},
		{"kept already", "'pconnect' => TRUE\nDB_PERSISTENT=1\n'CONN_MAX_AGE': 600\n", ""},
		{"comments", "# DB_PERSISTENT=0\n// 'pconnect' => FALSE\n#   'CONN_MAX_AGE': 0,\n", ""},
	} {
		got, n := KeepConnections([]byte(c.old))
		want := c.want
		if want == "" {
			want = c.old
		}
		if string(got) != want || (n > 0) != (c.want != "") {
			t.Errorf("%s: %d settings, %q becomes %q", c.name, n, c.old, got)
		}
		if _, again := KeepConnections(got); again != 0 {
			t.Errorf("%s: asked for again: %q", c.name, got)
		}
	}
}

// The variable gets a value where it has none, and a line where Laravel would
// read it.
func TestKeepMemcached(t *testing.T) {
	for _, c := range []struct {
		name, old, want string
		reads           bool
	}{
		{"empty", "A=1\nMEMCACHED_PERSISTENT_ID=\nB=2\n", "A=1\nMEMCACHED_PERSISTENT_ID=kasoku\nB=2\n", false},
		{"null", "MEMCACHED_PERSISTENT_ID=null\n", "MEMCACHED_PERSISTENT_ID=kasoku\n", false},
		{"not there, Laravel", "MEMCACHED_HOST=127.0.0.1\nMEMCACHED_PORT=11211\n", "MEMCACHED_HOST=127.0.0.1\nMEMCACHED_PERSISTENT_ID=kasoku\nMEMCACHED_PORT=11211\n", true},
		{"not there, another", "MEMCACHED_HOST=127.0.0.1\n", "", false},
		{"no memcached", "DB_HOST=127.0.0.1\n", "", true},
		{"named", "MEMCACHED_HOST=127.0.0.1\nMEMCACHED_PERSISTENT_ID=shop\n", "", true},
		{"a comment", "# MEMCACHED_PERSISTENT_ID=\n", "", false},
	} {
		got, could := KeepMemcached([]byte(c.old), c.reads)
		want := c.want
		if want == "" {
			want = c.old
		}
		if string(got) != want || could != (c.want != "") {
			t.Errorf("%s: %v, %q becomes %q", c.name, could, c.old, got)
		}
		if _, again := KeepMemcached(got, c.reads); again {
			t.Errorf("%s: asked for again: %q", c.name, got)
		}
	}
}
