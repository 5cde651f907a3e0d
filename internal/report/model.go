// Package report tells what a session did, for people: one HTML file that
// needs no network, Markdown, JSON, and text for the terminal. It also exports
// the kept changes.
//
// In: a session's rows from internal/store. Out: a Model, and its renderings.
// It is the last stage: it reads, and never measures or changes anything. All
// text that came from a target is escaped.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/history"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/store"
)

// Format is the version of Model's JSON form. A field is never renamed or
// given another meaning without raising it.
const Format = 1

// Model is everything a report says, before it has a form.
type Model struct {
	Format   int           `json:"format"`
	Created  time.Time     `json:"created"`
	Kasoku   string        `json:"kasoku,omitempty"` // version that wrote the report
	Session  store.Session `json:"session"`
	Rule     Rule          `json:"rule"`
	Headline string        `json:"headline"` // the result in one sentence
	Caveats  []string      `json:"caveats"`  // what a reader must know to read it rightly
	Score    Score         `json:"score"`
	Took     time.Duration `json:"took"` // wall-clock time of the session
	Steps    []Step        `json:"steps"`

	// Before and After are the diagnostic runs at the session's ends; After is
	// nil if there is only one, Before if there is none.
	Before *Side      `json:"before,omitempty"`
	After  *Side      `json:"after,omitempty"`
	CPU    []CPUShare `json:"cpu"`
	// Times are the parts of the time that a right answer takes.
	Times      []TimeShare       `json:"times"`
	Resources  []Resource        `json:"resources"`
	Routes     []RouteChange     `json:"routes"`
	Statements []StatementChange `json:"statements"`
	// Seen is all that the last diagnostic run saw; nil if there is none.
	Seen *Seen `json:"seen,omitempty"`
	// Findings and NotJudged of the last diagnosis: what remains.
	Findings  []diagnose.Finding   `json:"findings"`
	NotJudged []diagnose.NotJudged `json:"not_judged"`
	// Work is what only the source code can mend, as run WorkRun saw it.
	Work    []diagnose.Work `json:"work"`
	WorkRun int64           `json:"work_run,omitempty"`
	// Flames are the profiles of both diagnostic runs, with their pictures.
	Flames []Flame `json:"profiles,omitempty"`

	// Levels are the scores over time, if there is more than one session.
	Levels []history.Series `json:"levels,omitempty"`

	// Noise is how much scores of one configuration differ: the median over the
	// experiments of their baselines' coefficient of variation; 0 unknown.
	Noise float64 `json:"noise"`
	// Setup is what a repetition needs to be alike.
	Setup     Setup     `json:"setup"`
	Runs      RunCount  `json:"runs"`
	Warnings  []Warning `json:"warnings"`
	Reproduce []Command `json:"reproduce"`

	from string // see madeFrom
}

// Rule is the decision rule that verdicts were made by.
type Rule struct {
	Alpha          float64 `json:"alpha"`           // false-keep rate of one experiment
	MaxPairs       int     `json:"max_pairs"`       // of runs per experiment
	SmallestEffect float64 `json:"smallest_effect"` // fraction worth keeping
}

// Score in points per second.
type Score struct {
	AsFound float64 `json:"as_found"`
	// Final is measured at the end; if Measured is false (the session did not
	// get there), it is the last kept candidate's score.
	Final    float64 `json:"final"`
	Measured bool    `json:"measured"`
	Factor   float64 `json:"factor"` // of runs that alternate (store.Session.Gain; the kept steps' own until the end); 0 if it cannot be said
	// AfterRestart is the score after every service but NotRestarted was
	// restarted; 0 = not measured. RestartEffect is AfterRestart / Final − 1.
	AfterRestart  float64  `json:"after_restart"`
	NotRestarted  []string `json:"not_restarted,omitempty"`
	RestartEffect float64  `json:"restart_effect"`
	// Unit of all: load.PointsPerSecond, or load.PointsPerRun.
	Unit string `json:"unit"`
}

// Points is a score with its unit.
func (s Score) Points(v float64) string { return points(v, cmp.Or(s.Unit, load.PointsPerSecond)) }

// Restarted says what AfterRestart was measured after.
func (s Score) Restarted() string {
	if len(s.NotRestarted) == 0 {
		return "restarting every service"
	}
	return "restarting every service but " + strings.Join(s.NotRestarted, ", ")
}

// Step is a stored step with what the report adds.
type Step struct {
	store.Step
	Trades []Trade `json:"trades"` // of the plan, in words
	// Commands are what a person would type to make the change by hand.
	Commands []string `json:"commands"`
	// Wrong answers that stopped the experiment, with their bodies.
	Wrong []load.Mismatch `json:"wrong,omitempty"`
	// Factor is the candidate's score / the score as found, which were measured at two
	// times and so are no gain; 0 if unknown.
	Factor float64 `json:"factor"`
	// SecondLook is what came of looking at it again, "" if nothing did.
	SecondLook string `json:"second_look,omitempty"`
	// Parts are its changes, each with its own reason, where it made several.
	Parts []Part `json:"parts,omitempty"`
}

// end names where After is.
func (m *Model) end() string {
	if m.Session.State == "running" {
		return "so far"
	}
	return "at the end"
}

// UnderWay is the number of the step that is being tried, 0 if none is.
func (m *Model) UnderWay() int {
	if m.Session.State != "running" || len(m.Steps) == 0 {
		return 0
	}
	if last := m.Steps[len(m.Steps)-1]; last.Verdict.Outcome == "" {
		return last.Seq
	}
	return 0
}

// Trade is something that was given up for speed, in words.
type Trade struct {
	Name regulation.Trade `json:"name"`
	Text string           `json:"text"`
}

// Side is one end of the comparison before / after.
type Side struct {
	Run               int64             `json:"run"`
	Label             string            `json:"label"`
	Workload          int               `json:"workload"`
	Window            time.Duration     `json:"window"`
	RequestsPerSecond float64           `json:"requests_per_second"`
	Latency           load.Percentiles  `json:"latency"`
	Goodput           float64           `json:"goodput"` // right answers within the objective per second
	Apdex             *float64          `json:"apdex,omitempty"`
	CPUPerRequest     float64           `json:"cpu_per_request"` // seconds per right answer: all parts of CPU
	Demands           []diagnose.Demand `json:"demands"`
	Binds             string            `json:"binds"` // the resource, as the diagnosis names it
	BindsText         string            `json:"binds_text"`
	Next              []diagnose.Next   `json:"next"`      // what would be full next, least throughput first
	Healthy           int               `json:"healthy"`   // sources that covered the run
	Unhealthy         []string          `json:"unhealthy"` // sources that did not cover the run
}

// Seen is one run's evidence, as the run stored it.
type Seen struct {
	Run      int64              `json:"run"`
	Label    string             `json:"label"`
	Unfit    string             `json:"unfit,omitempty"`
	Evidence *evidence.Evidence `json:"evidence"`
	before   *evidence.Evidence // of the diagnostic run before the session; nil: it is that run
}

// CPUShare is one part of a request's CPU time, in seconds per right answer.
type CPUShare struct {
	Name string `json:"name"`
	// Part: "service", "generator" (the load generator), "foreign" (neither).
	Part   string  `json:"part"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// RouteChange is one route before and after. A nil side has no such route.
type RouteChange struct {
	Route  string      `json:"route"`
	Before *RouteStats `json:"before,omitempty"`
	After  *RouteStats `json:"after,omitempty"`
}

// RouteStats of one run.
type RouteStats struct {
	PerSecond float64       `json:"requests_per_second"`
	P50       time.Duration `json:"p50"`
	P99       time.Duration `json:"p99"`
	Share     float64       `json:"share"`  // of all latency, 0–1
	Failed    int64         `json:"failed"` // answers, wrong or none
	Apdex     *float64      `json:"apdex,omitempty"`
}

// StatementChange is one class of statements before and after.
type StatementChange struct {
	Service     string          `json:"service"`
	Fingerprint string          `json:"fingerprint"`
	Before      *StatementStats `json:"before,omitempty"`
	After       *StatementStats `json:"after,omitempty"`
}

// StatementStats of one run. Times are seconds.
type StatementStats struct {
	CallsPerRequest float64 `json:"calls_per_request"` // per right answer
	TimePerCall     float64 `json:"time_per_call"`
	TimePerRequest  float64 `json:"time_per_request"`
	RowsPerCall     float64 `json:"rows_examined_per_call"`
}

// RunCount counts the session's runs.
type RunCount struct {
	Total      int `json:"total"`
	Scored     int `json:"scored"`
	Diagnostic int `json:"diagnostic"`
	Probe      int `json:"probe"`
	Unfit      int `json:"unfit"` // no evidence; repeated
	// WhyUnfit is what was wrong with the last of those.
	WhyUnfit string `json:"why_unfit,omitempty"`
}

// Warning is a caveat with its place.
type Warning struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

// Command is something to type, and what for.
type Command struct {
	Text string `json:"text"`
	Why  string `json:"why"`
}

// Kept returns the steps whose changes are in force, in order.
func (m *Model) Kept() []Step {
	return m.some(func(s Step) bool { return s.Kept && !s.LeftOut })
}

// Rejected returns the steps that were put back, at once or when they were
// looked at again, in order.
func (m *Model) Rejected() []Step {
	return m.some(func(s Step) bool { return (!s.Kept || s.LeftOut) && len(s.LeavesOut) == 0 })
}

func (m *Model) some(want func(Step) bool) []Step {
	var out []Step
	for _, s := range m.Steps {
		if want(s) {
			out = append(out, s)
		}
	}
	return out
}

// secondLook is what came of looking at a kept step again, "" if nothing did.
func (m *Model) secondLook(s Step) string {
	for _, again := range m.Steps {
		if s.LookedAgain == 0 || again.Seq != s.LookedAgain {
			continue
		}
		with := "with it"
		if len(again.LeavesOut) > 1 {
			with = fmt.Sprintf("with the %d of step %d together", len(again.LeavesOut), again.Seq)
		}
		text := fmt.Sprintf("%s against without: %s", with, Effect(again.Verdict))
		if s.LeftOut {
			text += "; taken out"
		}
		return text
	}
	return m.partLooks(s)
}

// partLooks is what came of looking at the parts of a kept group one by one, and
// which of them nobody has looked at: the group's proof is not each part's.
func (m *Model) partLooks(s Step) string {
	if s.LookedAgain != 0 || !s.Kept || s.LeftOut || len(s.Plan.Parts) < 2 || s.Plan.OfSmall() || m.Session.Ended.IsZero() {
		return ""
	}
	var out, rest []string
	for _, p := range s.Plan.Parts {
		i := slices.IndexFunc(m.Steps, func(again Step) bool { return p.LookedAgain != 0 && again.Seq == p.LookedAgain })
		if i < 0 {
			rest = append(rest, p.Title)
			continue
		}
		text := fmt.Sprintf("%s: with it against without %s", p.Title, Effect(m.Steps[i].Verdict))
		if p.LeftOut {
			text += ", taken out"
		}
		out = append(out, text)
	}
	if len(rest) > 0 {
		out = append(out, "Only together with the others: "+strings.Join(rest, "; "))
	}
	return strings.Join(out, ". ")
}
