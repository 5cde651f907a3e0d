package change

import (
	"context"
	"errors"
	"fmt"

	"kasoku/internal/host"
)

// Build builds a revision once, so that a comparison need not build it at every
// switch: it checks out what c says, runs c.Git.Build, keeps the products in
// the journal and puts everything back. The hash that it returns is for
// Git.Built. No service is told; one that runs goes on with what it has loaded.
//
// The checkout is as it was afterwards, also after an error, which has the last
// lines of what the build printed.
func (x *Executor) Build(ctx context.Context, title string, c Change) (host.Hash, error) {
	if c.Kind != KindGit || c.Git == nil || len(c.Git.Build) == 0 || len(c.Git.Products) == 0 {
		return "", fmt.Errorf("build %q: it needs a checkout, a build command and its products", title)
	}
	c.Service, c.Activate = "", None
	tx, err := x.Apply(ctx, Intent{Title: title, Changes: []Change{c}})
	if err != nil {
		return "", err
	}
	made, err := x.products(ctx, tx.ID)
	return made, errors.Join(err, x.Revert(ctx, tx.ID))
}

// products saves what the build of an applied transaction made.
func (x *Executor) products(ctx context.Context, id int64) (host.Hash, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, err := x.inState(id, StateApplied)
	if err != nil {
		return "", err
	}
	a, err := x.act(t, 0)
	if err != nil {
		return "", err
	}
	g := a.(*gitAct)
	archive, err := g.products().tar(ctx)
	if err == nil && len(archive) == 0 {
		err = fmt.Errorf("%s: %s made none of its products %s", g.subject(), commandLine(g.c.Git.Build), some(g.c.Git.Products))
	}
	if err != nil {
		return "", err
	}
	return host.HashOf(archive), x.journal.saveBlob(ctx, archive)
}

// Pack keeps the products that a folder of a host holds, as ready to be put in
// place: the hash is for Ready.Built. The folder is only read.
func (x *Executor) Pack(ctx context.Context, hostName, folder string, names []string) (host.Hash, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	h, ok := x.hosts[hostName]
	if !ok {
		return "", fmt.Errorf("pack %s: host %q is not in the stack", folder, hostName)
	}
	if err := properProducts("pack "+folder, names); err != nil {
		return "", err
	}
	archive, err := productSet{&work{x: x, h: h, c: &Change{Kind: KindReady, Host: hostName, Ready: &Ready{Dir: folder}}}, folder, names}.tar(ctx)
	if err != nil {
		return "", err
	}
	if len(archive) == 0 {
		return "", fmt.Errorf("%s holds none of the products %s (services[].build.products)", folder, some(names))
	}
	return host.HashOf(archive), x.journal.saveBlob(ctx, archive)
}
