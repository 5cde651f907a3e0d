package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// The main page alone, as wikis' figures are published: readers without cookies
// who ask for it again and again.
const (
	mainPage      = "メインページ"
	mainPageUsers = 10
)

// exitWrong is what load ends with if an answer was wrong; they are counted here.
const exitWrong = 13

func (c *wholeCase) found(ctx context.Context) (err error) {
	c.result.Found, err = c.measure(ctx, "as found")
	return err
}

func (c *wholeCase) tuned(ctx context.Context) (err error) {
	c.result.Tuned, err = c.measure(ctx, "tuned")
	return err
}

// measure makes scored runs of the scenario, and one of the main page alone.
func (c *wholeCase) measure(ctx context.Context, label string) (*Measured, error) {
	m := &Measured{Routes: map[string]time.Duration{}}
	runs := map[string]int{}
	for range c.Scores {
		var out struct {
			Scored store.Run `json:"scored"`
		}
		if err := c.inLab(ctx, &out, []int{exitWrong}, "run", "--score-only", "--label", label); err != nil {
			return nil, err
		}
		l := out.Scored.Evidence.Load
		m.Scores = append(m.Scores, out.Scored.Score)
		m.Requests += l.Requests
		m.Wrong += l.Mismatches + l.Timeouts + l.Errors
		for _, r := range l.Routes {
			m.Routes[r.Route] += r.Latency.Mean
			runs[r.Route]++
		}
		fmt.Printf("   %.2f rounds a minute, %d requests\n", out.Scored.Score, l.Requests)
	}
	for route, n := range runs {
		m.Routes[route] /= time.Duration(n)
	}
	base, err := c.base()
	if err != nil {
		return nil, err
	}
	var l load.Result
	if err := c.inLab(ctx, &l, []int{exitWrong}, "load", base+"/wiki/"+url.PathEscape(mainPage), "-c", fmt.Sprint(mainPageUsers), "-d", c.Window.String(),
		"--any-size", "--timeout", "30s", "--allow", network(base)); err != nil {
		return nil, err
	}
	m.MainPage, m.MainPageMean = float64(l.Succeeded)/l.Window.Seconds(), l.Latency.Mean
	m.Wrong += l.Mismatches + l.Timeouts + l.Errors
	fmt.Printf("   main page: %.1f/s, %s each, with %d at a time\n", m.MainPage, m.MainPageMean.Round(100*time.Microsecond), mainPageUsers)
	return m, nil
}

// base is the address of the wiki.
func (c *wholeCase) base() (string, error) {
	st, err := stack.Load(filepath.Join(c.HostDir, "kasoku.yaml"))
	if err != nil {
		return "", err
	}
	return st.Load.URL, nil
}

// network of the hosts, which load may go to.
func network(base string) string {
	host := strings.TrimPrefix(base, "http://")
	return host[:strings.LastIndexByte(host, '.')] + ".0/24"
}

// content counts what the wiki holds.
func (c *wholeCase) content(ctx context.Context) (n Content, err error) {
	const query = "SELECT (SELECT COUNT(*) FROM page), (SELECT COUNT(*) FROM revision), (SELECT MAX(n) FROM (SELECT COUNT(*) n FROM revision GROUP BY rev_page) t)"
	cmd := exec.CommandContext(ctx, "ssh", "-F", filepath.Join(c.HostDir, "ssh_config"), "-o", "BatchMode=yes", "h1",
		"mariadb --defaults-file=/srv/wiki/secrets/client.cnf -N wiki -e '"+query+"'")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return n, fmt.Errorf("count the wiki's pages: %w", err)
	}
	if _, err := fmt.Sscan(out.String(), &n.Pages, &n.Revisions, &n.Longest); err != nil {
		return n, fmt.Errorf("count the wiki's pages: %w", err)
	}
	fmt.Printf("%d pages, %d revisions, %d of one page\n", n.Pages, n.Revisions, n.Longest)
	return n, nil
}
