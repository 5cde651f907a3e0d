package evidence

import (
	"fmt"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/stack"
)

// Standby is a database that the data of another one may be moved to.
type Standby struct {
	stack.StandbyState
	// Variables are its own; nil: it could not be asked.
	Variables map[string]string `json:"variables,omitempty"`
	Version   string            `json:"version,omitempty"`
	// DataFree is what the file system of its datadir has left, bytes; 0 unknown.
	DataFree int64 `json:"data_free,omitempty"`
	// Why the data cannot be moved to it; "" if nothing is known to stand against it.
	Why string `json:"why,omitempty"`
}

func standbyStates(all map[string]Standby) map[string]stack.StandbyState {
	var out map[string]stack.StandbyState
	for name, s := range all {
		if out == nil {
			out = map[string]stack.StandbyState{}
		}
		out[name] = s.StandbyState
	}
	return out
}

// standbys looks at pairs of databases. Of the one that is not in use only the
// files and variables are read.
func (t *taker) standbys() {
	states, err := stack.StandbyStates(t.ctx, t.hosts, t.st)
	if err != nil {
		t.bad("databases that data may be moved to", err)
		return
	}
	for name, state := range states {
		s := Standby{StandbyState: state}
		idle := &s.Service
		if state.InUse {
			idle = t.st.Service(state.Service.SpareFor)
		}
		t.standbyFiles(idle)
		if !t.opts.Brief && !state.InUse {
			if err := t.standbyFacts(&s); err != nil {
				s.Why = "cannot be looked at: " + err.Error()
			}
		}
		if t.snap.Standbys == nil {
			t.snap.Standbys = map[string]Standby{}
		}
		t.snap.Standbys[name] = s
	}
}

func (t *taker) standbyFiles(svc *stack.Service) {
	host := svc.HostName()
	if t.snap.Files[host] == nil {
		t.snap.Files[host] = map[string]File{}
	}
	if svc.Config == "" || t.hosts[host] == nil {
		return
	}
	r := &fileReader{ctx: t.ctx, h: t.hosts[host], service: svc.Name, files: t.snap.Files[host]}
	text := "it is not in use"
	if _, err := ini.Load(svc.Config, ini.MySQL, r.read, r.glob); err != nil {
		text += fmt.Sprintf("; it has no configuration yet (%v)", err)
	}
	t.good("configuration of "+svc.Name, text)
}

// standbyFacts asks both servers of a pair.
func (t *taker) standbyFacts(s *Standby) error {
	spare, main := &s.Service, t.st.Service(s.Service.SpareFor)
	h := t.hosts[spare.HostName()]
	b, err := stack.OpenDB(t.ctx, h, spare)
	if err != nil {
		return err
	}
	defer b.Close()
	conn, err := b.Conn(t.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if s.Variables, err = readPairs(t.ctx, conn, "SHOW GLOBAL VARIABLES"); err != nil {
		return err
	}
	s.Version = s.Variables["version"]
	s.DataFree = freeBytes(t.ctx, h, s.Variables["datadir"])
	a, err := stack.OpenDB(t.ctx, t.hosts[main.HostName()], main)
	if err != nil {
		return err
	}
	defer a.Close()
	if s.Why, err = stack.Unfit(t.ctx, a, conn); err != nil || s.Why != "" {
		return err
	}
	why, err := stack.Uncarriable(t.ctx, a)
	if why != "" {
		s.Why = "cannot take the data of " + main.Name + ", which " + why
	}
	return err
}
