package front

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/pagecache"
	"kasoku/internal/remedy/planning"
)

// after is what planning would know with nginx in front. The error says why
// nginx would not serve the site.
func (b *builder) after(site []byte) (planning.Input, error) {
	in, name := b.in, planning.HostOf(b.svc)
	snap := *in.Snapshot
	files := maps.Clone(snap.Files[name])
	if !b.installed {
		files[packagedConfig] = evidence.File{Content: []byte(packagedMain), Service: b.front.Name}
	}
	for p := range files {
		if strings.HasSuffix(p, "/"+defaultSite) && files[p].Service == b.front.Name {
			delete(files, p)
		}
	}
	files[b.sitePath()] = evidence.File{Content: site, Hash: string(host.HashOf(site)), Mode: 0o644, UID: -1, GID: -1, Service: b.front.Name, Writable: true}
	snap.Files = maps.Clone(snap.Files)
	snap.Files[name] = files
	// Debian runs both as www-data. Of another user nothing is known; nginx
	// itself gives the folders of its caches to its workers when it starts.
	if u, ok := snap.Users[name+"/"+b.svc.Name]; ok && u.Name == "www-data" {
		snap.Users = maps.Clone(snap.Users)
		snap.Users[name+"/"+b.front.Name] = u
	}
	in.Snapshot = &snap
	st := *in.Stack
	st.Services = slices.Clone(st.Services)
	front := b.front
	front.Listen = []string{b.outer}
	st.Services = append(st.Services, front)
	st.Service(b.svc.Name).Listen = []string{b.inner}
	in.Stack = &st
	conf, err := diagnose.NginxConfig(in.Snapshot, &front)
	if err != nil {
		return in, err
	}
	if server := diagnose.FrontServer(conf, planning.FrontAddress(in.Stack)); server == nil || server.File.Path != b.sitePath() {
		return in, fmt.Errorf("%s does not include %s, where its site would be; add \"include conf.d/*.conf;\" to its http block", b.front.Config, b.sitePath())
	}
	return in, nil
}

// keepPages adds a cache for the finding's pages. It is one file with the site,
// and what must be there for it.
func (b *builder) keepPages(out *planning.Plan, after planning.Input, f diagnose.Finding, site []byte) ([]change.Change, []byte, error) {
	about := diagnose.Finding{Rule: f.Rule, Service: b.front.Name, Text: f.Text, Evidence: f.Evidence, Subject: map[string]string{"files": f.Subject["files"]}}
	plans, err := pagecache.PlanNginx(after, about)
	if err != nil {
		return nil, nil, err
	}
	var changes []change.Change
	for _, p := range plans {
		for _, c := range p.Changes {
			switch {
			case c.Kind == change.KindFile && c.Path == b.sitePath():
				site = c.After.Content
			case c.Kind == change.KindDir:
				changes = append(changes, c)
			default:
				return nil, nil, fmt.Errorf("a cache of pages would change %s, too, which is not there yet", c.Title())
			}
		}
		out.ID += "+" + p.ID
		out.Title += fmt.Sprintf(", and let it keep %d answers for strangers, none older than %s", len(p.Fresh.URLs), p.Fresh.MaxAge)
		out.Fresh = p.Fresh
	}
	out.Trades = append(out.Trades, regulation.Staleness)
	return changes, site, nil
}
