package boot

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planWarmUp writes a unit that asks the front door for its main pages after
// each boot, and enables it by the link that systemctl enable would make.
// systemd reads both at the next boot, so nothing is told to it now.
func planWarmUp(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := diagnose.FrontService(in.Stack)
	if svc == nil {
		return nil, errors.New("no service of kasoku.yaml listens where load.url points, so it is not known which host asks at boot")
	}
	if why := in.Stack.Regulation.Refuses(nil, []string{svc.Name}, nil); why != "" {
		return nil, errors.New(why)
	}
	name := planning.HostOf(svc)
	if !slices.Contains(in.Stack.Checks.Reboot, name) {
		return nil, fmt.Errorf("host %s, where the front door is, was not rebooted (checks.reboot), so whether it would help cannot be seen", name)
	}
	boot, looked := in.Snapshot.Boot[name]
	switch {
	case !looked:
		return nil, fmt.Errorf("what host %s could run after a boot is not known", name)
	case !boot.Systemd:
		return nil, fmt.Errorf("host %s was not booted by systemd; have its own init run the pages through curl", name)
	case !boot.Root:
		return nil, fmt.Errorf("units of host %s can only be written as root", name)
	case boot.WarmUp:
		return nil, fmt.Errorf("host %s warms up at boot already (%s, %s)", name, evidence.WarmUpFile, evidence.WarmUpScript)
	case boot.Client == "":
		return nil, fmt.Errorf("host %s has neither curl nor wget", name)
	}
	pages := strings.Fields(f.Subject["pages"])
	if len(pages) == 0 {
		return nil, errors.New("strangers of the scenario got no page with GET and without a cookie, so there is none to ask for")
	}
	script, err := warmUpScript(in.Stack, svc, boot.Client, pages)
	if err != nil {
		return nil, err
	}
	file := func(path, content, why string, mode fs.FileMode) change.Change {
		return change.Change{Kind: change.KindFile, Host: name, Path: path, Why: why, Before: &change.FileState{},
			After: &change.FileState{Hash: host.HashOf([]byte(content)), Content: []byte(content), Mode: mode, UID: -1, GID: -1}}
	}
	return []planning.Plan{{ID: "host.warm-up:" + name, Title: fmt.Sprintf("Ask for %d pages after each boot of %s", len(pages), name),
		Changes: []change.Change{
			file(evidence.WarmUpScript, script, f.Text, 0o755),
			file(evidence.WarmUpFile, warmUpUnit(in.Stack, name), "It runs the script after each boot, when the services have been started, and holds nothing up.", 0o644),
			{Kind: change.KindLink, Host: name, Path: evidence.WarmUpLink, Link: &change.Link{Target: evidence.WarmUpFile},
				Why: "It is enabled: systemd starts it at each boot.", Command: "systemctl enable " + evidence.WarmUpUnit},
		}}}, nil
}

// warmUpUnit is the unit. Type=exec: it counts as started when its program
// runs, so no target waits until all pages were asked for, as with oneshot
// (systemd.service(5)); RuntimeMaxSec= has an effect on it, which it has not on
// oneshot. After= orders it behind the services and starts none of them.
func warmUpUnit(st *stack.Stack, hostName string) string {
	after := []string{"network.target"}
	for i := range st.Services {
		svc := &st.Services[i]
		if planning.HostOf(svc) != hostName || svc.ControlMethod() != stack.MethodSystemd || svc.Control.Unit == "" {
			continue
		}
		if unit := stack.UnitName(svc.Control.Unit); !slices.Contains(after, unit) {
			after = append(after, unit)
		}
	}
	return `# Written by Kasoku, which takes it away again: kasoku undo.
[Unit]
Description=Ask for the main pages after a boot, so that caches are filled
After=` + strings.Join(after, " ") + `

[Service]
Type=exec
ExecStart=` + evidence.WarmUpScript + `
DynamicUser=yes
Nice=19
RuntimeMaxSec=` + fmt.Sprint(warmUpSeconds+2*requestSeconds) + `

[Install]
WantedBy=multi-user.target
`
}

const (
	// warmUpSeconds from when it starts; then it ends, whatever it has reached.
	warmUpSeconds = 60
	// requestSeconds that one request may take.
	requestSeconds = 10
	// warmUpPause after each request, seconds: at most 50 a second, one at a
	// time, of a host that is just starting.
	warmUpPause = "0.02"
)

// warmUpScript asks the front door of its own host under the name by which the
// load asks it. It waits for the first answer, because the services behind the
// front door may still be starting.
func warmUpScript(st *stack.Stack, svc *stack.Service, client string, pages []string) (string, error) {
	u, err := url.Parse(st.Load.URL)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("load.url %q names no host", st.Load.URL)
	}
	at := ownAddress(svc, diagnose.FrontPort(st))
	base := u.Scheme + "://" + u.Host
	ask := `curl -q -g -k -s -o /dev/null -w '%{http_code}' --max-time ` + fmt.Sprint(requestSeconds) +
		` --connect-to ` + quoted("::"+at) + ` -A kasoku-warm-up -H 'Accept-Encoding: gzip' -- ` + quoted(base) + `"$1" </dev/null`
	if client == "wget" {
		if u.Scheme != "http" {
			return "", errors.New("only curl can ask the own host under another name by HTTPS; install curl")
		}
		ask = `wget -q -S -O /dev/null -t 1 -T ` + fmt.Sprint(requestSeconds) + ` --max-redirect=0 -U kasoku-warm-up --header='Accept-Encoding: gzip' --header=` +
			quoted("Host: "+u.Host) + ` -- ` + quoted("http://"+at) + `"$1" 2>&1 </dev/null | sed -n 's#^ *HTTP/[0-9.]* \([0-9]*\).*#\1#p'`
	}
	return `#!/bin/sh
# Written by Kasoku, which takes it away again: kasoku undo.
# After a boot it asks once for the pages that strangers ask for most, one after
# the other, so that caches are filled before people come.
up() { read -r s _ </proc/uptime; echo "${s%%.*}"; }
ask() { ` + ask + `; }
begun=$(up)
left() { [ $(($(up) - begun)) -lt ` + fmt.Sprint(warmUpSeconds) + ` ]; }
asked=0 bad=0
while left && read -r page; do
	code=$(ask "$page")
	# Nobody answers yet, or what stands behind is not there yet.
	while [ "$asked" = 0 ] && left; do
		case $code in '' | 000 | 5??) sleep 0.5; code=$(ask "$page") ;; *) break ;; esac
	done
	asked=$((asked + 1))
	case $code in 2?? | 3??) ;; *) bad=$((bad + 1)) ;; esac
	sleep ` + warmUpPause + `
done <<'PAGES'
` + strings.Join(pages, "\n") + `
PAGES
echo "asked for $asked of ` + fmt.Sprint(len(pages)) + ` pages, $bad of them in vain, in $(($(up) - begun)) s"
`, nil
}

// ownAddress is where a service listens, as its own host reaches it.
func ownAddress(svc *stack.Service, port string) string {
	for _, l := range svc.Listen {
		host, p, err := net.SplitHostPort(l)
		if err != nil || p != port {
			continue
		}
		if ip := net.ParseIP(host); host == "" || host == "*" || ip != nil && ip.IsUnspecified() {
			host = "127.0.0.1"
			if ip != nil && ip.To4() == nil {
				host = "::1"
			}
		}
		return net.JoinHostPort(host, port)
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// quoted for sh.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
