package mcp

import (
	"context"
	"strings"

	evidences "kasoku/internal/evidence"
	"kasoku/internal/patch"
	"kasoku/internal/report"
)

// PatchInput names a patch.
type PatchInput struct {
	ID  string `json:"id,omitempty" jsonschema:"the patch whose message and diff are wanted, such as P1-3f2a; default: a list of all"`
	All bool   `json:"all,omitempty" jsonschema:"list what is refused, too, with the precondition that could not be shown"`
}

// PatchAnswer is the list, or one patch.
type PatchAnswer struct {
	Patches *report.Patches `json:"patches,omitempty"`
	Message string          `json:"message,omitempty"` // of the commit
	Diff    string          `json:"diff,omitempty"`    // secrets are masked
}

func (s *Server) addPatch() {
	add(s, "patch", "Patch", "Changes of the source of Go and PHP applications that save statements or work and can be shown to answer the same: a list of places, or one as a diff with its message. `kasoku patch apply` makes a branch of it, which try judges.",
		patches)
}

func patches(ctx context.Context, v *View, in PatchInput) (PatchAnswer, error) {
	here, elsewhere := report.SourceRoots(v.Stack)
	if len(here) == 0 {
		return PatchAnswer{}, hintf("name the application's folder as root in kasoku.yaml; source on other hosts cannot be read", "no source lies on this machine (elsewhere: %s)", strings.Join(elsewhere, ", "))
	}
	var seen *evidences.Evidence // what statements took is for where to tell
	if run, err := diagnosed(v, 0); err == nil {
		seen = &evidences.Evidence{Tables: run.Evidence.Tables}
	}
	p, err := report.FindPatches(ctx, here, seen)
	if err != nil {
		return PatchAnswer{}, hintf("the folder must hold a Go module that builds, or PHP, with php and the package php-parser on this machine", "%v", err)
	}
	if in.ID == "" {
		if !in.All {
			p.Refused = []report.PatchPlace{}
		}
		return PatchAnswer{Patches: p}, nil
	}
	chosen, err := p.Choose([]string{in.ID})
	if err != nil {
		return PatchAnswer{}, hintf("patch with all lists them", "%v", err)
	}
	diff, err := patch.Diff(chosen)
	if err != nil {
		return PatchAnswer{}, err
	}
	return PatchAnswer{Message: chosen[0].Message(), Diff: diff}, nil
}
