package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// Spare is what the host of a spare service (stack.Service.SpareFor) has of what
// that needs.
type Spare struct {
	Program bool `json:"program"` // its binary is there
	// Packages that the service it is spare for runs from and that this host
	// lacks; known only where packages may be installed. Sorted.
	Packages []string `json:"packages,omitempty"`
	// Code by folder of the applications that run in the service that it is
	// spare for, or of that itself: how the same folder is on this host.
	Code map[string]CodeState `json:"code,omitempty"`
}

// CodeState compares a folder of two hosts.
type CodeState string

const (
	CodeSame      CodeState = "same"
	CodeAbsent    CodeState = "absent"
	CodeDifferent CodeState = "different"
)

// lacking is what is said of something of a service that could not be read: of
// one that is spare it may not be there.
func lacking(source string, svc *stack.Service, err error) Health {
	if svc.SpareFor != "" {
		return Health{Source: source, OK: true, Text: "not judged: it is spare for " + svc.SpareFor + ": " + err.Error()}
	}
	return Health{Source: source, Text: err.Error()}
}

// codeTime bounds reading all files of an application.
const codeTime = time.Minute

// codeSum prints one hash for the names, modes and bytes of all files below a
// folder, and for the targets of links.
const codeSum = `cd -- "$1" && { find . -type f -print0 | sort -z | xargs -0 -r sha256sum; find . -type f -printf '%m %P\n' | sort; find . -type l -printf '%l %P\n' | sort; } | sha256sum`

// spares looks at the hosts of spare services.
func (t *taker) spares() {
	for i := range t.st.Services {
		svc := &t.st.Services[i]
		if svc.SpareFor == "" {
			continue
		}
		if t.snap.Spares == nil {
			t.snap.Spares = map[string]Spare{}
		}
		s := Spare{Program: true}
		if svc.Binary != "" {
			_, err := t.hosts[svc.HostName()].Stat(t.ctx, svc.Binary)
			s.Program = err == nil
		}
		if missing, err := t.missing(svc); err != nil {
			t.bad("packages of "+svc.Name, err)
		} else {
			s.Packages = missing
		}
		for j := range t.st.Services {
			app := &t.st.Services[j]
			if app.RunsIn != svc.SpareFor && app.Name != svc.SpareFor || app.Root == "" {
				continue
			}
			state, err := compareFolders(t.ctx, t.hosts[app.HostName()], app.Root, t.hosts[svc.HostName()], app.Root)
			if err != nil {
				t.bad("code of "+app.Name+" on "+svc.HostName(), err)
				continue
			}
			if s.Code == nil {
				s.Code = map[string]CodeState{}
			}
			s.Code[app.Root] = state
		}
		t.snap.Spares[svc.Name] = s
	}
}

// missing are the packages of PHP that the service which svc is spare for runs
// from and that svc's host does not have.
func (t *taker) missing(svc *stack.Service) ([]string, error) {
	main := t.st.Service(svc.SpareFor)
	if main == nil || svc.Kind != stack.PHPFPM {
		return nil, nil
	}
	var names []string
	for _, p := range t.snap.Packages[main.HostName()] {
		if strings.HasPrefix(p.Name, "php") && (slices.Contains(p.Programs, main.Name) || slices.Contains(p.Libraries, main.Name)) {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	r, err := t.hosts[svc.HostName()].Run(t.ctx, host.Command{Argv: append([]string{"dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"}, names...), Env: []string{"LC_ALL=C"}})
	if err == nil && r.ExitCode > 1 { // 1: some are not known
		err = fmt.Errorf("exit status %d: %s", r.ExitCode, shorten(strings.TrimSpace(string(r.Stderr)), 200))
	}
	if err != nil {
		return nil, fmt.Errorf("dpkg-query on %s: %w", svc.HostName(), err)
	}
	return absent(names, string(r.Stdout)), nil
}

// absent are the names that dpkg-query does not list as installed, sorted.
func absent(names []string, listed string) []string {
	out := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return slices.Contains(strings.Split(listed, "\n"), n+" installed")
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// compareFolders compares a folder of one host with one of another.
func compareFolders(ctx context.Context, here host.Host, ours string, there host.Host, theirs string) (CodeState, error) {
	if _, err := there.Stat(ctx, theirs); errors.Is(err, fs.ErrNotExist) {
		return CodeAbsent, nil
	} else if err != nil {
		return "", err
	}
	a, err := codeOf(ctx, here, ours)
	if err != nil {
		return "", err
	}
	b, err := codeOf(ctx, there, theirs)
	if err != nil {
		return "", err
	}
	if a != b {
		return CodeDifferent, nil
	}
	return CodeSame, nil
}

// codeOf is codeSum of a folder.
func codeOf(ctx context.Context, h host.Host, folder string) (string, error) {
	r, err := h.Run(ctx, host.Command{Argv: []string{"sh", "-c", codeSum, "sh", folder}, Timeout: codeTime, Env: []string{"LC_ALL=C"}})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("exit status %d: %s", r.ExitCode, shorten(strings.TrimSpace(string(r.Stderr)), 200))
	}
	if err != nil {
		return "", fmt.Errorf("read all of %s on %s: %w", folder, h.Name(), err)
	}
	return string(r.Stdout), nil
}
