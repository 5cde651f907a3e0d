package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"kasoku/internal/load"
	"kasoku/internal/ui"
)

// ScenarioCmd groups work on scenario files.
type ScenarioCmd struct {
	Record ScenarioRecordCmd `cmd:"" help:"Record the golden answers that a scenario compares with."`
	Check  ScenarioCheckCmd  `cmd:"" help:"Check a scenario file and say what it does."`
	New    ScenarioNewCmd    `cmd:"" help:"Write a scenario to begin with."`
	Schema ScenarioSchemaCmd `cmd:"" help:"Print the JSON Schema of scenario files, for editors."`

	FromLog     ScenarioFromLogCmd     `cmd:"" name:"from-log" help:"Make a scenario of an access log."`
	FromHAR     ScenarioFromHARCmd     `cmd:"" name:"from-har" help:"Make a scenario of what a browser recorded (HAR)."`
	FromOpenAPI ScenarioFromOpenAPICmd `cmd:"" name:"from-openapi" help:"Make a scenario of an OpenAPI or Swagger file."`
	FromPostman ScenarioFromPostmanCmd `cmd:"" name:"from-postman" help:"Make a scenario of a Postman collection."`
	FromCurl    ScenarioFromCurlCmd    `cmd:"" name:"from-curl" help:"Make a scenario of curl command lines."`
	FromK6      ScenarioFromK6Cmd      `cmd:"" name:"from-k6" help:"Make a scenario of a k6 script."`
	FromJMeter  ScenarioFromJMeterCmd  `cmd:"" name:"from-jmeter" help:"Make a scenario of a JMeter plan."`
}

// ScenarioCheckCmd validates one file.
type ScenarioCheckCmd struct {
	File         string `arg:"" help:"scenario.yaml"`
	ShowRequests int    `placeholder:"N" help:"Also print the first N requests of the first user."`
}

// Help is shown below the flags.
func (ScenarioCheckCmd) Help() string {
	return "Ends with 3 and names the line if something is wrong; warnings are about what is allowed but seldom meant. docs/reference/scenario.md lists every key.\n\n" +
		"Examples:\n  kasoku scenario check scenario.yaml\n  kasoku scenario check --show-requests 5 scenario.yaml\n  kasoku scenario check --json scenario.yaml"
}

// maxShown requests; more help nobody.
const maxShown = 10_000

// checkedScenario is what --json prints.
type checkedScenario struct {
	OK bool `json:"ok"`
	load.Summary
	Requests []string `json:"requests,omitempty"`
}

// Run implements the command.
func (c *ScenarioCheckCmd) Run(_ context.Context, a *App) error {
	if c.ShowRequests < 0 || c.ShowRequests > maxShown {
		return ui.Coded(ui.Usage, fmt.Errorf("--show-requests is %d", c.ShowRequests), fmt.Sprintf("write a number from 0 to %d", maxShown))
	}
	s, err := load.LoadScenario(c.File)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "docs/reference/scenario.md lists every key")
	}
	checked := checkedScenario{OK: true, Summary: s.Summary()}
	if c.ShowRequests > 0 {
		if checked.Requests, err = s.Preview(c.ShowRequests); err != nil {
			return ui.Coded(ui.BadInput, err, "leave --show-requests out")
		}
	}
	return a.print(checked, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "%s: scenario %s is right (%d users, %s)\n", c.File, s.Name, s.Workload, s.Duration); err != nil {
			return err
		}
		if err := printSummary(w, &checked.Summary); err != nil {
			return err
		}
		for _, warning := range checked.Warnings {
			a.UI.Warn(warning, "")
		}
		return printRequests(w, checked.Requests)
	})
}

// mostAlike routes with the same points are listed one by one.
const mostAlike = 20

// pointsOf are the lines of the table of points: many routes of the same points are one.
func pointsOf(all []load.RouteSummary) [][]string {
	alike := map[float64]int{}
	for _, r := range all {
		alike[r.Weight]++
	}
	var out [][]string
	for _, r := range all {
		if n := alike[r.Weight]; n <= mostAlike {
			out = append(out, []string{r.Label, ui.Count(r.Weight)})
		}
	}
	for _, points := range slices.Sorted(maps.Keys(alike)) {
		if n := alike[points]; n > mostAlike {
			out = append(out, []string{fmt.Sprintf("each of %d others", n), ui.Count(points)})
		}
	}
	return out
}

// printSummary shows sessions with their steps, pools and routes.
func printSummary(w io.Writer, s *load.Summary) error {
	var steps [][]string
	add := func(session, share string, list []load.StepSummary) {
		for _, st := range list {
			steps = append(steps, []string{session, share, st.Name, st.Route, times(st.Repeat), fmt.Sprint(st.Checks), assetsText(st)})
			session, share = "", ""
		}
	}
	add("setup", "once", s.Setup)
	for _, one := range s.Sessions {
		add(one.Name, fmt.Sprintf("%.3g %%", 100*one.Share), one.Steps)
	}
	add("teardown", "once", s.Teardown)
	var pools, routes [][]string
	for _, p := range s.Pools {
		pools = append(pools, []string{p.Name, ui.Count(float64(p.Rows)), fmt.Sprint(len(p.Fields)), fmt.Sprint(p.Draws)})
	}
	routes = pointsOf(s.Routes)
	for _, table := range []struct {
		head []string
		rows [][]string
	}{
		{[]string{"session", "share", "step", "route", "times", "checks", "assets"}, steps},
		{[]string{"pool", "rows", "fields", "draws"}, pools},
		{[]string{"route", "points"}, routes},
	} {
		if len(table.rows) == 0 {
			continue
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := ui.Table(w, table.head, table.rows); err != nil {
			return err
		}
	}
	return nil
}

func times(repeat int) string {
	if repeat == 1 {
		return ""
	}
	return fmt.Sprintf("%d×", repeat)
}

func assetsText(st load.StepSummary) string {
	switch {
	case st.AutoAssets && st.Assets > 0:
		return fmt.Sprintf("auto + %d", st.Assets)
	case st.AutoAssets:
		return "auto"
	case st.Assets > 0:
		return fmt.Sprint(st.Assets)
	}
	return ""
}

// printRequests as they are sent, each under its number.
func printRequests(w io.Writer, requests []string) error {
	for i, r := range requests {
		if _, err := fmt.Fprintf(w, "\n# request %d\n%s\n", i+1, r); err != nil {
			return err
		}
	}
	return nil
}

// ScenarioSchemaCmd prints the schema.
type ScenarioSchemaCmd struct{}

// Help is shown below the flags.
func (ScenarioSchemaCmd) Help() string {
	return "Editors with a YAML language server use it if the scenario begins with\n  # yaml-language-server: $schema=scenario.schema.json\n\n" +
		"Example:\n  kasoku scenario schema > scenario.schema.json"
}

// Run implements the command.
func (ScenarioSchemaCmd) Run(a *App) error {
	text, err := load.Schema()
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}

// ScenarioNewCmd writes a scenario to begin with.
type ScenarioNewCmd struct {
	URL string `arg:"" help:"The page to request: /path or http://host/path."`
	To  string `arg:"" optional:"" name:"file" help:"The file to write; without it standard output."`
}

// Help is shown below the flags.
func (ScenarioNewCmd) Help() string {
	return "An existing file is never overwritten.\n\nExamples:\n  kasoku scenario new http://127.0.0.1:8080/ scenario.yaml\n  kasoku scenario new /shop"
}

// Run implements the command.
func (c *ScenarioNewCmd) Run(a *App) error {
	text, err := load.Starter(c.URL)
	if err != nil {
		return ui.Coded(ui.Usage, err, "kasoku scenario new --help")
	}
	if c.To == "" {
		_, err := io.WriteString(a.Out, text)
		return err
	}
	f, err := os.OpenFile(c.To, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return ui.Coded(ui.BadInput, fmt.Errorf("%s exists: %w", c.To, fs.ErrExist), "name another file; nothing is overwritten")
	}
	if err != nil {
		return ui.Coded(ui.Failure, err, "check that the folder exists and can be written")
	}
	if _, err := io.WriteString(f, text); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	a.UI.Info(fmt.Sprintf("%s written. Add checks and steps, then: kasoku scenario check %s", c.To, c.To))
	return nil
}
