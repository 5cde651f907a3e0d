package main

import (
	"errors"
	"fmt"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/digest"
	"kasoku/internal/ui"
)

// prepare recognises the kind and reads the flags that depend on it.
func (j *digestJob) prepare(inputs [][]digest.Input) error {
	var all []digest.Input
	for _, in := range inputs {
		all = append(all, in...)
	}
	if err := j.times(time.Now()); err != nil {
		return err
	}
	j.kind = digest.Kind(j.Kind)
	if j.Kind == "auto" && j.Format != "" {
		j.kind = digest.KindAccess
	}
	if j.kind == "auto" {
		k, err := digest.KindOfAll(all)
		if err != nil {
			hint := "--format TEXT names an access log's format, --kind slow a slow log"
			var damaged *digest.DamagedError
			if errors.As(err, &damaged) {
				return digestError(err)
			}
			return ui.Coded(ui.BadInput, err, hint)
		}
		j.kind = k
	}
	switch j.kind {
	case digest.KindSlow:
		return j.prepareStatements()
	case digest.KindEmpty:
		j.kind = digest.KindAccess
	}
	return j.prepareAccess()
}

func (j *digestJob) times(now time.Time) error {
	for _, t := range []struct {
		flag, text string
		to         *time.Time
	}{{"--since", j.Since, &j.since}, {"--until", j.Until, &j.until}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.to, err = digest.ParseMoment(t.text, now); err != nil {
			return ui.Coded(ui.Usage, fmt.Errorf("%s: %w", t.flag, err), "")
		}
	}
	if !j.since.IsZero() && !j.until.IsZero() && !j.since.Before(j.until) {
		return usage("", "--since %s is not before --until %s", j.since.Format(time.RFC3339), j.until.Format(time.RFC3339))
	}
	return nil
}

func (j *digestJob) prepareAccess() error {
	var err error
	if j.requests, err = digest.ParseAccessFilter(j.Filter); err != nil {
		return ui.Coded(ui.Usage, err, "docs/reference/digest.md lists the fields; put the expression in single quotes")
	}
	j.access = digest.AccessOptions{Routes: accesslog.RouteOptions{Patterns: j.Route}, Keep: j.requests.Keep(),
		Since: j.since, Until: j.until, Progress: j.progress.show}
	if err := j.timeFlags(); err != nil {
		return err
	}
	if j.Format != "" {
		if j.access.Format, err = accesslog.ParseFormat(j.Format); err != nil {
			return ui.Coded(ui.Usage, err, "copy the text from the server's configuration, in single quotes")
		}
	}
	if _, err := accesslog.NewRoutes(j.access.Routes); err != nil {
		return ui.Coded(ui.Usage, err, "--route /items/:id, /files/* or ^/x/[0-9]+$")
	}
	return nil
}

// timeFlags reads what was said of the requests' times.
func (j *digestJob) timeFlags() error {
	j.access.Times.Field = j.TimeField
	if j.TimeUnit == "" {
		return nil
	}
	var err error
	if j.access.Times.Unit, err = accesslog.ParseUnit(j.TimeUnit); err != nil {
		return ui.Coded(ui.Usage, fmt.Errorf("--time-unit: %w", err), "")
	}
	return nil
}

func (j *digestJob) prepareStatements() error {
	if j.Format != "" || len(j.Route) > 0 || j.TimeUnit != "" || j.TimeField != "" {
		return usage("leave them out", "--format, --time-unit, --time-field and --route are for access logs; this is a log of statements")
	}
	var err error
	if j.entries, err = digest.ParseStatementFilter(j.Filter); err != nil {
		return ui.Coded(ui.Usage, err, "docs/reference/digest.md lists the fields; put the expression in single quotes")
	}
	j.statements = digest.StatementOptions{Keep: j.entries.Keep(), Since: j.since, Until: j.until, Progress: j.progress.show}
	return nil
}
