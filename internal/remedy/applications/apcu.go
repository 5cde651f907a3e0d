package applications

import (
	"fmt"
	"regexp"
	"slices"

	"kasoku/internal/change"
	"kasoku/internal/confedit/phpvars"
	"kasoku/internal/diagnose"
	"kasoku/internal/knownapp"
	"kasoku/internal/remedy/planning"
)

// debianPHP is Debian's package of a PHP that serves: inside Apache, or PHP-FPM.
var debianPHP = regexp.MustCompile(`^(?:libapache2-mod-php|php)([0-9]+\.[0-9]+)(?:-fpm)?$`)

// planAPCu has MediaWiki keep what it has computed in APCu, which is installed
// beforehand where PHP lacks it and the regulation permits it. PHP must run on
// one host only.
func (w *wiki) planAPCu() (*planning.Plan, error) {
	here := diagnose.On(w.in.Snapshot.PHP[w.runner.Name]["apc.enabled"])
	name := w.apcuPackage()
	switch n := len(diagnose.Answering(diagnose.PHPServices(w.in.Stack, w.in.Snapshot), w.in.Evidence)); {
	case !here && name == "":
		return nil, fmt.Errorf("the stack has no memcached, and PHP of %s no APCu (package php-apcu)", w.runner.Name)
	case !here && !w.in.Stack.Regulation.Install:
		return nil, fmt.Errorf("the stack has no memcached, and PHP of %s no APCu; %s would have to be installed, which the regulation does not permit (install)", w.runner.Name, name)
	case n > 1:
		return nil, fmt.Errorf("PHP runs in %d services, and APCu of one does not see what another changes", n)
	}
	p, err := w.cachePlan("apcu", "in APCu of "+w.runner.Name, [2]string{"wgMainCacheType", "CACHE_ACCEL"})
	if err != nil {
		return nil, err
	}
	if !here {
		// The extension is loaded before the switch, and on both of its sides.
		p.Prepare = [][]change.Change{{{Kind: change.KindPackage, Host: planning.HostOf(w.runner), Service: w.runner.Name, Activate: change.Restart,
			Package: &change.Package{Name: name, Version: "candidate"}, Why: fmt.Sprintf("PHP of %s has no APCu, in whose memory all its processes share what they keep.", w.runner.Name),
			Command: "apt-get install --no-install-recommends " + name}}}
		p.Title += ", which is installed (" + name + ")"
	}
	return &p, nil
}

// apcuPackage is the package of APCu for the PHP that serves; "" if that is not
// known to be one of Debian's, or if packages cannot be installed.
func (w *wiki) apcuPackage() string {
	host := planning.HostOf(w.runner)
	if !w.in.Snapshot.On(host).Root {
		return ""
	}
	for _, p := range w.in.Snapshot.Packages[host] {
		if m := debianPHP.FindStringSubmatch(p.Name); m != nil && (slices.Contains(p.Programs, w.runner.Name) || slices.Contains(p.Libraries, w.runner.Name)) {
			return "php" + m[1] + "-apcu"
		}
	}
	return ""
}

func (w *wiki) cachePlan(id, where string, sets ...[2]string) (planning.Plan, error) {
	// Each plan starts from the file as it is.
	again := *w
	again.vars = phpvars.Parse(w.file, w.vars.Bytes())
	changes, err := again.set(append(sets, again.keepSessions()...)...)
	return planning.Plan{ID: knownapp.RemedyObjectCache + ":" + w.app.Name + ":" + id, EditsSettings: true, Fills: true, Changes: changes,
		Title: fmt.Sprintf("Keep what %s has computed %s", w.app.Name, where)}, err
}
