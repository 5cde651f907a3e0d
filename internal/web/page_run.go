package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/report"
	"kasoku/internal/store"
)

// runView is what the page of a run shows.
type runView struct {
	*store.Run
	Times     []bar // of the report: what a right answer's time is made of
	Where     []bar // what ran for it
	Resources []resource
	Hosts     []hostCharts
	Sections  []section
	Plans     []plan
	Flames    []report.Flame
	Problems  []string
	Artifacts []store.Artifact
	All       bool
	Prior     int64 // the run of the same kind before it, 0 if there is none
}

// section of a run; Links lead from a statement to its plan.
type section struct {
	report.Section
	Links map[string]string // by the statement as it is shown
}

// plan is how a database runs one class of statements.
type plan struct {
	ID, Service, Fingerprint, Example, Explain string
}

// mostRows of each table, unless all are asked for.
const mostRows = 12

func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	id, ok := s.number(w, r, r.PathValue("id"))
	if !ok {
		return
	}
	run, err := s.o.Store.Run(id)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	change.RedactAll(run)
	v := &runView{Run: run, All: r.URL.Query().Has("all"), Resources: resources(run.Diagnosis)}
	times := report.Times(run)
	v.Times, v.Where = timeBars(times, "This run"), whereTime(run, times, nil)
	v.Hosts = overTime(run.Evidence, run.Diagnosis, s.hostOf)
	limit := mostRows
	if v.All {
		limit = 0
	}
	for _, x := range report.Sections(run, limit) {
		if x.ID == "counters" && !v.All {
			continue // some hundreds of rows for those who ask for everything
		}
		for _, row := range x.Rows {
			for i := range row {
				row[i] = text(row[i])
			}
		}
		v.Sections = append(v.Sections, section{Section: x})
	}
	v.Plans = plansOf(run.Evidence)
	v.link()
	v.Flames, v.Problems = report.Flames(s.o.Store, run)
	if v.Artifacts, err = s.o.Store.Artifacts(id); err != nil {
		s.failed(w, r, err)
		return
	}
	prior, err := s.o.Store.Runs(store.RunFilter{Kind: run.Kind, Before: id, Limit: 1})
	if err != nil {
		s.failed(w, r, err)
		return
	}
	if len(prior) > 0 {
		v.Prior = prior[0].ID
	}
	s.render(w, r, http.StatusOK, "run", page{Title: fmt.Sprintf("Run %d", id), At: "runs"}, v)
}

// link statements to their plans.
func (v *runView) link() {
	links := map[string]string{}
	for _, p := range v.Plans {
		links[text(p.Fingerprint)] = p.ID
	}
	for i := range v.Sections {
		if v.Sections[i].ID == statements {
			v.Sections[i].Links = links
		}
	}
}

// statements is the section of that ID (report.Sections).
const statements = "statements"

// plansOf are the EXPLAINs, as the database gave them.
func plansOf(ev *evidence.Evidence) []plan {
	if ev == nil {
		return nil
	}
	var out []plan
	for _, q := range ev.Statements {
		if q.Explain == "" {
			continue
		}
		explain := q.Explain
		var b bytes.Buffer
		if json.Indent(&b, []byte(explain), "", "  ") == nil {
			explain = b.String()
		}
		out = append(out, plan{fmt.Sprint("plan-", len(out)+1), q.Service, q.Fingerprint, q.Example, explain})
	}
	return out
}

// artifact gives a file of a run away as bytes that no browser shows.
func (s *Server) artifact(w http.ResponseWriter, r *http.Request) {
	id, ok := s.number(w, r, r.PathValue("id"))
	if !ok {
		return
	}
	name := r.PathValue("name")
	data, err := s.o.Store.Artifact(id, name)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	if data, err = maskedProfile(data); err != nil {
		s.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fmt.Sprintf("run-%d-%s", id, name)}))
	_, _ = w.Write(data) // a browser that left
}
