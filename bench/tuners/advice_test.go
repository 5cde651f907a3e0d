package main

import (
	"fmt"
	"strings"
	"testing"
)

// Lines as mysqltuner 1.9.9 and 2.x print them.
func TestReadAdvice(t *testing.T) {
	const output = `-------- Recommendations ---------
General recommendations:
    Reduce or eliminate unclosed connections (> 3)
Variables to adjust:
    skip-name-resolve=ON
    join_buffer_size (> 256.0K, or always use indexes with JOINs)
    performance_schema=ON
    key_buffer_size (~ 24M)
    query_cache_size (=0)
    table_definition_cache (400) > 518 or -1 (autosizing if supported)
    innodb_buffer_pool_size (>= 1.5G) if possible.
    innodb_log_file_size should be (=32M) if possible, so InnoDB total log file size equals 25% of buffer pool size.
    max_connections (< 151)

Done
    tmp_table_size (> 16M)
`
	got, err := readAdvice(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, a := range got {
		v, err := a.letter()
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s=%s ", a.variable, v)
	}
	const want = "skip_name_resolve=ON join_buffer_size=524288 performance_schema=ON key_buffer_size=25165824 query_cache_size=0 innodb_buffer_pool_size=1610612736 innodb_log_file_size=33554432 max_connections=75 "
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}
