package diagnose

import (
	"math"
	"testing"

	"kasoku/internal/evidence"
)

// What a larger redo log saves is writing pages, unless writers wait for it.
func TestCheckpointCost(t *testing.T) {
	status := func(values map[string]string) func(*Input) {
		return func(in *Input) {
			variable("innodb_buffer_pool_size", "1073741824")(in)
			count("Innodb_buffer_pool_reads", 0)(in)
			c := in.Evidence.Counters["db"]
			c.Value = values
			in.Evidence.Counters["db"] = c
		}
	}
	quiet := map[string]string{"Innodb_buffer_pool_pages_dirty": "700", "Innodb_checkpoint_age": "5000000", "Innodb_checkpoint_max_age": "10000000"}
	for name, c := range map[string]struct {
		change func(*Input)
		saved  func(m *model) float64 // seconds of CPU per request
	}{
		// The log of 10 MiB is full after 10 s, so 70 pages a second are written.
		"made beside the statements": {status(quiet), func(m *model) float64 { return 70 * 100e-6 / m.x }},
		"many in this window": {func(in *Input) { status(quiet)(in); count("Innodb_buffer_pool_pages_flushed", 5000)(in) },
			func(m *model) float64 { return 500 * 100e-6 / m.x }},
		"writers may wait": {status(map[string]string{"Innodb_buffer_pool_pages_dirty": "700", "Innodb_checkpoint_age": "9500000", "Innodb_checkpoint_max_age": "10000000"}),
			func(m *model) float64 { return m.perReq["db"] }},
		"a full disk": {func(in *Input) { status(quiet)(in); in.Evidence.System.DiskBusy = 0.95 }, func(m *model) float64 { return m.perReq["db"] }},
		"not counted": {status(nil), func(m *model) float64 { return m.perReq["db"] }},
	} {
		in := site("", c.change)
		in.Evidence.Services["db"] = evidence.ServiceUse{CPU: 6}
		m, err := newModel(in)
		if err != nil {
			t.Fatal(err)
		}
		found, why := judgeDBMemory(m)
		if len(found) != 1 {
			t.Fatalf("%s: %v %s", name, found, why)
		}
		want, _ := m.boundBy("db", c.saved(m))
		if math.Abs(found[0].Bound-want.most) > 1e-9 {
			t.Errorf("%s: at most ×%.4f, want ×%.4f", name, found[0].Bound, want.most)
		}
	}
}
