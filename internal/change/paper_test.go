package change

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// paper is nginx and PHP-FPM as far as Kasoku sees them, in this process: they
// read their files when they are told to. The database is the lab's.
type paper struct {
	lab
	served string
}

// onPaper is the matrix of a job with every kind of change, without waiting for
// nginx and PHP-FPM.
func (l lab) onPaper(t *testing.T, job string) *matrix {
	p := &paper{lab: l}
	must(t, p.reload())
	return &matrix{lab: l, job: job, seen: func() string { return l.seenBy(t, p.served) }, options: func(dir string) Options {
		o := l.options(dir)
		o.Control = func(service string) (Controller, error) { return paperControl{p, labControl{l, service}}, nil }
		return o
	}}
}

// reload is refused for what nginx would not take.
func (p *paper) reload() error {
	b, err := os.ReadFile(p.path("conf/site.conf"))
	if err != nil {
		return err
	}
	answer, ok := strings.CutPrefix(strings.TrimSuffix(string(b), "; }\n"), "location / { return 200 ")
	if !ok {
		return fmt.Errorf("unknown directive in %q", b)
	}
	p.served = answer
	return nil
}

type paperControl struct {
	*paper
	real labControl
}

func (c paperControl) Check(context.Context) error {
	if c.real.service != "web" {
		return nil
	}
	check := paper{lab: c.lab}
	return check.reload()
}

func (c paperControl) Reload(context.Context) error {
	if c.real.service != "web" {
		return nil
	}
	return c.reload()
}

func (c paperControl) Restart(ctx context.Context) error { return c.Reload(ctx) }

func (c paperControl) WaitHealthy(ctx context.Context) error {
	if c.real.service != "db" {
		return nil
	}
	return c.real.WaitHealthy(ctx)
}
