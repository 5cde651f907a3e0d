package evidence

import (
	"fmt"
	"testing"
)

func TestParseForeignOptions(t *testing.T) {
	for _, c := range []struct{ name, says, want string }{
		{"MariaDB 10.11, removed", "2026-11-22  5:53:07 0 [Warning] 'innodb-file-format' was removed. It does nothing now and exists only for compatibility with old my.cnf files.\n", "[{innodb-file-format was removed and does nothing now}]"},
		{"MariaDB 10.11, unknown", "2026-11-22  5:53:07 0 [ERROR] mariadbd: unknown variable 'table_cache=64'\n", "[{table_cache is unknown to it}]"},
		{"MySQL 8.0, unknown", "2023-01-01T00:00:00.000000Z 0 [ERROR] [MY-000067] [Server] unknown variable 'query_cache_size=1M'.\n", "[{query_cache_size is unknown to it}]"},
		{"an option without a value, twice", "mariadbd: unknown option '--skip-locking'\nmariadbd: unknown option '--skip-locking'\n", "[{skip-locking is unknown to it}]"},
		{"one that is meant to be unknown", "2026-11-22  5:53:07 0 [Warning] mariadbd: unknown variable 'loose_foo_bar=1'\n", "[]"},
		{"a value that was adjusted is known", "[Warning] option 'innodb-log-buffer-size': unsigned value 262144 adjusted to 2097152\n", "[]"},
	} {
		if got := fmt.Sprint(parseForeignOptions([]byte(c.says))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
