package tune

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/haproxy"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// haproxyAccessLogOf plans that an HAProxy writes each request with its times
// (option httplog) to where it logs now. That goes through syslog, whose file
// kasoku.yaml names (access_log); without one nothing would read the lines.
func haproxyAccessLogOf(svc *stack.Service, snap *evidence.Snapshot) ([]change.Change, error) {
	if svc.Config == "" || svc.AccessLog == "" {
		return nil, nil // the evidence says what is missing
	}
	if len(snap.HAProxy[svc.Name]) == 0 {
		return nil, fmt.Errorf("its configuration was not read; see the health of \"configuration of %s\"", svc.Name)
	}
	if len(svc.Control.Reload) == 0 && snap.Apps[svc.Name].Children == 0 {
		return nil, errors.New("it runs without a master process (option -W), so no signal reloads it; start it with -W, or write control.reload in kasoku.yaml")
	}
	conf, err := diagnose.HAProxyConfig(snap, svc)
	if err != nil {
		return nil, err
	}
	edits, left := haproxyEdits(evidence.HAProxyFronts(conf))
	if len(edits) > 0 {
		if _, err := conf.Apply(edits...); err != nil {
			return nil, err
		}
	}
	changes, err := editedFiles(snap, svc, conf.Changed(), "write each request with its times during a diagnostic run")
	return changes, errors.Join(err, left)
}

// haproxyEdits give each frontend the format that lacks one. left names those
// that cannot have it, unless it is only some that are written nowhere, as
// pages of statistics often are: these the evidence names.
func haproxyEdits(fronts []evidence.HAProxyFront) (edits []haproxy.Change, left error) {
	var unsure, silent []string
	for _, f := range fronts {
		switch own := slices.Contains(f.Section.Statements, f.Format); {
		case f.Unsure != "":
			unsure = append(unsure, f.Name+": "+f.Unsure)
		case !f.Logs:
			silent = append(silent, f.Name)
		case f.Timed:
		case own && f.Format.Is("option"):
			edits = append(edits, f.Format.Replace("option", "httplog"))
		case own:
			edits = append(edits, f.Format.Follow("option", "httplog")) // the last one counts
		default:
			edits = append(edits, f.Section.Head.Follow("option", "httplog"))
		}
	}
	switch {
	case len(unsure) > 0:
		left = fmt.Errorf("%s; add the line 'option httplog' there by hand", strings.Join(unsure, "; "))
	case len(silent) > 0 && len(silent) == len(fronts):
		left = fmt.Errorf("%s: no log is said to be written there; add the lines 'log global' and 'option httplog' (and a log to section global)", strings.Join(silent, ", "))
	}
	return edits, left
}
