package stack

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kasoku/internal/confedit/ini"
)

func TestUnknownOptions(t *testing.T) {
	const help = "mysqld  Ver 8.0.15\n  --log-bin[=name]    Log update queries\n  --user=name         Run as user\n" +
		"\nVariables (--variable-name=value)\nand boolean options {FALSE|TRUE}    Value (after reading options)\n------- ------\n" +
		"innodb-buffer-pool-size            134217728\nname-resolve                  TRUE\n"
	file := filepath.Join(t.TempDir(), "my.cnf")
	text := "[mysqld]\nuser = mysql\ninnodb_buffer_pool_size = 1M\ninnodb-buffer-pool-s = 1M\nquery_cache_size = 1M\nskip-name-resolve\nloose_other = 1\n" +
		"validate_password.length = 8\n[mysqld-8.0]\nlog-slow-queries = x\n[client]\nanything = 1\n[mariadb]\naria_x = 1\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	conf, err := ini.Load(file, ini.MySQL, os.ReadFile, filepath.Glob)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{"validate_password.length": "8"}
	if got := UnknownOptions(help, conf, known); !slices.Equal(got, []string{"query_cache_size", "log-slow-queries"}) {
		t.Errorf("unknown are %q", got)
	}
	if got := UnknownOptions("no table of variables", conf, known); got != nil {
		t.Errorf("without a list of options unknown are %q", got)
	}
}
