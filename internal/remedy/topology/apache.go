package topology

import (
	"fmt"
	"path"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// clientsLike lets a spare Apache take clients' addresses from the header that
// the one asked now takes them from, if the web server that asks says it (Apache
// 2.4 manual, mod_remoteip).
func clientsLike(in planning.Input, f diagnose.Finding, spare *stack.Service) ([]change.Change, error) {
	header, client := f.Subject["remoteip"], f.Subject["client"]
	if header == "" {
		return nil, nil
	}
	conf, err := diagnose.ApacheConfig(in.Snapshot, spare)
	if err != nil {
		return nil, err
	}
	why := fmt.Sprintf("%s tells the clients' addresses in %s, which %s takes, too.", f.Service, header, spare.SpareFor)
	if err := conf.Root.Append(fmt.Sprintf("\n# %s on another host tells the client's address\nRemoteIPHeader %s\nRemoteIPInternalProxy %s", f.Service, header, client)); err != nil {
		return nil, err
	}
	out, err := planning.FileChanges(in.Snapshot, spare, conf.Changed(), change.Restart, why)
	if err != nil || conf.Loads("remoteip_module") {
		return out, err
	}
	mods, err := diagnose.ApacheModules(in.Snapshot, spare)
	if err != nil {
		return nil, err
	}
	links, err := mods.Enable("remoteip")
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		out = append(out, change.Change{Kind: change.KindLink, Host: planning.HostOf(spare), Service: spare.Name, Activate: change.Restart,
			Path: l.Path, Link: &change.Link{Target: l.Target, Remove: l.Remove}, Why: why, Command: "a2enmod " + path.Base(l.Path)})
	}
	return out, nil
}
