package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"

	"github.com/google/pprof/profile"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// Flame is one profile of a diagnostic run with its picture.
type Flame struct {
	Run  int64  `json:"run"`
	When string `json:"when"` // "as found", "at the end"
	evidence.Profile
	// Picture is an SVG; "" if the run has no artifact of the profile.
	Picture template.HTML `json:"-"`
}

// What is shared out, in words.
func (f Flame) What() string {
	switch {
	case f.Of != "":
		return f.Of
	case f.Wall:
		return "elapsed time"
	}
	return "CPU time"
}

// mostShown functions stand below a picture; `kasoku show` has more.
const mostShown = 10

// Shown are the functions of the table.
func (f Flame) Shown() []evidence.ProfileFrame { return f.Top[:min(len(f.Top), mostShown)] }

// addFlames draws the profiles of the diagnostic runs at both ends.
func (m *Model) addFlames(st *store.Store) error {
	for _, end := range []struct {
		side *Side
		when string
	}{{m.Before, "as found"}, {m.After, m.end()}} {
		if end.side == nil {
			continue
		}
		run, err := st.Run(end.side.Run)
		if err != nil {
			return err
		}
		if run.Evidence == nil {
			continue
		}
		for _, p := range run.Evidence.Profiles {
			f := Flame{Run: run.ID, When: end.when, Profile: p}
			if err := f.paint(st); err != nil {
				m.Warnings = append(m.Warnings, Warning{Where: fmt.Sprintf("run %d", run.ID), Text: err.Error()})
			}
			m.Flames = append(m.Flames, f)
		}
	}
	return nil
}

// paint draws the picture; a run without the artifact has none, which is no
// error: somebody may have taken it out.
func (f *Flame) paint(st *store.Store) error {
	if f.Artifact == "" {
		return nil
	}
	data, err := st.Artifact(f.Run, f.Artifact)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return fmt.Errorf("read profile %s: %w", f.Artifact, err)
	}
	for _, fn := range p.Function { // a Model is masked later, a picture is not
		fn.Name, fn.Filename = change.Redact(fn.Name), change.Redact(fn.Filename)
	}
	var b bytes.Buffer
	o := FlameOptions{Title: f.What() + " of " + f.Service, Waiting: map[string]bool{}}
	if f.Wall {
		o.Value = "wall"
	}
	for _, top := range f.Top {
		o.Waiting[change.Redact(top.Function)] = top.Waiting
	}
	if err := FlameSVG(&b, p, o); err != nil {
		return err
	}
	f.Picture = template.HTML(b.String())
	return nil
}

//go:embed flames.html
var flamesSource string

var flamesPart = template.Must(template.New("flames").Funcs(template.FuncMap{
	"share": func(p float64) string { return together(ui.Share(p)) }, "name": shownName}).Parse(flamesSource))

// flameSection is the report's section on profiles, nothing if there are none.
func flameSection(m *Model) (template.HTML, error) {
	var b bytes.Buffer
	if err := flamesPart.Execute(&b, m.Flames); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}
