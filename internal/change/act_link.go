package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"kasoku/internal/host"
)

// Link is a symbolic link that is made, or with Remove taken away.
type Link struct {
	Target string `json:"target"` // as readlink(1) prints it
	Remove bool   `json:"remove,omitempty"`
}

func (l *Link) title(path string) string {
	if l == nil {
		return "link " + path
	}
	if l.Remove {
		return "remove link " + path
	}
	return "link " + path + " to " + l.Target
}

// command is what a person would type.
func (l *Link) command(path string, remove bool) string {
	if remove {
		return commandLine([]string{"rm", "--", path})
	}
	return commandLine([]string{"ln", "-s", "--", l.Target, path})
}

// linkAct makes or removes one symbolic link, such as those by which Debian's
// Apache enables its modules. The link is renamed into place, so that it is
// there whole or not at all, with the time and owner that it had.
type linkAct struct{ work }

func (a *linkAct) prepare(ctx context.Context) ([][]byte, error) {
	c := a.c
	if c.Link == nil || c.Link.Target == "" || !filepath.IsAbs(c.Path) || filepath.Clean(c.Path) != c.Path {
		return nil, fmt.Errorf("link %q: an absolute and clean path and a target are needed", c.Path)
	}
	info, err := a.h.Stat(ctx, c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.Link.Remove {
			return nil, fmt.Errorf("remove link %s: %w: it is not there", c.Path, ErrChanged)
		}
		c.Before, c.After = &FileState{}, &FileState{UID: -1, GID: -1}
		return nil, nil
	case err != nil:
		return nil, err
	case !c.Link.Remove || info.Mode&fs.ModeSymlink == 0 || info.Target != c.Link.Target:
		return nil, fmt.Errorf("%s: %w: %s is there", c.Title(), ErrChanged, linkFound(info))
	}
	c.Before, c.After = &FileState{UID: info.UID, GID: info.GID, ModTime: info.ModTime}, &FileState{}
	return nil, nil
}

func linkFound(info host.FileInfo) string {
	if info.Mode&fs.ModeSymlink != 0 {
		return "a link to " + info.Target
	}
	return "something that is no link"
}

func (a *linkAct) look(ctx context.Context) (sight, error) {
	info, err := a.h.Stat(ctx, a.c.Path)
	there := false
	s := sight{got: "nothing"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return sight{}, err
	case info.Mode&fs.ModeSymlink == 0 || info.Target != a.c.Link.Target:
		return sight{got: linkFound(info)}, nil
	default:
		there, s.got = true, linkFound(info)
	}
	s.before, s.after = there == a.c.Link.Remove, there != a.c.Link.Remove
	return s, nil
}

func (a *linkAct) write(ctx context.Context) (string, error) {
	if a.c.Link.Remove {
		return "", a.remove(ctx)
	}
	return "", a.make(ctx, FileState{UID: -1, GID: -1})
}

func (a *linkAct) restore(ctx context.Context) error {
	if a.c.Link.Remove {
		return a.make(ctx, *a.c.Before)
	}
	return a.remove(ctx)
}

// temp is where a link is made before it is renamed into place. A leading dot
// keeps it out of patterns such as mods-enabled/*.load.
func (a *linkAct) temp() string {
	return filepath.Join(filepath.Dir(a.c.Path), ".kasoku-link-"+filepath.Base(a.c.Path))
}

func (a *linkAct) make(ctx context.Context, s FileState) error {
	tmp := a.temp()
	steps := [][]string{{"ln", "-sfn", "--", a.c.Link.Target, tmp}}
	if s.UID >= 0 {
		steps = append(steps, []string{"chown", "-h", fmt.Sprintf("%d:%d", s.UID, s.GID), "--", tmp})
	}
	if !s.ModTime.IsZero() {
		steps = append(steps, []string{"touch", "-h", "-d", s.ModTime.UTC().Format(time.RFC3339Nano), "--", tmp})
	}
	// -n: nothing that came meanwhile is overwritten; look tells.
	steps = append(steps, []string{"mv", "-n", "-T", "--", tmp, a.c.Path}, []string{"sync", "--", filepath.Dir(a.c.Path)})
	if err := a.all(ctx, steps); err != nil {
		return err
	}
	if left, err := a.h.Stat(ctx, tmp); err == nil {
		return errors.Join(fmt.Errorf("%s: %w: something is there", a.c.Title(), ErrChanged), a.all(ctx, [][]string{{"rm", "-f", "--", left.Path}}))
	}
	return nil
}

func (a *linkAct) remove(ctx context.Context) error {
	return a.all(ctx, [][]string{{"rm", "--", a.c.Path}, {"sync", "--", filepath.Dir(a.c.Path)}})
}

// sweep removes a link that a kill left before it was renamed.
func (a *linkAct) sweep(ctx context.Context) error {
	info, err := a.h.Stat(ctx, a.temp())
	if err != nil || info.Mode&fs.ModeSymlink == 0 {
		return nil
	}
	return a.all(ctx, [][]string{{"rm", "-f", "--", a.temp()}})
}

func (a *linkAct) all(ctx context.Context, steps [][]string) error {
	for _, argv := range steps {
		r, err := a.h.Run(ctx, host.Command{Argv: argv})
		if err == nil && r.ExitCode != 0 {
			err = fmt.Errorf("%s: exit status %d: %s", commandLine(argv), r.ExitCode, tail(r))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *linkAct) conflict(s sight) *ConflictError {
	link := "a link to " + a.c.Link.Target
	if a.c.Link.Remove {
		return a.differs(link, "nothing", s.got)
	}
	return a.differs("nothing", link, s.got)
}
