package web

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/apache"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// editApache loads the configuration, lets edit change it, and plans the files.
func editApache(in planning.Input, f diagnose.Finding, act change.Activation, edit func(conf *apache.Config) error) ([]change.Change, error) {
	svc := in.Stack.Service(f.Service)
	conf, err := diagnose.ApacheConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if err := edit(conf); err != nil {
		return nil, err
	}
	return planning.FileChanges(in.Snapshot, svc, conf.Changed(), act, f.Text)
}

func planApacheKeepAlive(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := editApache(in, f, change.Reload, func(conf *apache.Config) error {
		for _, s := range f.Settings {
			if err := conf.Set(s.Name, nil, s.To); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "apache.keepalive:" + f.Service, Title: "Let clients of " + f.Service + " keep their connections", Changes: changes}}, nil
}

// planApacheWorkers allows more workers: as many as the load has users, and
// twice what there are at least.
func planApacheWorkers(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	now, err := strconv.Atoi(f.Subject["now"])
	if err != nil {
		return nil, err
	}
	n := max(2*now, in.Evidence.Load.Workload+in.Evidence.Load.Workload/4)
	changes, err := editApache(in, f, change.Restart, func(conf *apache.Config) error {
		each := 1 // processes of prefork serve one connection each
		if conf.MPM() != "prefork" {
			v, err := conf.Value("ThreadsPerChild", nil)
			if err != nil {
				return err
			}
			if each, err = strconv.Atoi(v.Text); err != nil || each < 1 {
				return fmt.Errorf("ThreadsPerChild is %q", v.Text)
			}
			n = (n + each - 1) / each * each // or Apache rounds it down
		} else if use, room := in.Evidence.Services[f.Service], planning.SpareMemory(in, in.Stack.Service(f.Service)); use.Processes > 0 && room != 0 {
			if per := use.RSS / int64(use.Processes); int64(n-now)*per > room {
				return fmt.Errorf("%d more processes of %d MiB do not fit into the %d MiB that are left", n-now, per/planning.MiB, max(room, 0)/planning.MiB)
			}
		}
		limit, err := conf.Value("ServerLimit", nil)
		if err != nil {
			return err
		}
		if have, err := strconv.Atoi(limit.Text); err != nil || have < n/each {
			if err := conf.Set("ServerLimit", nil, strconv.Itoa(n/each)); err != nil {
				return err
			}
		}
		return conf.Set("MaxRequestWorkers", nil, strconv.Itoa(n))
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("apache.workers:%s:%d", f.Service, n), Changes: changes,
		Title: fmt.Sprintf("Allow %s %d workers instead of %d", f.Service, n, now)}}, nil
}

// planDeflate compresses text for clients that ask for it.
func planDeflate(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	var trades []regulation.Trade
	svc := in.Stack.Service(f.Service)
	mods, err := diagnose.ApacheModules(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	links, err := mods.Enable("deflate")
	if err != nil {
		return nil, err
	}
	act := change.Reload
	if len(links) > 0 {
		act = change.Restart
	}
	changes, err := editApache(in, f, act, func(conf *apache.Config) error {
		if len(conf.Root.Find("SSLEngine")) > 0 || strings.HasPrefix(in.Stack.Load.URL, "https:") {
			trades = append(trades, regulation.Security) // BREACH, as with gzip of nginx
		}
		return conf.Root.Append("\n# Text is compressed for clients that ask for it\nAddOutputFilterByType DEFLATE text/html " + strings.Join(textTypes(in), " ") +
			"\nDeflateCompressionLevel " + gzipLevel)
	})
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		changes = append(changes, change.Change{Kind: change.KindLink, Host: planning.HostOf(svc), Service: svc.Name, Activate: act,
			Path: l.Path, Link: &change.Link{Target: l.Target, Remove: l.Remove}, Why: f.Text, Command: linkCommand(l)})
	}
	return []planning.Plan{{ID: "apache.deflate:" + f.Service, Title: "Compress text that " + f.Service + " sends", Trades: trades, Changes: changes}}, nil
}
