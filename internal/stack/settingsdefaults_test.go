package stack

import (
	"fmt"
	"testing"
)

// A program's defaults for what its environment does not say name the database, in any
// language's form.
func TestDefaultsOfPrograms(t *testing.T) {
	stores := []store{{name: "db", database: true, port: "3306"}, {name: "cache", port: "11211"}}
	for _, c := range []struct{ text, want string }{
		{`$host = getenv('SHOP_DB_HOST') ?: 'localhost';`, "[db]"},
		{`$host = $_ENV["DB_HOST"] ?? "127.0.0.1";`, "[db]"},
		{`'host': os.environ.get('MYSQL_HOST', 'localhost'), 'port': int(os.environ.get('MYSQL_PORT', '3306')),`, "[db]"},
		{`host: process.env.DB_HOST || 'localhost',`, "[db]"},
		{`host: ENV['DB_HOST'] || 'localhost',`, "[db]"},
		{`host: ENV.fetch('DB_HOST') { '127.0.0.1' }`, "[db]"},
		{`my $host = $ENV{DB_HOST} // 'localhost';`, "[db]"},
		{"host := os.Getenv(\"MYSQL_HOST\")\n\tif host == \"\" {\n\t\thost = \"127.0.0.1\"\n\t}", "[db]"},
		{`Host: getEnv("MYSQL_HOST", "127.0.0.1"),`, "[db]"},
		{`url: ${DB_HOST:localhost}`, "[db]"},
		{`$server = getenv('CACHE_SERVER') ?: '127.0.0.1:11211';`, "[cache]"},
		{`$host = getenv('DB_HOST') ?: 'db.example.com';`, "[]"},
		{`$host = getenv('SMTP_HOST') ?: 'localhost';`, "[]"},
		{`$host = getenv('DB_HOST');`, "[]"},
	} {
		if got := fmt.Sprint(namedStores(defaultsOf(c.text), stores).names); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}
