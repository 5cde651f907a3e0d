package php

import (
	"fmt"

	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// planPreload has PHP-FPM load an application's own list of classes when it
// starts. A main process that is root does it as opcache.preload_user, the
// user of the pools; php-fpm -t runs the script, too, so one that fails is
// refused before anything is restarted.
func planPreload(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	user, err := poolUser(in, f.Service)
	if err != nil {
		return nil, err
	}
	values := [][2]string{{"opcache.preload", f.Subject["script"]}}
	if user != "" {
		values = append(values, [2]string{"opcache.preload_user", user})
	}
	changes, err := Set(in, svc, values, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "php.preload:" + svc.Name, Title: "Load the application's classes when " + svc.Name + " starts",
		Trades: []regulation.Trade{regulation.Staleness},
		Why:    f.Text + " A deployment ends with a reload of " + svc.Name + ".", Changes: changes}}, nil
}

// poolUser is the one user that all pools run as; "" if none names one, which
// a main process that is not root has no need of. What one user's file defines
// must not run as another.
func poolUser(in planning.Input, service string) (string, error) {
	conf, err := diagnose.FPMConfig(in.Snapshot, in.Stack.Service(service))
	if err != nil {
		return "", err
	}
	user, pools := "", 0
	for _, pool := range conf.Sections() {
		if pool == "" || pool == "global" {
			continue
		}
		v, _ := conf.Get(pool, "user")
		if pools++; pools > 1 && v.Text != user {
			return "", fmt.Errorf("%s: its pools run as %q and %q, and all would get the same classes", service, user, v.Text)
		}
		user = v.Text
	}
	return user, nil
}
