package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/capacity"
	"kasoku/internal/load"
	"kasoku/internal/stat"
	"kasoku/internal/ui"
)

// usersPerHost are as many as keep a host's CPU busy without a long queue.
const usersPerHost = 3

// frontPort and backPort are those of hosts.sh spread.
const (
	frontPort = ":8080"
	backPort  = ":8081"
)

// levels measures one to four hosts behind the balancer, upwards and downwards
// in each round, so that what drifts does not look like scaling. 0 hosts are
// the first without the balancer. Nothing is written meanwhile: each host has
// caches of its own, and an edit would be seen late on the others.
func (c *wholeCase) levels(ctx context.Context) (err error) {
	base, err := c.base()
	if err != nil {
		return err
	}
	readers, err := c.readers()
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = c.script(ctx, os.Stdout, "limit", "0", c.HostDir)
		}
		if err == nil {
			err = c.script(ctx, os.Stdout, "spread", "0", c.HostDir)
		}
	}()
	if err := c.script(ctx, os.Stdout, "spread", strconv.Itoa(hostCount), c.HostDir); err != nil {
		return err
	}
	if err := c.warm(ctx, readers, base+frontPort); err != nil {
		return err
	}
	if err := c.script(ctx, os.Stdout, "limit", fmt.Sprint(c.CPUs), c.HostDir); err != nil {
		return err
	}
	var levels []Level
	for _, hosts := range slices.Repeat([]int{0, 1, 2, 3, 4, 4, 3, 2, 1, 0}, c.Rounds) {
		url := base + backPort
		if hosts > 0 {
			url = base + frontPort
			if err := c.script(ctx, os.Stdout, "spread", strconv.Itoa(hosts), c.HostDir); err != nil {
				return err
			}
		}
		l, err := c.level(ctx, readers, url, hosts, usersPerHost*max(hosts, 1))
		if err != nil {
			return err
		}
		levels = append(levels, l)
	}
	c.result.Levels = levels
	return nil
}

// warm lets every host compile its scripts and fill its caches while it has all
// CPUs. The first answers of a host may take longer than a reader waits, so it is
// tried more than once.
func (c *wholeCase) warm(ctx context.Context, readers, url string) (err error) {
	for range 3 {
		if _, err = c.level(ctx, readers, url, hostCount, hostCount); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

// readers writes the scenario with its readers of pages alone, beside it. Files
// of newcomers cost next to nothing and would be most of what is counted.
func (c *wholeCase) readers() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.HostDir, "scenario.yaml"))
	if err != nil {
		return "", err
	}
	only, _, ok := strings.Cut(string(text), "  # Somebody who comes for the first time")
	if !ok {
		return "", fmt.Errorf("scenario.yaml has no newcomers and editors that could be left out")
	}
	file := filepath.Join(c.HostDir, "readers.yaml")
	return file, os.WriteFile(file, []byte(only), 0o644)
}

func (c *wholeCase) level(ctx context.Context, scenario, url string, hosts, users int) (Level, error) {
	var r load.Result
	if err := c.inLab(ctx, &r, []int{exitWrong}, "load", scenario, url, "-c", strconv.Itoa(users), "-d", c.Window.String(), "--allow", network(strings.TrimSuffix(strings.TrimSuffix(url, frontPort), backPort))); err != nil {
		return Level{}, err
	}
	l := Level{Hosts: hosts, Users: users, PerSecond: float64(r.Succeeded) / r.Window.Seconds(), P95: r.Latency.P95, Wrong: r.Mismatches + r.Timeouts + r.Errors}
	what := ui.Plural(hosts, "host", "hosts")
	if hosts == 0 {
		what = "the first without the balancer"
	}
	fmt.Printf("   %s, %d users: %.2f/s, p95 %s, %d wrong\n", what, users, l.PerSecond, l.P95.Round(time.Millisecond), l.Wrong)
	return l, nil
}

// perSecond is the geometric mean of a level's runs; 0 if there is none.
func perSecond(levels []Level, hosts int) float64 {
	var all []float64
	for _, l := range levels {
		if l.Hosts == hosts && l.PerSecond > 0 {
			all = append(all, l.PerSecond)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return stat.GeoMean(all)
}

// beyond is how much more than three hosts carry is asked for.
const beyond = 1.1

// capacity asks how many hosts carry more than three do, going by one to three;
// the fourth was measured and tells whether that is true.
func (c *wholeCase) capacity(ctx context.Context) error {
	k := &Capacity{Rate: beyond * perSecond(c.result.Levels, 3)}
	few, err := c.plan(ctx, 3, k.Rate)
	if err != nil {
		return err
	}
	all, err := c.plan(ctx, hostCount, k.Rate)
	if err != nil {
		return err
	}
	k.Foretold, k.Known, k.Checked = few, all, all.Check
	c.result.Capacity = k
	return nil
}

// plan is kasoku capacity's, of the levels with up to most hosts.
func (c *wholeCase) plan(ctx context.Context, most int, rate float64) (*capacity.Plan, error) {
	table := "hosts,rate,users,p95\n"
	for _, l := range c.result.Levels {
		if l.Hosts > 0 && l.Hosts <= most {
			table += fmt.Sprintf("%d,%.4f,%d,%s\n", l.Hosts, l.PerSecond, l.Users, l.P95)
		}
	}
	file := filepath.Join(c.HostDir, fmt.Sprintf("levels-%d.csv", most))
	if err := os.WriteFile(file, []byte(table), 0o644); err != nil {
		return nil, err
	}
	plan := &capacity.Plan{}
	return plan, c.inLab(ctx, plan, []int{ui.Failure}, "capacity", file, "--rate", fmt.Sprintf("%.4f", rate), "--headroom", "0%")
}
