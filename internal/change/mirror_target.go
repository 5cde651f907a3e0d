package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/stack"
)

// where prints what is needed to know about a host. Users of services often
// have a home that they cannot write to.
const where = `if [ "$(id -u)" = 0 ]; then echo /var/lib/kasoku
elif (umask 077; mkdir -p "${XDG_STATE_HOME:-$HOME/.local/state}/kasoku") 2>/dev/null; then echo "${XDG_STATE_HOME:-$HOME/.local/state}/kasoku"
else
	own="/var/tmp/kasoku-state-$(id -u)"
	mkdir -m 700 "$own" 2>/dev/null
	if [ -O "$own" ] && [ ! -L "$own" ]; then echo "$own"; fi
fi
cat /proc/sys/kernel/random/boot_id
id -u`

// open finds Kasoku's folder on the host, takes the lease and reconciles.
func (g *target) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	out, err := g.run(ctx, nil, "sh", "-c", where)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 {
		return fmt.Errorf("find Kasoku's folder: the host answers %q", out)
	}
	g.base, g.boot, g.root = lines[0], lines[1], lines[2] == "0"
	o := g.x.options.Target
	if o.Base != "" {
		g.base = o.Base
	}
	g.dir = filepath.Join(g.base, g.x.journal.project)
	if err := g.makeDirs(ctx); err != nil {
		return err
	}
	g.me = self(g.x.journal.project, o.Name, filepath.Dir(g.x.journal.dir))
	g.me.Nonce = newNonce()
	if err := g.lease(ctx); err != nil {
		return err
	}
	if err := g.reconcile(ctx); err != nil {
		return err
	}
	return g.describe(ctx)
}

// openLimit bounds opening one host, with waiting for a guard that is at work.
const openLimit = undoTimeout + time.Minute

// lease takes the lease. While the host is putting itself back, that is waited
// for: it is what this Kasoku would have to do first.
func (g *target) lease(ctx context.Context) error {
	for told := false; ; {
		unlock, err := takeLease(ctx, g.h, g.base, g.me)
		if err == nil {
			g.unlock = unlock
			return nil
		}
		if !errors.Is(err, ErrBusy) || !strings.HasPrefix(readOwner(ctx, g.h, g.base).Dir, g.base+"/") {
			return err
		}
		if !told {
			g.x.warn("host %s is putting itself back; waiting for it", g.name)
			told = true
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (g *target) makeDirs(ctx context.Context) error {
	if _, err := g.run(ctx, nil, "mkdir", "-p", filepath.Dir(g.base)); err != nil {
		return err
	}
	journal := JournalDir(g.dir)
	for _, d := range []string{g.base, g.dir, filepath.Join(g.dir, guardDir), journal, filepath.Join(journal, "blobs")} {
		if err := g.h.MakeDir(ctx, d, 0o700, -1, -1); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make Kasoku's folder: %w", err)
		}
	}
	return nil
}

// describe writes what the guard and people need besides the journal: the
// stack's part on this host, and how to put things back by hand.
func (g *target) describe(ctx context.Context) error {
	if s := g.x.options.Stack; s != nil {
		if err := putJSON(ctx, g.h, filepath.Join(g.dir, stackFile), hostStack(s, g.name)); err != nil {
			return err
		}
	}
	if err := putJSON(ctx, g.h, filepath.Join(g.dir, ownerFile), g.me); err != nil {
		return err
	}
	return putFile(ctx, g.h, filepath.Join(JournalDir(g.dir), "README.txt"), g.readme())
}

// stackFile holds a host's part of the stack.
const stackFile = "stack.json"

// hostStack is the part of a stack that runs on one host.
func hostStack(s *stack.Stack, name string) *stack.Stack {
	part := &stack.Stack{Version: s.Version, Name: s.Name, Hosts: s.Hosts}
	if name == stack.LocalHost {
		part.Dir, part.Path = s.Dir, s.Path
	}
	for _, svc := range s.Services {
		if svc.HostName() == name {
			part.Services = append(part.Services, svc)
		}
	}
	return part
}

// readme is journal_readme.txt with what is true of this host only.
func (g *target) readme() []byte {
	return append(fmt.Appendf(nil, `This is the copy on host %q. Only changes of this host can be put back here:
those whose "host" is %q%s.
"by":"guard" marks what the host did by itself when Kasoku's controller
(%s@%s, folder %s) was silent.

    ls -l %s/guard          state and log of that guard
    %s guard revert %s
                            put back now all that is pending here

`, g.name, g.name, map[bool]string{true: " or not given"}[g.name == stack.LocalHost], g.me.User, g.me.From, g.me.Dir,
		g.dir, g.program(), g.dir), readme...)
}
