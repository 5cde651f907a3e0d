package stack

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/vcl"
	"kasoku/internal/host"
)

// checkTimeout bounds a validator: mariadbd --help takes 0.1 s, nginx -t may
// resolve host names.
const checkTimeout = time.Minute

// Check validates the service's configuration as it is on disk without
// touching the service: control.check, or the kind's own validator. Kinds that
// have none (memcached, Redis, an app that is not HAProxy) pass. The error carries the validator's
// words.
func (c *Controller) Check(ctx context.Context) error {
	return c.chosen(ctx, "check the configuration of", c.check)
}

func (c *Controller) check(ctx context.Context) error {
	if len(c.svc.Control.Check) > 0 {
		_, err := run(ctx, c.h, c.dir(), checkTimeout, c.svc.Control.Check...)
		return err
	}
	if c.svc.IsHAProxy() {
		return c.checkHAProxy(ctx)
	}
	if !slices.Contains([]Kind{Nginx, Apache, PHPFPM, MariaDB, MySQL, Varnish}, c.svc.Kind) {
		return nil
	}
	bin, err := c.binary(ctx)
	if err != nil {
		return err
	}
	var argv []string
	switch c.svc.Kind {
	case Nginx:
		argv = append(nginxArgv(c.svc, bin), "-t")
	case PHPFPM:
		argv = append(fpmArgv(c.svc, bin), "-t")
	case MariaDB, MySQL:
		return c.checkDatabase(ctx, bin)
	case Apache:
		// apachectl sets the variables that Debian's apache2.conf needs.
		if ctl := lookUp(ctx, c.h, "apachectl", "apache2ctl"); ctl != "" {
			bin = ctl
		}
		argv = []string{bin, "-t", "-f", c.svc.Config}
		if c.svc.Prefix != "" {
			argv = append(argv, "-d", c.svc.Prefix)
		}
	case Varnish:
		if c.svc.Config == "" {
			return nil
		}
		argv = []string{bin, "-C", "-f", c.svc.Config}
		// Parameters such as vcl_path and vcc_err_unref decide what compiles.
		for _, p := range vcl.ParseArgs(c.svc.Control.Start).Values('p') {
			argv = append(argv, "-p", p)
		}
	default: // the others have no check of their own
	}
	_, err = run(ctx, c.h, c.dir(), checkTimeout, argv...)
	return err
}

// checkDatabase lets the server read its options and print its help: unknown
// variables and values that cannot be read end it with a non-zero status (7
// and 9 in MariaDB 10.11). Only what it says on standard error counts: standard
// output is the whole help.
func (c *Controller) checkDatabase(ctx context.Context, bin string) error {
	argv := []string{bin, "--defaults-file=" + c.svc.Config}
	if start := c.svc.Control.Start; len(start) > 1 && start[0] == bin {
		argv = slices.DeleteFunc(slices.Clone(start), func(a string) bool { return a == "--daemonize" })
	}
	argv = append(argv, "--help", "--verbose")
	res, err := c.h.Run(ctx, host.Command{Argv: argv, Dir: c.dir(), Timeout: checkTimeout})
	if err != nil {
		return fmt.Errorf("run %s --help --verbose: %w", bin, err)
	}
	if res.ExitCode != 0 {
		return fmt.Errorf("%s does not accept %s (exit status %d)%s", bin, c.svc.Config, res.ExitCode, said(string(res.Stderr)))
	}
	if c.svc.Kind == MySQL && c.svc.Config != "" {
		return c.checkOptions(ctx, bin, string(res.Stdout))
	}
	return nil
}

// checkOptions refuses options that MySQL would not start with and that its help
// says nothing about. What a plugin of the running server knows is taken; if the
// server cannot be asked for that, nothing is refused.
func (c *Controller) checkOptions(ctx context.Context, bin, help string) error {
	conf, err := ini.Load(c.svc.Config, ini.MySQL, hostRead(ctx, c.h), hostGlob(ctx, c.h))
	if err != nil {
		return fmt.Errorf("check %s: %w", c.svc.Config, err)
	}
	unknown := UnknownOptions(help, conf, nil)
	if len(unknown) == 0 {
		return nil
	}
	known := c.variables(ctx)
	if known == nil {
		return nil
	}
	if unknown = UnknownOptions(help, conf, known); len(unknown) > 0 {
		return fmt.Errorf("%s does not know these of %s: unknown variable '%s'", bin, c.svc.Config, strings.Join(unknown, "', '"))
	}
	return nil
}

// variables of the running server; nil if it cannot be asked.
func (c *Controller) variables(ctx context.Context) map[string]string {
	if c.svc.Login == nil {
		return nil
	}
	db, err := OpenDB(ctx, c.h, c.svc)
	if err != nil {
		return nil
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name string
		var value sql.NullString
		if rows.Scan(&name, &value) != nil {
			return nil
		}
		out[name] = value.String
	}
	if rows.Err() != nil {
		return nil
	}
	return out
}
