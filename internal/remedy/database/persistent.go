package database

import (
	"fmt"
	"strconv"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planPersistent has an application keep its connections to the database, if
// that takes one of every process at once.
func planPersistent(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	app, file, name := in.Stack.Service(f.Service), f.Subject["file"], f.Subject["database"]
	most, err := strconv.Atoi(in.Snapshot.Databases[name].Variables["max_connections"])
	if err != nil {
		return nil, fmt.Errorf("max_connections of %s is not known", name)
	}
	slots, err := connectionsOf(in, app)
	if err != nil {
		return nil, err
	}
	// A tenth is left for others, and for who comes to look.
	if slots > most*9/10 {
		return nil, fmt.Errorf("%s would keep up to %d connections and %s takes %d (max_connections)", app.Name, slots, name, most)
	}
	content, _ := diagnose.KeepConnections(in.Snapshot.Files[planning.HostOf(app)][file].Content)
	act := change.Restart
	if app.RunsIn != "" {
		act = change.Reload // scripts read their settings at each request
	}
	c, err := planning.FileChange(in.Snapshot, app, file, content, act, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "app.db-persistent:" + app.Name + ":" + file, EditsSettings: true, Changes: []change.Change{c},
		Title: fmt.Sprintf("Keep connections of %s to %s open", app.Name, name),
		Why:   fmt.Sprintf("%s Up to %d would be kept, of %d that it takes.", f.Text, slots, most)}}, nil
}

// connectionsOf is how many connections an app keeps at most: one for each
// request that it can have at once.
func connectionsOf(in planning.Input, app *stack.Service) (int, error) {
	if run := in.Stack.Service(app.RunsIn); run != nil && run.Kind == stack.PHPFPM {
		pools, err := diagnose.FPMPools(in.Snapshot, run)
		if err != nil {
			return 0, err
		}
		n := 0
		for _, p := range pools {
			n += p.MaxChildren
		}
		return n, nil
	}
	server, err := diagnose.AppServerOf(in.Snapshot, app)
	if err != nil {
		return 0, err
	}
	if server == nil {
		return 0, fmt.Errorf("how many requests %s can have at once is not known, so neither is how many connections it would keep", app.Name)
	}
	if server.Loops() {
		return 0, fmt.Errorf("%s answers many requests in one loop, and each would keep a connection of its own", app.Name)
	}
	return server.Slots(), nil
}
