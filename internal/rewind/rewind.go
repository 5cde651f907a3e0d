// Package rewind keeps what a load changes, and puts it back before each run
// (load.reset: snapshot): rows of databases, keys of Redis, folders. In: a stack as
// it is before its first run. Out: the same rows, keys and files again, however often
// a run has changed them.
//
// Nothing is left on a target: the copy lies in a file without a name beside the
// journal, which goes with the process. Indexes, settings and whatever else a change
// put in place stay, since rows are put back and not the database's files.
package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// Options of a copy.
type Options struct {
	stack.Snapshot
	// Dir is where the unnamed file is made; it needs room for the copy.
	Dir string
}

// Keeper has a copy and puts it back. It is not safe for concurrent use.
type Keeper struct {
	spool     *spool
	databases []*database
	redis     []*redisStore
	folders   []*folder
	emptied   []*stack.Service // memcached: what it holds may go at any time
	hosts     map[string]host.Host
	// Took is how long the copy took.
	Took time.Duration
}

// Report says what was put back.
type Report struct {
	Tables, Rows, Keys, Files int
	Took                      time.Duration
}

// String is e.g. "812 rows of 4 tables, 3 files in 0.3 s".
func (r Report) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{r.Rows, fmt.Sprintf("%d rows of %d tables", r.Rows, r.Tables)}, {r.Keys, fmt.Sprintf("%d keys", r.Keys)}, {r.Files, fmt.Sprintf("%d files", r.Files)}} {
		if p.n > 0 {
			parts = append(parts, p.text)
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	return fmt.Sprintf("%s in %.1f s", strings.Join(parts, ", "), r.Took.Seconds())
}

// Take copies what the load may change: the rows of all databases that Kasoku can
// log in to, the keys of every Redis, and the folders that are named. An error says
// what cannot be kept, and what to write in kasoku.yaml.
func Take(ctx context.Context, st *stack.Stack, hosts map[string]host.Host, o Options) (k *Keeper, err error) {
	begun := time.Now()
	k = &Keeper{hosts: hosts}
	defer func() {
		if err != nil {
			k.Close()
			k = nil
		}
	}()
	if k.spool, err = newSpool(o.Dir); err != nil {
		return k, err
	}
	if err := k.takeDatabases(ctx, st, o); err != nil {
		return k, err
	}
	for _, svc := range st.OfKind(stack.Redis) {
		r := &redisStore{svc: svc, host: hosts[svc.HostName()]}
		k.redis = append(k.redis, r)
		if err := r.take(ctx); err != nil {
			return k, fmt.Errorf("keep %s: %w", svc.Name, err)
		}
	}
	k.emptied = st.OfKind(stack.Memcached)
	for _, where := range o.Folders {
		f := &folder{path: where, host: hosts[stack.LocalHost], spool: k.spool}
		if name, at, ok := strings.Cut(where, ":"); ok && hosts[name] != nil {
			f.host, f.path = hosts[name], at
		}
		k.folders = append(k.folders, f)
		if err := f.take(ctx); err != nil {
			return k, fmt.Errorf("keep %s: %w", where, err)
		}
	}
	if len(k.databases)+len(k.redis)+len(k.folders) == 0 {
		return k, errors.New("there is nothing to keep: no database with a login, no Redis, and no folder under load.snapshot.folders")
	}
	k.Took = time.Since(begun)
	return k, nil
}

// takeDatabases copies the rows of every database, and asks whether somebody else
// writes there.
func (k *Keeper) takeDatabases(ctx context.Context, st *stack.Stack, o Options) error {
	for i := range st.Services {
		svc := &st.Services[i]
		if !svc.IsDatabase() || svc.SpareFor != "" {
			continue // a spare has the rows of the one that it is spare for
		}
		if svc.Login == nil {
			return fmt.Errorf("keep %s: it has no login in kasoku.yaml; write login: {user: …, password_file: …}, or a command as load.reset", svc.Name)
		}
		d := &database{svc: svc, host: k.hosts[svc.HostName()], spool: k.spool, options: o.Snapshot}
		if err := d.take(ctx); err != nil {
			d.close()
			return fmt.Errorf("keep %s: %w", svc.Name, err)
		}
		k.databases = append(k.databases, d)
	}
	return nil
}

// What says what is kept, e.g. "57 tables (904,112 rows, 312 MiB), 2 folders".
func (k *Keeper) What() string {
	var parts []string
	tables, rows := 0, int64(0)
	for _, d := range k.databases {
		tables += len(d.tables)
		for _, t := range d.tables {
			rows += t.rows
		}
	}
	if tables > 0 {
		parts = append(parts, fmt.Sprintf("%d tables (%d rows)", tables, rows))
	}
	keys := 0
	for _, r := range k.redis {
		keys += r.count()
	}
	if len(k.redis) > 0 {
		parts = append(parts, fmt.Sprintf("%d keys of Redis", keys))
	}
	files := 0
	for _, f := range k.folders {
		files += len(f.kept)
	}
	if len(k.folders) > 0 {
		parts = append(parts, fmt.Sprintf("%d files and folders", files))
	}
	for _, svc := range k.emptied {
		parts = append(parts, svc.Name+" is emptied each time")
	}
	return fmt.Sprintf("%s, %.1f MiB", strings.Join(parts, ", "), float64(k.spool.size)/(1<<20))
}

// Left are tables whose rows are not put back, each with the reason.
func (k *Keeper) Left() []string {
	var out []string
	for _, d := range k.databases {
		out = append(out, d.left...)
	}
	slices.Sort(out)
	return out
}

// Seen notes what a run has written, before anything is restarted: a restarted server
// does not tell any more.
func (k *Keeper) Seen(ctx context.Context) error {
	for _, d := range k.databases {
		if err := d.seen(ctx); err != nil {
			return fmt.Errorf("look at what %s wrote: %w", d.svc.Name, err)
		}
	}
	return nil
}

// Back puts everything back as it was when it was taken. What it has put back stays
// if it is cut short; another Back goes on.
func (k *Keeper) Back(ctx context.Context) (Report, error) {
	begun := time.Now()
	var r Report
	for _, d := range k.databases {
		tables, rows, err := d.back(ctx)
		r.Tables, r.Rows = r.Tables+tables, r.Rows+rows
		if err != nil {
			return r, fmt.Errorf("put the rows of %s back: %w", d.svc.Name, err)
		}
	}
	for _, s := range k.redis {
		n, err := s.back(ctx)
		r.Keys += n
		if err != nil {
			return r, fmt.Errorf("put the keys of %s back: %w", s.svc.Name, err)
		}
	}
	for _, svc := range k.emptied {
		if err := empty(ctx, k.hosts[svc.HostName()], svc); err != nil {
			return r, fmt.Errorf("empty %s: %w", svc.Name, err)
		}
	}
	for _, f := range k.folders {
		n, err := f.back(ctx)
		r.Files += n
		if err != nil {
			return r, fmt.Errorf("put %s back: %w", f.path, err)
		}
	}
	r.Took = time.Since(begun)
	return r, nil
}

// Close lets the copy go.
func (k *Keeper) Close() {
	for _, d := range k.databases {
		d.close()
	}
	if k.spool != nil {
		k.spool.file.Close()
	}
}
