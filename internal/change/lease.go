package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/host"
)

// Names in Kasoku's folder on a host: one lease and one owner for the whole
// machine, and a folder per project.
const (
	leaseFile = "lease"
	ownerFile = "owner.json"
)

// Owner says who works on a host. It lies beside the lease, for people and for
// the next Kasoku; only the lease itself counts.
type Owner struct {
	// Nonce tells one taking of the lease from another.
	Nonce   string `json:"nonce"`
	Project string `json:"project"`
	Name    string `json:"name,omitempty"` // of the stack
	// From is the machine that Kasoku runs on, as it calls itself.
	From string `json:"from"`
	User string `json:"user"`
	PID  int    `json:"pid"` // there
	Dir  string `json:"dir"` // its .kasoku folder there
	// Holder is the process on the host that holds the lease: Kasoku itself, or
	// the helper at the end of its connection.
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
}

func (o Owner) String() string {
	if o.From == "" {
		return "somebody who left no name"
	}
	return fmt.Sprintf("%s@%s (process %d, folder %s), since %s", o.User, o.From, o.PID, o.Dir, o.Since.Format(time.RFC3339))
}

// self describes this process.
func self(project, name, dir string) Owner {
	o := Owner{Project: project, Name: name, PID: os.Getpid(), Dir: dir, User: "?", From: "?", Since: time.Now().UTC()}
	if h, err := os.Hostname(); err == nil {
		o.From = h
	}
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	return o
}

// takeLease makes this process the only one that works on a host. ErrBusy
// names the other one.
func takeLease(ctx context.Context, h host.Host, base string, me Owner) (unlock func() error, err error) {
	unlock, err = h.Lock(ctx, filepath.Join(base, leaseFile))
	if errors.Is(err, host.ErrLocked) {
		return nil, fmt.Errorf("%w: host %s is worked on by %s; wait for it or end it", ErrBusy, h.Name(), readOwner(ctx, h, base))
	}
	if err != nil {
		return nil, fmt.Errorf("take the lease of host %s: %w", h.Name(), err)
	}
	holder, err := h.ReadFile(ctx, filepath.Join(base, leaseFile))
	if err == nil {
		me.Holder = strings.TrimSpace(string(holder))
		err = putJSON(ctx, h, filepath.Join(base, ownerFile), me)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take the lease of host %s: %w", h.Name(), err), unlock())
	}
	return unlock, nil
}

// readOwner is what the present or last owner wrote; empty if it cannot be read.
func readOwner(ctx context.Context, h host.Host, base string) Owner {
	var o Owner
	if b, err := h.ReadFile(ctx, filepath.Join(base, ownerFile)); err == nil {
		_ = json.Unmarshal(b, &o) // an unreadable one is an empty one
	}
	return o
}

// putJSON replaces a file of Kasoku's own, whatever is in it.
func putJSON(ctx context.Context, h host.Host, path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return putFile(ctx, h, path, append(b, '\n'))
}

// putFile replaces a file of Kasoku's own, whatever is in it.
func putFile(ctx context.Context, h host.Host, path string, b []byte) error {
	old, err := readOwn(ctx, h, path)
	if err != nil {
		return err
	}
	r := host.Replace{Mode: 0o600, UID: -1, GID: -1}
	if old != nil {
		if string(old) == string(b) {
			return nil
		}
		r.Expect = host.HashOf(old)
	}
	return h.ReplaceFile(ctx, path, b, r)
}
