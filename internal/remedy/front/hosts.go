package front

import (
	"fmt"
	"maps"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/remedy/topology"
)

// evenUse is the share of the spare host with which both are used alike, in
// percent; other shares are for nginx.balance.
const evenUse = 100

// spread lets nginx pass requests to a spare host, too, from the start: alone it
// would only be one more hop. It is one file with the site; what the host needs
// is prepared before.
func (b *builder) spread(out *planning.Plan, after planning.Input, f diagnose.Finding) (site []byte, err error) {
	about := diagnose.Finding{Rule: f.Rule, Service: b.front.Name, Text: f.Text, Evidence: f.Evidence, Subject: maps.Clone(f.Subject)}
	about.Subject["upstream"], about.Subject["remoteip"] = b.upstream(), clientHeader
	plans, err := topology.PlanSpare(after, about)
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		changes, err := p.Search.At(evenUse)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			if c.Kind != change.KindFile || c.Path != b.sitePath() {
				return nil, fmt.Errorf("another host would change %s, too, which is not there yet", c.Title())
			}
			site = c.After.Content
		}
		out.Prepare = append(out.Prepare, p.Prepare...)
		out.Build += p.Build
		out.ID += "+" + p.ID
		out.Title += fmt.Sprintf(", and let it send requests to %s, too", f.Subject["spare"])
	}
	return site, nil
}
