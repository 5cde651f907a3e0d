package apps

import (
	"fmt"
	"strconv"

	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// planPace has a background loop pause for a shorter time.
func planPace(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	to, err := strconv.ParseFloat(f.Subject["pause"], 64)
	if err != nil {
		return nil, fmt.Errorf("%s: the finding says no pause: %w", svc.Name, err)
	}
	l, err := diagnose.LoopOf(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, fmt.Errorf("%s is no loop with a pause", svc.Name)
	}
	changed, err := l.Set(to)
	if err != nil {
		return nil, err
	}
	changes, err := planning.StartChanges(in, svc, changed, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("app.pace:%s:%s", svc.Name, f.Subject["pause"]), EditsSettings: !l.OnlyAsks(in.Stack, in.Snapshot), Changes: changes,
		Title: fmt.Sprintf("Let %s pause for %s s instead of %s s", svc.Name, f.Subject["pause"], strconv.FormatFloat(l.Pause.Value, 'g', -1, 64))}}, nil
}
