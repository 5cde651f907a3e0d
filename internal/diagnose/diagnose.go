package diagnose

import "sort"

// Rule is one entry of the rule table.
type Rule struct {
	ID       string
	Measures []string
	// Needs names the evidence it cannot do without, for people.
	Needs string
	// Judge returns findings, or why it could not judge.
	Judge func(m *model) (found []Finding, notJudged string)
}

// Diagnose applies every rule to one run.
func Diagnose(in Input) (*Diagnosis, error) {
	m, err := newModel(in)
	if err != nil {
		return nil, err
	}
	d := &Diagnosis{Demands: m.demands()}
	d.Binds, d.BindsText = m.binds()
	for _, r := range Rules {
		found, why := r.Judge(m)
		if why != "" {
			d.NotJudged = append(d.NotJudged, NotJudged{Rule: r.ID, Why: why})
		}
		for _, f := range found {
			f.Rule, f.Measures = r.ID, r.Measures
			d.Findings = append(d.Findings, f)
		}
	}
	sort.SliceStable(d.Findings, func(i, j int) bool { return d.Findings[i].Bound > d.Findings[j].Bound })
	return d, nil
}

// Rules is the table of everything that is looked for.
var Rules = []Rule{
	{"db.full-scan", []string{"I02", "I07", "I10", "L06", "W06"}, "statements of a diagnostic run", judgeFullScan},
	{"db.memory", []string{"C21", "W07", "L07"}, "database variables and counters", judgeDBMemory},
	{"db.commit-flush", []string{"W07", "L07"}, "database variables and counters", judgeCommitFlush},
	{"db.connect-per-request", []string{"I14", "C12"}, "database counters", judgeConnects},
	{"php.opcache-off", []string{"W03"}, "effective PHP settings", judgeOPcache},
	{"php.jit-off", []string{"I16"}, "effective PHP settings", judgeJIT},
	{"php.workers", []string{"C18", "I17"}, "pool configuration", judgeWorkers},
	{"php.session-files", []string{"L11"}, "effective PHP settings", judgeSessions},
	{"web.static-through-app", []string{"L05"}, "sampled answers and application files", judgeStatic},
	{"web.loopback-tcp", []string{"L03"}, "web server and pool configuration", judgeLoopbackWeb},
	{"db.loopback-tcp", []string{"L03"}, "application settings", judgeLoopbackDB},
	{"web.workers", []string{"L08"}, "web server configuration", judgeNginxWorkers},
	{"web.connections", []string{"L12"}, "web server configuration", judgeNginxConnections},
	{"web.delivery", []string{"C19"}, "web server configuration", judgeNginxDelivery},
	{"web.file-cache", []string{"C19", "L10"}, "web server configuration", judgeFileCache},
	{"web.access-log", []string{"I09", "W14"}, "web server configuration", judgeAccessLog},
	{"load.workload", []string{"L01", "G08"}, "a load result", judgeWorkload},
	{"load.generator", []string{"L08"}, "a load result", judgeGenerator},
	{"system.unsaturated", []string{"W13"}, "system counters", judgeUnsaturated},
}
