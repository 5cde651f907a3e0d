package stack

import "time"

// LocalHost is the name of the machine Kasoku runs on.
const LocalHost = "local"

// Defaults of kasoku.yaml.
const (
	// DefaultHealthTimeout covers a database's crash recovery of a small data
	// set and a PHP-FPM restart under load; a larger one needs its own number.
	DefaultHealthTimeout = 30 * time.Second
	// DefaultSmallestEffect: less than 1 % is within what two runs on an idle
	// machine differ by, and rarely worth a change to maintain.
	DefaultSmallestEffect = 0.01
	// DefaultAlpha: one false keep in a hundred experiments.
	DefaultAlpha = 0.01
	// DefaultMaxPairs bounds one experiment: so many show +2 % where pairs differ
	// by 9 %. Most end before twenty (docs/explanation/verdict.md).
	DefaultMaxPairs = 400
	// DefaultMaxForeignCPU: on two CPUs a fifth of one. More moves the score
	// by more than the effects that are looked for.
	DefaultMaxForeignCPU = 0.10
)

// Control methods.
const (
	MethodSystemd    = "systemd"
	MethodSupervisor = "supervisor"
	MethodProcess    = "process"
	MethodCommand    = "command"
)

// Wait is how long a service may take to answer, with the default applied.
func (h Health) Wait() time.Duration {
	if h.Timeout <= 0 {
		return DefaultHealthTimeout
	}
	return h.Timeout
}

// Effect is the smallest effect worth keeping (a fraction), with the default
// applied.
func (t Tune) Effect() float64 {
	if t.SmallestEffect == 0 {
		return DefaultSmallestEffect
	}
	return t.SmallestEffect
}

// FalseKeepRate is Alpha with the default applied.
func (t Tune) FalseKeepRate() float64 {
	if t.Alpha == 0 {
		return DefaultAlpha
	}
	return t.Alpha
}

// Foreign is MaxForeignCPU with the default applied.
func (t Tune) Foreign() float64 {
	if t.MaxForeignCPU == 0 {
		return DefaultMaxForeignCPU
	}
	return t.MaxForeignCPU
}

// Pairs is MaxPairs with the default applied.
func (t Tune) Pairs() int {
	if t.MaxPairs == 0 {
		return DefaultMaxPairs
	}
	return t.MaxPairs
}

// HostName is the host the service runs on, with the default applied.
func (s *Service) HostName() string {
	if s.Host == "" {
		return LocalHost
	}
	return s.Host
}

// IsDatabase reports whether the service speaks the MySQL protocol.
func (s *Service) IsDatabase() bool { return s.Kind == MariaDB || s.Kind == MySQL }

// ControlMethod is Control.Method with the default applied.
func (s *Service) ControlMethod() string {
	switch {
	case s.Control.Method != "":
		return s.Control.Method
	case s.Control.Unit != "":
		return MethodSystemd
	case s.Control.Program != "":
		return MethodSupervisor
	}
	return MethodProcess
}
