package evidence

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// CollectorOptions say what a Collector reads.
type CollectorOptions struct {
	// Generator is the process that makes the load; 0: none on the hosts.
	Generator int
	// Benchmark tells the CPU time that somebody else's benchmark, with all it
	// started, has used so far; it is the generator's too. It is called with
	// each of the two readings; nil: there is none.
	Benchmark func() time.Duration
	// Diagnostic: read the slow query log (see SlowLogVariables). Without it
	// statements come from performance_schema if that is on.
	Diagnostic bool
	// Profile: take profiles of the services. Only together with Diagnostic.
	Profile bool
	// OPcache are the pages that tell OPcache's counters, by php-fpm service.
	OPcache map[string]OPcachePage
}

// Collector takes the Evidence of one load window:
//
//	col, err := NewCollector(ctx, st, hosts, opts)  // before the load
//	err = col.Start(ctx)                            // when the window begins
//	err = col.End(ctx)                              // when it ends, before teardown
//	ev, err := col.Stop(ctx, result)                // after the load: reads logs, explains
//	col.Close()                                     // always
//
// Start and End only take readings, side by side for all sources, and may be
// called from another goroutine than the rest. A window of 5 s of nginx,
// PHP-FPM and MariaDB costs 7 ms of CPU at its start and 14 ms while it goes
// on, so 0.4 % of one CPU, and 13 ms after it (BenchmarkWindow, on a 2-CPU
// virtual machine with 130 processes and six times as much other work as
// CPUs). Stop may take seconds after a diagnostic run. A Collector is for one
// window.
type Collector struct {
	st    *stack.Stack
	hosts map[string]host.Host
	opts  CollectorOptions

	mu       sync.Mutex
	begin    map[string]*reading
	end      map[string]*reading
	roots    map[string]map[string][]int // host → service → its processes
	samplers map[string]*sampler         // by host
	dbs      []*dbSource
	fpms     []*fpmSource
	sources  []source
	asking   sync.WaitGroup
	noting   sync.Mutex // of health
	health   []Health
	closed   bool
}

// NewCollector finds the services' processes and connects to databases. A
// source that cannot be had is told in Evidence.Health; the error is for a
// host that is missing, or for ctx. The caller closes the Collector.
func NewCollector(ctx context.Context, st *stack.Stack, hosts map[string]host.Host, opts CollectorOptions) (*Collector, error) {
	st, failed := st.InUse(ctx, hosts)
	c := &Collector{st: st, hosts: hosts, opts: opts, begin: map[string]*reading{}, end: map[string]*reading{},
		roots: map[string]map[string][]int{}, samplers: map[string]*sampler{}}
	if opts.Generator > 0 && hosts[stack.LocalHost] != nil {
		c.roots[stack.LocalHost] = map[string][]int{} // it makes the load
	}
	if failed != nil {
		c.bad("implementations", failed)
	}
	for i := range st.Services {
		svc := &st.Services[i]
		h := hosts[svc.HostName()]
		if h == nil {
			c.Close()
			return nil, fmt.Errorf("collect evidence of %s: host %s is not connected", svc.Name, svc.HostName())
		}
		if c.roots[svc.HostName()] == nil {
			c.roots[svc.HostName()] = map[string][]int{}
		}
		if svc.RunsIn == "" {
			c.findProcesses(ctx, h, svc)
		}
		switch {
		case svc.IsDatabase():
			d, err := openDBSource(ctx, h, svc, opts.Diagnostic)
			if err != nil {
				c.bad("counters of "+svc.Name, err)
				continue
			}
			c.dbs = append(c.dbs, d)
		case svc.Kind == stack.PHPFPM:
			c.findPools(ctx, h, svc)
		}
	}
	for i := range st.Followers { // what it costs is the stack's
		svc := &st.Followers[i]
		if h := hosts[svc.HostName()]; h != nil {
			if c.roots[svc.HostName()] == nil {
				c.roots[svc.HostName()] = map[string][]int{}
			}
			c.findProcesses(ctx, h, svc)
		}
	}
	for _, find := range sourceFinders {
		found, health := find(ctx, setting{st: st, hosts: hosts, opts: opts, roots: c.roots})
		c.sources = append(c.sources, found...)
		c.health = append(c.health, health...)
	}
	if ctx.Err() != nil {
		c.Close()
		return nil, fmt.Errorf("collect evidence: %w", ctx.Err())
	}
	return c, nil
}

func (c *Collector) bad(source string, err error) {
	c.noting.Lock()
	defer c.noting.Unlock()
	c.health = append(c.health, Health{Source: source, Text: err.Error()})
}

// lacks is bad, except that a spare may be off.
func (c *Collector) lacks(source string, svc *stack.Service, err error) {
	c.noting.Lock()
	defer c.noting.Unlock()
	c.health = append(c.health, lacking(source, svc, err))
}

// Start takes the first readings. Call it when the window begins.
func (c *Collector) Start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.begin) > 0 {
		return errors.New("collect evidence: Start was called twice")
	}
	for _, f := range c.fpms {
		c.asking.Go(func() { f.begin, _, f.err = fpmStatus(ctx, f.h, f.pools) })
	}
	var dbs sync.WaitGroup
	for _, d := range c.dbs {
		dbs.Go(func() { d.start(ctx) })
	}
	for _, x := range c.sources {
		dbs.Go(func() { x.start(ctx) })
	}
	dbs.Wait()
	begin, err := c.everyHost(func(name string) (*reading, error) { return c.firstReading(ctx, name) })
	if err != nil {
		return err
	}
	c.begin = begin
	c.readBenchmark(c.begin)
	for name := range c.roots {
		c.samplers[name] = startSampler(ctx, c.hosts[name], c.begin[name], sampleInterval(c.hosts[name]))
	}
	return nil
}

// everyHost takes a reading of all hosts at the same time.
func (c *Collector) everyHost(read func(name string) (*reading, error)) (map[string]*reading, error) {
	names := sortedKeys(c.roots)
	readings, errs := make([]*reading, len(names)), make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { readings[i], errs[i] = read(name) })
	}
	wg.Wait()
	out := map[string]*reading{}
	for i, name := range names {
		out[name] = readings[i]
	}
	return out, errors.Join(errs...)
}

// readBenchmark adds the benchmark's CPU time to the reading of the machine
// that it runs on.
func (c *Collector) readBenchmark(readings map[string]*reading) {
	if r := readings[stack.LocalHost]; r != nil && c.opts.Benchmark != nil {
		r.benchmark = c.opts.Benchmark()
	}
}

// firstReading looks for a service's processes again if it was restarted since
// NewCollector.
func (c *Collector) firstReading(ctx context.Context, name string) (*reading, error) {
	h := c.hosts[name]
	r, err := readSystem(ctx, h)
	if err != nil {
		return nil, err
	}
	again := false
	for service, pids := range c.roots[name] {
		if len(pids) > 0 {
			if _, alive := r.table[pids[0]]; !alive {
				c.findProcesses(ctx, h, c.st.Service(service))
				again = true
			}
		}
	}
	if again {
		if r, err = readSystem(ctx, h); err != nil {
			return nil, err
		}
	}
	r.table.adopt(ctx, h, c.units(name))
	r.threads, r.unread = readThreads(ctx, h, r.table, c.roots[name])
	r.io = readIO(ctx, h, r.table, c.roots[name])
	return r, nil
}

// units are the units of a host's services, by name.
func (c *Collector) units(hostName string) map[string]string {
	out := map[string]string{}
	for i := range c.st.Services {
		if svc := &c.st.Services[i]; svc.HostName() == hostName && svc.RunsIn == "" && svc.Control.Unit != "" {
			out[svc.Control.Unit] = svc.Name
			if !strings.HasSuffix(svc.Control.Unit, ".service") {
				out[svc.Control.Unit+".service"] = svc.Name
			}
		}
	}
	return out
}

// End takes the last readings. Call it when the window ends; Stop does it
// otherwise. A second call does nothing.
func (c *Collector) End(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.endLocked(ctx)
}

func (c *Collector) endLocked(ctx context.Context) error {
	if len(c.begin) == 0 {
		return errors.New("collect evidence: the window was never begun (Start)")
	}
	if len(c.end) > 0 {
		return nil
	}
	end, err := c.everyHost(func(name string) (*reading, error) {
		if s := c.samplers[name]; s != nil {
			s.stop(ctx)
		}
		r, err := readSystem(ctx, c.hosts[name])
		if err == nil {
			r.table.adopt(ctx, c.hosts[name], c.units(name))
			alive := still(c.roots[name], c.begin[name].table, r.table)
			r.threads, r.unread = readThreads(ctx, c.hosts[name], r.table, alive)
			r.io = readIO(ctx, c.hosts[name], r.table, alive)
		}
		return r, err
	})
	if err != nil {
		return err
	}
	c.end = end
	c.readBenchmark(c.end)
	var dbs sync.WaitGroup
	for _, d := range c.dbs {
		dbs.Go(func() { d.stop(ctx) })
	}
	for _, x := range c.sources {
		dbs.Go(func() { x.end(ctx) })
	}
	dbs.Wait()
	c.asking.Wait() // of Start; long done
	for _, f := range c.fpms {
		c.asking.Go(func() {
			if f.err == nil {
				f.end, _, f.err = fpmStatus(ctx, f.h, f.pools)
			}
		})
	}
	return nil
}

// Stop returns the window's evidence. result may be nil if the load failed.
func (c *Collector) Stop(ctx context.Context, result *load.Result) (*Evidence, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.endLocked(ctx); err != nil {
		return nil, err
	}
	c.asking.Wait()
	ev := &Evidence{Load: result, Services: map[string]ServiceUse{}, Counters: map[string]CounterDelta{}, Health: c.health}
	c.system(ctx, ev)
	if result != nil {
		ev.Health = append(ev.Health, generatorHealth(result, c.opts.Benchmark != nil))
		for i := range result.Refusals {
			ev.Health = append(ev.Health, Health{Source: "answers", Text: result.Refusals[i].String()})
		}
	}
	for _, f := range c.fpms {
		f.tell(ev)
	}
	for _, d := range c.dbs {
		delta, health := d.counters()
		ev.Health = append(ev.Health, health)
		if delta != nil {
			ev.Counters[d.svc.Name] = *delta
		}
		statements, more := d.statements(ctx)
		ev.Statements = append(ev.Statements, statements...)
		ev.Health = append(ev.Health, more...)
		waits, more := d.lockWaits()
		ev.LockWaits = append(ev.LockWaits, waits...)
		ev.Health = append(ev.Health, more...)
	}
	for _, x := range c.sources {
		x.tell(ctx, ev)
	}
	sortStatements(ev.Statements)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("collect evidence: %w", ctx.Err())
	}
	return ev, nil
}

// system fills System, Hosts and Services.
func (c *Collector) system(ctx context.Context, ev *Evidence) {
	front := c.st.FrontHost()
	hosts := map[string]*System{}
	sampling := map[string]error{}
	for _, name := range sortedKeys(c.begin) {
		begin, end := c.begin[name], c.end[name]
		sys := used(begin, end)
		sys.Host = name
		generator := c.opts.Generator
		if name != stack.LocalHost {
			if generator = begin.self; end.self != generator {
				generator = 0
			}
		}
		uses := split(&sys, begin, end, c.roots[name], generator)
		finish(ctx, c.hosts[name], begin, end, c.roots[name], uses)
		nameUnits(ctx, c.hosts[name], sys.Others)
		for service, use := range uses {
			ev.Services[service] = use
			if use.Processes == 0 && len(c.roots[name][service]) > 0 {
				ev.Health = append(ev.Health, Health{Source: "processes of " + service, Text: service + " ended during the run", Spoils: true})
			}
		}
		if s := c.samplers[name]; s != nil {
			sampling[name] = s.into(&sys)
		}
		readSpeeds(ctx, c.hosts[name], sys.Networks)
		hosts[name] = &sys
	}
	c.tellApart(hosts)
	for _, name := range sortedKeys(hosts) {
		sys := hosts[name]
		if name == front {
			ev.System = *sys
		} else {
			if ev.Hosts == nil {
				ev.Hosts = map[string]*System{}
			}
			ev.Hosts[name] = sys
		}
		h := systemHealth(name, *sys, span(c.begin[name], c.end[name]), sampling[name])
		h.Text += notJudged(*sys, c.begin[name].unread, c.end[name].unread)
		ev.Health = append(ev.Health, h)
	}
}

// Close ends sampling and connections. It may be called at any time, and twice.
func (c *Collector) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	for _, s := range c.samplers {
		s.cancel()
		<-s.done
	}
	c.asking.Wait()
	for _, d := range c.dbs {
		d.close()
	}
	for _, x := range c.sources {
		x.close()
	}
}
