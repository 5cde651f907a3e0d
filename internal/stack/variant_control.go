package stack

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"kasoku/internal/host"
)

// VariantState is what one implementation of a service does now.
type VariantState struct {
	State State `json:"state"`
	// Boot is what systemd says of its unit (enabled, disabled, …); "" for
	// implementations that are no units.
	Boot string `json:"boot,omitempty"`
}

func (v VariantState) String() string {
	if v.Boot == "" {
		return string(v.State)
	}
	return string(v.State) + ", " + v.Boot
}

// VariantStates looks at every implementation of a service, by name; nil if it
// has no variants.
func VariantStates(ctx context.Context, h host.Host, s *Stack, svc *Service) (map[string]VariantState, error) {
	var out map[string]VariantState
	for _, name := range svc.Implementations() {
		c, err := NewController(h, s, svc.As(name))
		if err != nil {
			return nil, err
		}
		v := VariantState{}
		if v.State, err = c.state(ctx); err != nil {
			return nil, fmt.Errorf("look at %s of %s: %w", name, svc.Name, err)
		}
		if c.svc.ControlMethod() == MethodSystemd {
			u, err := c.unit(ctx)
			if err != nil {
				return nil, fmt.Errorf("look at %s of %s: %w", name, svc.Name, err)
			}
			v.Boot = u.enabled
		}
		if out == nil {
			out = map[string]VariantState{}
		}
		out[name] = v
	}
	return out, nil
}

// Chosen names the implementation that counts: the one that runs; if none
// does, the preferred one, else the one that systemd starts at boot, else Main.
// "" without states.
func Chosen(svc *Service, states map[string]VariantState, preferred string) string {
	names := svc.Implementations()
	if len(names) == 0 || len(states) == 0 {
		return ""
	}
	for _, want := range []func(name string) bool{
		func(name string) bool { return states[name].State == Running },
		func(name string) bool { return name == preferred },
		func(name string) bool { return strings.HasPrefix(states[name].Boot, "enabled") },
	} {
		for _, name := range names {
			if want(name) {
				return name
			}
		}
	}
	return Main
}

// InUse looks which implementation of each service runs, and returns the stack
// with the services as these are. A stack without variants, fronts and pairs of databases is returned
// as it is, and no host is asked. A service that cannot be looked at is left as
// kasoku.yaml has it; the error is about the first of those.
func (s *Stack) InUse(ctx context.Context, hosts map[string]host.Host) (*Stack, error) {
	using := map[string]string{}
	var failed error
	for i := range s.Services {
		svc := &s.Services[i]
		if len(svc.Variants) == 0 || svc.using != "" || hosts[svc.HostName()] == nil {
			continue
		}
		states, err := VariantStates(ctx, hosts[svc.HostName()], s, svc)
		if err != nil {
			if failed == nil {
				failed = err
			}
			continue
		}
		using[svc.Name] = Chosen(svc, states, "")
	}
	fronts, err := FrontStates(ctx, hosts, s)
	if failed == nil {
		failed = err
	}
	standbys, err := StandbyStates(ctx, hosts, s)
	if failed == nil {
		failed = err
	}
	return s.With(using).WithFronts(fronts).WithStandbys(standbys), failed
}

// Prefer names the implementation that the Controller acts on while none runs:
// the one that was started last.
func (c *Controller) Prefer(name string) { c.preferred = name }

// choose makes the Controller act on the implementation that runs. What it
// knew of another one's process is forgotten.
func (c *Controller) choose(ctx context.Context) error {
	if c.named == nil || len(c.named.Variants) == 0 || c.named.using != "" {
		return nil
	}
	if c.svc.using != "" { // mostly it still runs, and each look costs a command
		if now, err := c.state(ctx); err == nil && now == Running {
			return nil
		}
	}
	states, err := VariantStates(ctx, c.h, c.s, c.named)
	if err != nil {
		return err
	}
	name := Chosen(c.named, states, c.preferred)
	if states[name].State != Running && c.preferred == "" && c.svc.using != "" {
		return nil // between stopping and starting it stays with what it stopped
	}
	if name != c.svc.using {
		c.svc, c.logs, c.inherited, c.launched, c.output = c.named.As(name), nil, inherited{}, identity{}, ""
	}
	return nil
}

// fileName is what files about the service's processes are called.
func (c *Controller) fileName() string {
	if c.svc.using == "" || c.svc.using == Main {
		return c.svc.Name
	}
	return c.svc.Name + "." + c.svc.using
}

// UsingOf are the implementations in use, by service, from their states.
func UsingOf(s *Stack, states map[string]map[string]VariantState) map[string]string {
	out := map[string]string{}
	for name := range maps.Keys(states) {
		if svc := s.Service(name); svc != nil {
			if using := Chosen(svc, states[name], ""); using != "" {
				out[name] = using
			}
		}
	}
	return out
}
