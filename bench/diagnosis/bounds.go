package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/stat"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// bottleneck is put into a service that has no other of its size.
type bottleneck struct {
	name        string
	binds       string   // what must be named
	rules       []string // whose finding it is
	put, remove func(ctx context.Context, c *login) error
	workload    int // while it is in; 0: the scenario's
}

func edit(file, good, bad string) (put, remove func(context.Context, *login) error) {
	to := func(old, text string) func(context.Context, *login) error {
		return func(ctx context.Context, c *login) error {
			if err := c.replace(file, old, text); err != nil {
				return err
			}
			return c.restart(ctx)
		}
	}
	return to(good, bad), to(bad, good)
}

func statements(put, remove []string) (func(context.Context, *login) error, func(context.Context, *login) error) {
	do := func(all []string) func(context.Context, *login) error {
		return func(ctx context.Context, c *login) error { return c.sql(ctx, all...) }
	}
	return do(put), do(remove)
}

func bottlenecks() []bottleneck {
	nothing := func(context.Context, *login) error { return nil }
	list := []bottleneck{
		{name: "no indexes", binds: "cpu: db", rules: []string{"db.full-scan"}},
		{name: "no OPcache", binds: "cpu: php", rules: []string{"php.opcache-off"}},
		{name: "static files through PHP", binds: "cpu: php", rules: []string{"web.static-through-app"}},
		{name: "one PHP process", binds: "workers: php", rules: []string{"php.workers", "php.pool-full"}},
		{name: "a hot row", binds: "locks: db", rules: []string{"db.row-locks"}},
		{name: "one user", binds: "load", rules: []string{"load.workload"}, put: nothing, remove: nothing, workload: 1},
	}
	list[0].put, list[0].remove = statements(
		[]string{"ALTER TABLE login.users DROP INDEX login", "ALTER TABLE login.login_log DROP INDEX user_succeeded, DROP INDEX ip_succeeded"},
		[]string{"ALTER TABLE login.users ADD INDEX login (login)", "ALTER TABLE login.login_log ADD INDEX user_succeeded (user_id, succeeded), ADD INDEX ip_succeeded (ip, succeeded)"})
	list[1].put, list[1].remove = edit("etc/php/php.ini", "opcache.enable = 1", "opcache.enable = 0")
	list[2].put, list[2].remove = edit("etc/nginx/conf.d/login.conf", "location /css/ {\n    }\n\n    location /images/ {\n    }\n", "\n")
	list[3].put, list[3].remove = edit("etc/php/pool.d/www.conf", "pm.max_children = 8", "pm.max_children = 1")
	// Every log-in counts in one row and holds it for 4 ms, as a transaction
	// does that has more to do before it commits.
	list[4].put, list[4].remove = statements(
		[]string{"CREATE TABLE login.hits (id INT PRIMARY KEY, n BIGINT NOT NULL) ENGINE=InnoDB", "INSERT INTO login.hits VALUES (1, 0)",
			"CREATE TRIGGER login.count_hit AFTER INSERT ON login.login_log FOR EACH ROW BEGIN UPDATE login.hits SET n = n + 1 WHERE id = 1; DO SLEEP(0.004); END"},
		[]string{"DROP TRIGGER login.count_hit", "DROP TABLE login.hits"})
	return list
}

// noise of a ratio between runs here: what a gain may be above its bound.
const noise = 0.05

// bounds compares each bottleneck's bound with the measured gain.
func (c *login) bounds(ctx context.Context, pairs int, only string) (bool, error) {
	fmt.Printf("%-26s %-14s %-14s %-24s %8s %8s  %s\n", "bottleneck", "binds", "expected", "finding", "bound", "gain", "")
	all, count := true, 0
	for _, b := range bottlenecks() {
		if !strings.HasPrefix(b.name, only) {
			continue
		}
		count++
		ok, err := c.bound(ctx, b, pairs)
		if err != nil {
			return false, fmt.Errorf("%s: %w", b.name, err)
		}
		all = all && ok
	}
	fmt.Printf("\nbar: the gain is at most the bound (and %.0f %% of noise), and what binds is named; %d bottlenecks\n", 100*noise, count)
	return all && (only != "" || count >= 5), nil
}

func (c *login) bound(ctx context.Context, b bottleneck, pairs int) (ok bool, err error) {
	var diag *diagnose.Diagnosis
	var gains []float64
	for pair := range pairs {
		if err := b.put(ctx, c); err != nil {
			return false, err
		}
		bad, d, err := c.with(ctx, b, pair == 0)
		if d != nil {
			diag = d
		}
		// Also after an interrupt the case is left as it was.
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		err = errors.Join(err, b.remove(back, c))
		cancel()
		if err != nil {
			return false, err
		}
		good, err := c.score(ctx, 0)
		if err != nil {
			return false, err
		}
		gains = append(gains, good/bad)
	}
	gain := stat.GeoMean(gains)
	rule, bound, formula := claim(diag, b.rules)
	ok = diag.Binds == b.binds && bound*(1+noise) >= gain
	word := "ok"
	if !ok {
		word = "MISSED"
	}
	fmt.Printf("%-26s %-14s %-14s %-24s %8.2f %8.2f  %s\n", b.name, diag.Binds, b.binds, rule, bound, gain, word)
	if !ok {
		fmt.Printf("    %s\n    %s\n", formula, diag.BindsText)
	}
	return ok, nil
}

// with measures while the bottleneck is in, and diagnoses it once: after the
// scored run, which tells what throughput and CPU are without instruments.
func (c *login) with(ctx context.Context, b bottleneck, diagnosed bool) (score float64, d *diagnose.Diagnosis, err error) {
	score, err = c.score(ctx, b.workload)
	if err != nil || !diagnosed {
		return score, nil, err
	}
	c.bench.Instruments.Plain = true
	run, _, err := tune.Observe(ctx, c.exec, c.bench, b.workload, b.name, silent{})
	if err != nil {
		return 0, nil, err
	}
	return score, run.Diagnosis, nil
}

func (c *login) score(ctx context.Context, workload int) (float64, error) {
	run, err := c.bench.Run(ctx, tune.RunOptions{Kind: store.Scored, Label: "bounds", Workload: workload})
	if err != nil {
		return 0, err
	}
	if l := run.Evidence.Load; l.Mismatches > 0 {
		return 0, fmt.Errorf("%d wrong answers", l.Mismatches)
	}
	// Right answers, which is what the bound is about, not the score.
	l := run.Evidence.Load
	return float64(l.Succeeded) / l.Window.Seconds(), nil
}

// claim is the largest bound among the findings of the rules.
func claim(d *diagnose.Diagnosis, rules []string) (rule string, bound float64, formula string) {
	rule = "none"
	for _, f := range d.Findings {
		for _, r := range rules {
			if f.Rule == r && f.Bound > bound {
				rule, bound, formula = r, f.Bound, f.Formula
			}
		}
	}
	return rule, bound, formula
}
