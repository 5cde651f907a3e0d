package stack

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"kasoku/internal/host"
)

// ReplicaUser is the account by which one database of a pair follows the other.
// It is on both, and only Kasoku makes it.
const ReplicaUser = "kasoku_replica"

// StandbyState is how a database on another host (Service.SpareFor) stands.
type StandbyState struct {
	Service Service `json:"service"` // as kasoku.yaml has it
	// InUse: applications write to it, and the service that it is spare for
	// follows it.
	InUse bool `json:"in_use"`
	// Program: its binary is there; true where kasoku.yaml names none.
	Program bool  `json:"program"`
	State   State `json:"state,omitempty"`
	// Error is why it cannot be logged in to; "" if it can.
	Error string `json:"error,omitempty"`
}

// IsStandby reports whether a service is a database that another one's data may
// be moved to.
func (s *Service) IsStandby() bool { return s.IsDatabase() && s.SpareFor != "" }

// StandbyStates looks at every such database of the stack, by name; nil if there
// is none. What cannot be looked at is not in use.
func StandbyStates(ctx context.Context, hosts map[string]host.Host, s *Stack) (map[string]StandbyState, error) {
	var out map[string]StandbyState
	for i := range s.Services {
		svc := &s.Services[i]
		h := hosts[svc.HostName()]
		if !svc.IsStandby() || h == nil || s.Service(svc.SpareFor) == nil {
			continue
		}
		if out == nil {
			out = map[string]StandbyState{}
		}
		out[svc.Name] = standbyState(ctx, h, s, svc)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("look at %s: %w", svc.Name, err)
		}
	}
	return out, nil
}

func standbyState(ctx context.Context, h host.Host, s *Stack, svc *Service) StandbyState {
	out := StandbyState{Service: *svc, Program: true, State: Stopped}
	if svc.Binary != "" {
		out.Program = exists(ctx, h, svc.Binary)
	}
	if c, err := NewController(h, s, svc); err == nil {
		if state, err := c.State(ctx); err == nil {
			out.State = state
		}
	}
	db, err := OpenDB(ctx, h, svc)
	if err == nil {
		defer db.Close()
		out.InUse, err = leads(ctx, db)
	}
	if err != nil {
		out.Error = err.Error()
	}
	return out
}

// leads reports whether a database of a pair is the one that is written to.
func leads(ctx context.Context, db *sql.DB) (bool, error) {
	var readOnly bool
	var accounts int
	if err := db.QueryRowContext(ctx, "SELECT @@GLOBAL.read_only, (SELECT COUNT(*) FROM mysql.user WHERE User = '"+ReplicaUser+"')").Scan(&readOnly, &accounts); err != nil {
		return false, fmt.Errorf("read whether it is written to: %w", err)
	}
	return !readOnly && accounts > 0, nil
}

// WithStandbys is the stack as its pairs of databases stand: of each, only the
// one in use is a service of it, and whoever talks to the other talks to that.
// The others are in Followers. The stack itself if there are no pairs.
func (s *Stack) WithStandbys(states map[string]StandbyState) *Stack {
	if len(states) == 0 {
		return s
	}
	out := *s
	out.Services, out.Followers = slices.Clone(s.Services), slices.Clone(s.Followers)
	for _, st := range states {
		from, to := st.Service.Name, st.Service.SpareFor // not in use, in use
		if st.InUse {
			from, to = to, from
		}
		i := slices.IndexFunc(out.Services, func(v Service) bool { return v.Name == from })
		if i < 0 || out.Service(to) == nil {
			continue
		}
		out.Followers = append(out.Followers, out.Services[i])
		out.Services = slices.Delete(out.Services, i, i+1)
		out.Service(to).SpareFor = ""
		for j := range out.Services {
			v := &out.Services[j]
			v.TalksTo = slices.Clone(v.TalksTo)
			for k, name := range v.TalksTo {
				if name == from {
					v.TalksTo[k] = to
				}
			}
		}
	}
	return &out
}
