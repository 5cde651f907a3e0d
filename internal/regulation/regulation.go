// Package regulation says what the operator allows Kasoku to trade.
//
// In: the regulation section of kasoku.yaml. Out: answers to "may this trade
// be made?". It imports nothing of Kasoku, so that every later stage can ask.
// Strict is the default: the zero Regulation allows nothing.
package regulation

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Trade is something that a remedy gives up for speed. A remedy names every
// trade it makes; a plan that names one which is not allowed is never applied.
type Trade string

const (
	// Durability: acknowledged writes may be lost in a crash or power loss.
	Durability Trade = "durability"
	// SessionDurability: sessions of logged-in users may be lost in a reboot.
	SessionDurability Trade = "session_durability"
	// Staleness: a reader may see data that is older than the last write.
	Staleness Trade = "staleness"
	// Isolation: a weaker transaction isolation level than as found.
	Isolation Trade = "isolation"
	// Observability: fewer or later logs and metrics than as found.
	Observability Trade = "observability"
	// Security: wider permissions or fewer checks than as found.
	Security Trade = "security"
)

// Trades lists every trade with a sentence for the report and `kasoku init`.
var Trades = []struct {
	Trade Trade
	Text  string
}{
	{Durability, "acknowledged writes may be lost in a crash or power loss"},
	{SessionDurability, "sessions of logged-in users may be lost in a reboot"},
	{Staleness, "a reader may see data older than the last write"},
	{Isolation, "transactions may see more of each other than as found"},
	{Observability, "logs and metrics may become fewer or later"},
	{Security, "permissions may become wider than as found"},
}

// Kernel stands in NoTouch for kernel settings, which belong to no service and
// to all that runs on a host.
const Kernel = "kernel"

// Regulation is the `regulation:` section of kasoku.yaml.
// The zero value is the strict regulation.
type Regulation struct {
	// Allow lists the trades that may be made. Empty: none.
	Allow []Trade `yaml:"allow,omitempty" json:"allow,omitempty"`
	// Staleness is how old an answer may be where the trade staleness is made:
	// a cached page is at most that much older than what the application would
	// have answered. 0 means the default, 2s; at most a day. It needs staleness
	// in Allow.
	Staleness time.Duration `yaml:"staleness,omitempty" json:"staleness,omitempty"`
	// MemoryHeadroomPercent of the host's memory that stays free for what
	// Kasoku does not know of. Range 0–90; 0 means the default, 20.
	MemoryHeadroomPercent int `yaml:"memory_headroom_percent,omitempty" json:"memory_headroom_percent,omitempty"`
	// NoRestart names services that may be reloaded but never restarted.
	NoRestart []string `yaml:"no_restart,omitempty" json:"no_restart,omitempty"`
	// NoTouch names services that may not be changed at all; Kernel among them
	// keeps the settings of the hosts' kernels.
	NoTouch []string `yaml:"no_touch,omitempty" json:"no_touch,omitempty"`
	// ApplicationSettings permits changing an application's own settings, e.g. of
	// its cache, in the files that services[].settings names. Default false:
	// only addresses of other services are changed there.
	ApplicationSettings bool `yaml:"application_settings,omitempty" json:"application_settings,omitempty"`
	// Install permits installing and upgrading packages. Default false.
	Install bool `yaml:"install,omitempty" json:"install,omitempty"`
	// Source permits changing the source of applications: patches that can be shown to
	// answer the same, as commits on a branch of Kasoku's own, built and tried. Default
	// false: they are only shown.
	Source bool `yaml:"source,omitempty" json:"source,omitempty"`
	// Production says that people use this system: nothing takes back what is written
	// to its data (load.reset: snapshot is refused). Default false.
	Production bool `yaml:"production,omitempty" json:"production,omitempty"`
}

// DefaultMemoryHeadroomPercent is used when kasoku.yaml names none: a fifth of
// the machine for the kernel, the page cache and whatever else runs there.
const DefaultMemoryHeadroomPercent = 20

// DefaultStaleness is used when kasoku.yaml allows the trade and names no
// limit: the shortest that nginx can keep, whose cache counts whole seconds, so
// that one second of validity may be nearly two of age.
const DefaultStaleness = 2 * time.Second

// longestStaleness that may be written: a day covers every page that is worth
// a cache, and more is most likely a slip.
const longestStaleness = 24 * time.Hour

// MaxAge is how old an answer may be, with the default applied; 0 if the trade
// may not be made.
func (r Regulation) MaxAge() time.Duration {
	switch {
	case !r.Allows(Staleness):
		return 0
	case r.Staleness == 0:
		return DefaultStaleness
	}
	return r.Staleness
}

// Allows reports whether the trade may be made.
func (r Regulation) Allows(t Trade) bool { return slices.Contains(r.Allow, t) }

// Headroom is the percentage of memory to leave free, with the default applied.
func (r Regulation) Headroom() int {
	if r.MemoryHeadroomPercent == 0 {
		return DefaultMemoryHeadroomPercent
	}
	return r.MemoryHeadroomPercent
}

// Refuses returns why a plan that makes these trades, touches and restarts
// these services may not be applied; "" means it may.
func (r Regulation) Refuses(trades []Trade, touched, restarted []string) string {
	for _, t := range trades {
		if !r.Allows(t) {
			return fmt.Sprintf("it trades %s, which regulation.allow does not list", t)
		}
	}
	for _, s := range touched {
		if slices.Contains(r.NoTouch, s) {
			return fmt.Sprintf("it changes %s, which regulation.no_touch lists", s)
		}
	}
	for _, s := range restarted {
		if slices.Contains(r.NoRestart, s) {
			return fmt.Sprintf("it restarts %s, which regulation.no_restart lists", s)
		}
	}
	return ""
}

// Validate reports unknown trades and numbers out of range.
func (r Regulation) Validate() error {
	known := make([]string, 0, len(Trades))
	for _, t := range Trades {
		known = append(known, string(t.Trade))
	}
	sort.Strings(known)
	for _, t := range r.Allow {
		if !slices.Contains(known, string(t)) {
			return fmt.Errorf("regulation.allow: unknown trade %q (known: %v)", t, known)
		}
	}
	if r.Staleness < 0 || r.Staleness > longestStaleness {
		return fmt.Errorf("regulation.staleness: %s is outside 0–24h", r.Staleness)
	}
	if r.Staleness > 0 && !r.Allows(Staleness) {
		return fmt.Errorf("regulation.staleness: %s limits a trade that regulation.allow does not list; add staleness there", r.Staleness)
	}
	if r.MemoryHeadroomPercent < 0 || r.MemoryHeadroomPercent > 90 {
		return fmt.Errorf("regulation.memory_headroom_percent: %d is outside 0–90", r.MemoryHeadroomPercent)
	}
	return nil
}
