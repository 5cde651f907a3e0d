package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// app is one application while it is played.
type app struct {
	options
	name   string
	source string // its folder of the repository
	dir    string // its folder of the state
	lab    labState
	result *Result
}

func newApp(o options, name string) *app {
	return &app{options: o, name: name, source: filepath.Join(o.Field, name), dir: filepath.Join(o.Dir, name)}
}

// The hosts: Kasoku works on the first, a person did on the second, and the third
// stays as found.
var sides = []struct{ host, side string }{{"h1", byKasoku}, {"h2", byHand}, {"h3", asFound}}

func (a *app) load() (err error) {
	if a.result, err = loadResult(a.dir); err != nil {
		return fmt.Errorf("there is no result to print: %w", err)
	}
	return nil
}

// play goes through the steps that are not done yet.
func (a *app) play(ctx context.Context) error {
	if err := a.start(ctx); err != nil {
		return errors.Join(err, a.end())
	}
	steps := []struct {
		name string
		done func(*Result) bool
		do   func(context.Context) error
	}{
		{"Install it on three hosts", func(r *Result) bool { return !r.Installed.IsZero() }, a.install},
		{"Fill it", func(r *Result) bool { return !r.Filled.IsZero() }, a.fill},
		{"kasoku init, and what it must be told", func(r *Result) bool { return !r.Told.IsZero() }, a.tell},
		{fmt.Sprintf("Kasoku tunes it for at most %s", a.Budget), func(r *Result) bool { return r.Session != nil }, a.tune},
		{"What a person did", func(r *Result) bool { return !r.ByHand.IsZero() }, a.hand},
		{"As found, by hand and Kasoku in turns", func(r *Result) bool { return len(r.Runs) >= a.Rounds*len(sides) }, a.compare},
		{"kasoku undo --all", func(r *Result) bool { return r.Undo != nil }, a.undo},
	}
	for _, s := range steps {
		if s.done(a.result) {
			say("%s: %s: done before", a.name, s.name)
			continue
		}
		say("%s: %s", a.name, s.name)
		began := time.Now()
		err := s.do(ctx)
		if err = errors.Join(err, a.result.save(a.dir)); err != nil {
			return fmt.Errorf("%s: %w; the hosts stay, the same command goes on", s.name, err)
		}
		fmt.Printf("   %s\n", time.Since(began).Round(time.Second))
	}
	a.result.Complete = true
	return errors.Join(a.result.save(a.dir), a.end())
}

// install sets the application up, the same on each host.
func (a *app) install(ctx context.Context) error {
	if err := a.fetch(ctx); err != nil {
		return err
	}
	for _, s := range sides {
		if err := a.copyTo(ctx, s.host); err != nil {
			return err
		}
		if err := a.on(ctx, s.host, os.Stdout, filepath.Join(remote, "install.sh")+" "+a.lab.address(s.host)); err != nil {
			return err
		}
	}
	a.result.Installed = time.Now()
	return nil
}

// fetched is where fetch.sh puts what the hosts cannot get for themselves, since
// they have no way out. It stays for later plays.
func (a *app) fetched() string { return filepath.Join(a.dir, "fetched") }

// fetch runs the application's fetch.sh here, where there is a way to the archives;
// an application of Debian's packages alone has none.
func (a *app) fetch(ctx context.Context) error {
	script := filepath.Join(a.source, "fetch.sh")
	if _, err := os.Stat(script); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(a.fetched(), 0o755); err != nil {
		return err
	}
	return a.call(ctx, os.Stdout, script, a.fetched())
}

// fill fills the first host, and gives the others its data as they lie on the disk.
func (a *app) fill(ctx context.Context) error {
	first := sides[0].host
	if err := a.on(ctx, first, os.Stdout, filepath.Join(remote, "fill.sh")); err != nil {
		return err
	}
	if err := a.on(ctx, first, os.Stdout, filepath.Join(remote, "reset.sh")); err != nil {
		return err
	}
	const stop, start = "systemctl stop %s mariadb", "systemctl start mariadb %[1]s && systemctl restart %[1]s"
	units := a.units()
	if err := a.on(ctx, first, os.Stdout, fmt.Sprintf(stop, units)); err != nil {
		return err
	}
	for _, s := range sides[1:] {
		if err := a.on(ctx, s.host, os.Stdout, fmt.Sprintf(stop, units)+" && rm -rf /var/lib/mysql"); err != nil {
			return err
		}
		if err := a.pipe(ctx, first, "tar -C /var/lib -cf - mysql -C "+remote+" .", s.host, "mkdir -p /var/tmp/fill && tar -C /var/tmp/fill -xf - && mv /var/tmp/fill/mysql /var/lib/mysql && cp -a /var/tmp/fill/. "+remote+" && rm -r /var/tmp/fill"); err != nil {
			return err
		}
	}
	for _, s := range sides {
		if err := a.on(ctx, s.host, os.Stdout, fmt.Sprintf(start, units)); err != nil {
			return err
		}
	}
	a.result.Filled = time.Now()
	return nil
}

// units of the application that keep the database open, from the file units.
func (a *app) units() string {
	text, err := os.ReadFile(filepath.Join(a.source, "units"))
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// remote is where the application's scripts are on a host.
const remote = "/srv/field"

// render fills in what a file of the application says of a host.
func (a *app) render(text []byte, host string) []byte {
	return []byte(strings.NewReplacer("@BASE@", "http://"+a.lab.address(host), "@ADDRESS@", a.lab.address(host),
		"@HOST@", host, "@DIR@", a.hostDir(host), "@SSH@", a.lab.SSHConfig).Replace(string(text)))
}

// hostDir holds what belongs to a host's load: the scenario and its pools.
func (a *app) hostDir(host string) string { return filepath.Join(a.dir, host) }

// tell writes each host's scenario, and the first one's kasoku.yaml; the
// fingerprint before Kasoku is taken first.
func (a *app) tell(ctx context.Context) error {
	scenario, err := os.ReadFile(filepath.Join(a.source, "scenario.yaml"))
	if err != nil {
		return err
	}
	for _, s := range sides {
		dir := a.hostDir(s.host)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "scenario.yaml"), a.render(scenario, s.host), 0o644); err != nil {
			return err
		}
		if err := a.fetchPools(ctx, s.host, dir); err != nil {
			return err
		}
	}
	first := sides[0].host
	if err := a.wait(ctx, first); err != nil {
		return err
	}
	if err := a.takeFingerprint(ctx, first, "before.json"); err != nil {
		return err
	}
	if err := a.kasoku(ctx, nil, nil, "init", "--host", first, "--ssh-config", a.lab.SSHConfig, "--force"); err != nil {
		return err
	}
	found, err := os.ReadFile(a.stack())
	if err != nil {
		return err
	}
	told, err := os.ReadFile(filepath.Join(a.source, "told.yaml"))
	if err != nil {
		return err
	}
	text, err := merge(found, a.render(told, first))
	if err != nil {
		return err
	}
	if err := replace(a.stack(), text); err != nil {
		return err
	}
	a.result.Told = time.Now()
	return nil
}

// stack is the first host's kasoku.yaml.
func (a *app) stack() string { return filepath.Join(a.hostDir(sides[0].host), "kasoku.yaml") }

func (a *app) hand(ctx context.Context) error {
	if err := a.on(ctx, sides[1].host, os.Stdout, filepath.Join(remote, "hand/apply.sh")); err != nil {
		return err
	}
	a.result.ByHand = time.Now()
	return nil
}
