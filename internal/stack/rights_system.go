package stack

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// system asks about what belongs to the whole machine. These changes run
// without sudo of their own: Kasoku's helper on the host is root, or is not.
func (p *probe) system(ctx context.Context) {
	grant := "run kasoku as root"
	if p.h.Name() != LocalHost {
		grant = "log in as root, or set sudo: true for host " + p.h.Name() + " in kasoku.yaml"
	}
	for _, x := range []struct {
		Right
		what string
	}{
		{Right{Need: NeedKernel, Without: "settings of the kernel"}, "set what is under /proc/sys"},
		{Right{Need: NeedUnits, Without: "units that are enabled, disabled, started or stopped"}, "manage units of systemd"},
		{Right{Need: NeedPackages, Without: "packages that are installed or upgraded"}, "install packages"},
	} {
		x.Object = "*"
		why := ""
		if !p.me.root() && !(x.Need == NeedUnits && p.polkit(ctx)) {
			why = fmt.Sprintf("%s is not root, so it may not %s", p.me.name, x.what)
		}
		p.add(x.Right, why, grant)
	}
}

// checkout asks whether commits can be made in an application's folder: git
// and the build run as the checkout's owner.
func (p *probe) checkout(ctx context.Context, svc *Service) {
	if svc.Root == "" || !exists(ctx, p.h, path.Join(svc.Root, ".git")) {
		return
	}
	x := Right{Need: NeedCheckout, Service: svc.Name, Object: svc.Root, Without: "changes of its source by a commit"}
	res, err := p.h.Run(ctx, host.Command{Argv: []string{"stat", "-L", "-c", "%u %U", svc.Root}})
	uid, name, _ := strings.Cut(strings.TrimSpace(string(res.Stdout)), " ")
	switch {
	case err != nil || res.ExitCode != 0:
		p.add(x, "its owner cannot be found out: "+firstLine(string(res.Stderr)), "")
	case p.me.root() || uid == strconv.Itoa(p.me.uid):
		p.add(x, "", "")
	default:
		p.add(x, fmt.Sprintf("it belongs to %s and Kasoku runs as %s", name, p.me.name), "run kasoku as "+name+" or as root")
	}
}
