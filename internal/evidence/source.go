package evidence

import (
	"context"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// source is one thing that a Collector reads around the window. start and end
// are called side by side with those of other sources and must be quick: they
// only take readings. tell comes after the load and may take seconds. All of
// them note what they could not have as Health, never as an error.
type source interface {
	start(ctx context.Context)
	end(ctx context.Context)
	// tell adds what was seen to the evidence, and what each source covered.
	tell(ctx context.Context, ev *Evidence)
	close()
}

// setting is what sources are found with.
type setting struct {
	st    *stack.Stack
	hosts map[string]host.Host
	opts  CollectorOptions
	// roots are the services' processes: host → service → pids.
	roots map[string]map[string][]int
}

// sourceFinders return the sources that a stack has, in the order in which
// they tell. What cannot be opened is returned as Health.
var sourceFinders = []func(ctx context.Context, s setting) ([]source, []Health){
	findClocks,
	findSockets,
	findCgroups,
	findNginxStatus,
	findOPcache,
	findMemcached,
	findRedis,
	findVarnish,
	findProfiles,
	findCollectors,
	findPrograms,
	accessSources,
	varnishSources,
	errorSources,
	findServiceNet, // by what the others have counted
}
