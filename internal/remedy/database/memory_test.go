package database

import (
	"strconv"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// The pool is as large as wished for or as there is room, in whole chunks for
// each of the instances that it will have.
func TestWholePool(t *testing.T) {
	const gb = 1024 * mb
	for _, c := range []struct {
		why         string
		maria       bool
		now, parts  int64
		want, most  int64
		whole, each int64
	}{
		{"one below a GiB", false, 128 * mb, 1, 600 * mb, 8 * gb, 640 * mb, 1},
		{"little room: below a GiB still", false, 128 * mb, 1, 10 * gb, 928 * mb, 896 * mb, 1},
		{"across a GiB", false, 128 * mb, 1, 2*gb + 1, 8 * gb, 2304 * mb, 2},
		{"room for a GiB and a bit", false, 128 * mb, 1, 10 * gb, 1200 * mb, 1152 * mb, 1},
		{"eight that stay", false, 2 * gb, 8, 2*gb + 1, 8 * gb, 3 * gb, 8},
		{"eight, and no room for a chunk of each", false, 2 * gb, 8, 3 * gb, 2900 * mb, 2 * gb, 8},
		{"MariaDB has one", true, 128 * mb, 0, 2*gb + 1, 8 * gb, 2176 * mb, 1},
	} {
		variables := map[string]string{poolVariable: strconv.FormatInt(c.now, 10), "innodb_buffer_pool_chunk_size": strconv.FormatInt(128*mb, 10)}
		if c.parts > 0 {
			variables["innodb_buffer_pool_instances"] = strconv.FormatInt(c.parts, 10)
		}
		svc := stack.Service{Name: "db", Kind: stack.MySQL}
		v := view{svc: &svc, db: &evidence.Database{Version: "8.0.36", MariaDB: c.maria, Variables: variables}, set: map[string]int64{},
			in: planning.Input{Stack: &stack.Stack{Services: []stack.Service{svc}}, Snapshot: &evidence.Snapshot{CPUs: 8}}}
		if got := v.wholePool(c.want, c.most); got != c.whole || got > c.most || v.poolParts(got) != c.each {
			t.Errorf("%s: %d MiB of %d instances, want %d of %d", c.why, got/mb, v.poolParts(got), c.whole/mb, c.each)
		}
	}
}
