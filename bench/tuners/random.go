package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
)

// knob is one setting that the random search draws: one of values, or a whole
// number between low and high, spread evenly over powers.
type knob struct {
	kind      stack.Kind
	key       string
	values    []string
	low, high float64
	unit      string
}

// knobs are the settings that Kasoku's own remedies for such a stack change
// and that trade nothing, with ranges as wide as the manuals call useful.
var knobs = []knob{
	{kind: stack.MariaDB, key: "innodb_buffer_pool_size", low: 16, high: 4096, unit: "M"},
	{kind: stack.MariaDB, key: "innodb_log_file_size", low: 8, high: 1024, unit: "M"},
	{kind: stack.MariaDB, key: "innodb_io_capacity", low: 100, high: 4000},
	{kind: stack.MariaDB, key: "innodb_log_buffer_size", low: 1, high: 64, unit: "M"},
	{kind: stack.MariaDB, key: "innodb_adaptive_hash_index", values: []string{"ON", "OFF"}},
	{kind: stack.MariaDB, key: "skip_name_resolve", values: []string{"ON", "OFF"}},
	{kind: stack.MariaDB, key: "thread_cache_size", low: 1, high: 256},
	{kind: stack.MariaDB, key: "table_open_cache", low: 64, high: 8192},
	{kind: stack.MariaDB, key: "sort_buffer_size", low: 32, high: 8192, unit: "K"},
	{kind: stack.MariaDB, key: "join_buffer_size", low: 32, high: 8192, unit: "K"},
	{kind: stack.MariaDB, key: "tmp_table_size", low: 1, high: 256, unit: "M"},
	{kind: stack.MariaDB, key: "query_cache_size", values: []string{"0", "16M", "64M"}},
	{kind: stack.PHPFPM, key: "opcache.enable", values: []string{"0", "1"}},
	{kind: stack.PHPFPM, key: "opcache.jit_buffer_size", values: []string{"0", "64M"}},
	{kind: stack.PHPFPM, key: "realpath_cache_size", values: []string{"16K", "4096K"}},
	{kind: stack.PHPFPM, key: "pm", values: []string{"static"}},
	{kind: stack.PHPFPM, key: "pm.max_children", low: 1, high: 64},
	{kind: stack.Nginx, key: "worker_processes", low: 1, high: 8},
	{kind: stack.Nginx, key: "worker_connections", low: 256, high: 8192},
	{kind: stack.Nginx, key: "sendfile", values: []string{"on", "off"}},
	{kind: stack.Nginx, key: "tcp_nopush", values: []string{"on", "off"}},
	{kind: stack.Nginx, key: "keepalive_timeout", values: []string{"0", "65s"}},
	{kind: stack.Nginx, key: "keepalive_requests", low: 10, high: 10000},
}

// draw is a random value of the knob.
func (k knob) draw(r *rand.Rand) string {
	if len(k.values) > 0 {
		return k.values[r.IntN(len(k.values))]
	}
	v := math.Exp(math.Log(k.low) + r.Float64()*(math.Log(k.high)-math.Log(k.low)))
	return fmt.Sprintf("%.0f%s", v, k.unit)
}

// columnIndexed is the chance that a trial has an index on a given column.
const columnIndexed = 0.25

// trial is one random configuration.
type trial struct {
	sets    []string
	indexes []change.Index
}

func drawTrial(r *rand.Rand, st *stack.Stack, snap *evidence.Snapshot) trial {
	var t trial
	for _, k := range knobs {
		for _, svc := range st.OfKind(k.kind) {
			t.sets = append(t.sets, fmt.Sprintf("%s.%s=%s", svc.Name, k.key, k.draw(r)))
		}
	}
	for _, db := range snap.Databases {
		for _, table := range db.Tables {
			for _, c := range table.Columns {
				if indexed(table, c.Name) || strings.Contains(c.Type, "text") || strings.Contains(c.Type, "blob") || r.Float64() >= columnIndexed {
					continue
				}
				t.indexes = append(t.indexes, change.Index{Schema: table.Schema, Table: table.Name, Name: "random_" + c.Name, Columns: []string{c.Name}})
			}
		}
	}
	return t
}

// indexed: an index begins with the column.
func indexed(t evidence.Table, column string) bool {
	for _, i := range t.Indexes {
		if len(i.Columns) > 0 && i.Columns[0] == column {
			return true
		}
	}
	return false
}

func (t trial) changes(st *stack.Stack, snap *evidence.Snapshot) ([]change.Change, error) {
	out, _, err := remedy.Set(st, snap, t.sets)
	db := st.OfKind(stack.MariaDB, stack.MySQL)[0].Name
	for i := range t.indexes {
		out = append(out, change.Change{Kind: change.KindIndex, Service: db, Index: &t.indexes[i]})
	}
	return out, err
}

// randomSearch draws configurations until the time is over and keeps the one
// that scored best in its single run, as such searches do.
func randomSearch(ctx context.Context, dir string, limit, window time.Duration, users int, seed uint64) error {
	p, err := open(ctx, dir, window, true)
	if err != nil {
		return err
	}
	defer p.close()
	snap, err := p.snapshot(ctx)
	if err != nil {
		return err
	}
	coin := rand.New(rand.NewPCG(seed, 0))
	end := time.Now().Add(limit)
	found, err := p.score(ctx, "as found", users)
	if err != nil {
		return err
	}
	best, top, tried, failed := trial{}, found, 0, 0
	for time.Now().Before(end) {
		t := drawTrial(coin, p.stack, snap)
		tried++
		got, err := p.measure(ctx, t, snap, users)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			failed++
			fmt.Printf("trial %d: %v\n", tried, err)
			continue
		}
		fmt.Printf("trial %d: %.0f points/s, %d indexes\n", tried, got, len(t.indexes))
		if got > top {
			best, top = t, got
		}
	}
	fmt.Printf("random search: %d trials, %d did not come up; best %.0f points/s against %.0f as found\n", tried, failed, top, found)
	if len(best.sets) == 0 {
		return nil
	}
	changes, err := best.changes(p.stack, snap)
	if err != nil {
		return err
	}
	tx, err := p.exec.Apply(ctx, change.Intent{Title: "best of a random search", Changes: changes})
	if err != nil {
		return err
	}
	return p.exec.Keep(ctx, tx.ID)
}

// measure applies a trial, scores it, and takes it back.
func (p *place) measure(ctx context.Context, t trial, snap *evidence.Snapshot, users int) (float64, error) {
	changes, err := t.changes(p.stack, snap)
	if err != nil {
		return 0, err
	}
	tx, err := p.exec.Apply(ctx, change.Intent{Title: "a random configuration", Changes: changes})
	if err != nil {
		return 0, err
	}
	got, err := p.score(ctx, "random", users)
	if rerr := p.exec.Revert(context.WithoutCancel(ctx), tx.ID); rerr != nil {
		return 0, rerr
	}
	return got, err
}
