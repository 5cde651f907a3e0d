package php

import (
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// planLocale has PHP-FPM's main process find its locale in a folder. With
// LOCPATH in the environment the C library leaves the archive alone (locale(7)).
// Workers start with an empty environment (clear_env), so a script's
// setlocale() finds in the archive what it found before.
func planLocale(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, values := in.Stack.Service(f.Service), in.Snapshot.PHP[f.Service]
	// Before 8.0 LC_CTYPE is the environment's (PHP 8.0, UPGRADING, "Standard":
	// the locale on startup is always "C"), and its language may be in the
	// archive alone.
	if major, _, _ := strings.Cut(values["version"], "."); len(major) == 1 && major < "8" {
		return nil, fmt.Errorf("PHP %s takes its locale from the environment, which may be in the archive alone", values["version"])
	}
	folder := values["process.locale-folder"]
	if folder == "" {
		return nil, fmt.Errorf("C.UTF-8, which PHP starts with, is only in the archive")
	}
	conf, err := diagnose.FPMConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	for _, pool := range conf.Sections() {
		if v, ok := conf.Get(pool, "clear_env"); ok && !diagnose.On(v.Text) {
			return nil, fmt.Errorf("pool %s hands its environment to scripts (clear_env = %s), whose setlocale() would no longer find what is in the archive", pool, v.Text)
		}
	}
	start, err := diagnose.StartOf(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if err := start.SetEnv("LOCPATH", folder); err != nil {
		return nil, err
	}
	changes, err := planning.StartChanges(in, svc, start.Changed(), f.Text)
	if err != nil {
		return nil, err
	}
	for i := range changes {
		if changes[i].Kind == change.KindFile {
			changes[i].Command = "systemctl edit " + svc.Name + ": Environment=LOCPATH=" + folder
		}
	}
	return []planning.Plan{{ID: "php.locale:" + svc.Name, Title: "Start " + svc.Name + " without the archive of all languages",
		Why: f.Text + " A script that calls setlocale() maps the archive in its own worker then, and is answered as before.", Changes: changes}}, nil
}
