package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/stat"
	"kasoku/internal/ui"
)

// RebootOptions say how Reboot goes.
type RebootOptions struct {
	Opts load.Options // of the load: where the front door is
	// Witness makes writes that must outlive the reboot; nil: none are made.
	Witness *load.Witness
	// Writes right before the reboot. Default 10.
	Writes int
	// Back is how long the hosts and the service may take to come back.
	Back time.Duration
	// Score measures the service; Before is what it was before. With nil the
	// score is not judged.
	Score  func(context.Context) (float64, error)
	Before float64
	// order tells a host to reboot; tests replace it.
	order func(ctx context.Context, h host.Host) error
}

// KeptScore is the share of the score that must be there after a reboot (W15).
const KeptScore = 0.95

// A score that falls short by little is measured again, after another reboot,
// because caches that have become warm cannot be told from noise: down to
// nearScore of before, mostReboots in all. Their geometric mean counts.
const (
	nearScore   = 0.8 // two runs on each side may differ by as much on a loud machine
	mostReboots = 3
)

const rebootWrites = 10

// bootID changes with each boot (random(4)).
const bootID = "/proc/sys/kernel/random/boot_id"

// Reboot restarts all hosts that checks.reboot names, at once and without
// shutting down what runs on them, as when their power fails. It starts nothing
// by itself: hosts, services, data and score must come back. Services that do
// not are started when that has been judged.
func Reboot(ctx context.Context, st *stack.Stack, hosts map[string]host.Host, o RebootOptions) (Result, error) {
	r := begin(Restart)
	names := permitted(st, r)
	if len(names) == 0 {
		return *r.notJudged("no host may be rebooted (checks.reboot in kasoku.yaml)").end(), nil
	}
	if o.order == nil {
		o.order = orderReboot
	}
	b := &reboot{st: st, hosts: hosts, o: o, r: r, names: names, boots: map[string]string{},
		request: []byte("GET / HTTP/1.1\r\nHost: " + hostOf(o.Opts.URL) + "\r\nUser-Agent: kasoku\r\nAccept: */*\r\n\r\n")}
	if err := b.readBoots(ctx); err != nil {
		return *r, fmt.Errorf("check a reboot: %w", err)
	}
	b.idle = idleSpares(ctx, st, hosts)
	err := b.run(ctx)
	b.takeBack(ctx)
	return *r.end(), err
}

// run reboots until the score tells enough.
func (b *reboot) run(ctx context.Context) error {
	for {
		if err := b.write(ctx); err != nil {
			return fmt.Errorf("check a reboot: before it: %w", err)
		}
		if err := b.boot(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil || !b.near() {
			break
		}
		b.r.note("the score after a reboot was %s of before: runs may differ by as much, so the hosts rebooted once more", ui.Factor(b.scores[len(b.scores)-1]/b.o.Before))
		if err := b.readBoots(ctx); err != nil {
			return fmt.Errorf("check a reboot: %w", err)
		}
	}
	if b.r.Outcome != NotJudged {
		b.judge()
		b.r.Text = b.text()
	}
	return ctx.Err()
}

// boot reboots the hosts once and looks at what comes back.
func (b *reboot) boot(ctx context.Context) error {
	b.wrong, b.up, b.patience = time.Time{}, nil, askTime
	begun := time.Now()
	done := b.reboots(ctx, begun)
	// From here on all is looked at, whatever is missing.
	all := b.back(ctx, begun, done)
	b.revive(ctx)
	if !all || ctx.Err() != nil {
		return nil
	}
	if err := b.writesBack(ctx); err != nil {
		return fmt.Errorf("check a reboot: %w", err)
	}
	b.takeBack(ctx) // the runs of the score may begin with a reset
	if err := b.score(ctx); err != nil {
		return fmt.Errorf("check a reboot: measure after it: %w", err)
	}
	return nil
}

// permitted are the hosts to reboot; those that are not are noted.
func permitted(st *stack.Stack, r *Result) []string {
	var names []string
	for _, name := range st.HostNames() {
		if name != stack.LocalHost && slices.Contains(st.Checks.Reboot, name) {
			names = append(names, name)
			continue
		}
		r.note("host %s was not rebooted: checks.reboot does not name it", name)
	}
	return names
}

// reboot is one Reboot under way.
type reboot struct {
	st    *stack.Stack
	hosts map[string]host.Host
	o     RebootOptions
	r     *Result
	names []string
	boots map[string]string // before
	up    []string          // hosts that are back
	idle  []string          // spare services that did not run before
	deeds []*load.Deed
	// request is what the front door is asked, until it answers.
	request  []byte
	patience time.Duration // how long one answer of it is waited for
	wrong    time.Time     // from when on it answered, but wrongly
	scores   []float64     // after each reboot
}

// takeBack ends the writes that have been asked for, or will not be.
func (b *reboot) takeBack(ctx context.Context) {
	takeBack(ctx, b.r, b.deeds)
	b.deeds = nil
}

func (b *reboot) readBoots(ctx context.Context) error {
	for _, name := range b.names {
		h := b.hosts[name]
		if h == nil {
			return fmt.Errorf("host %s is not connected", name)
		}
		id, err := h.ReadFile(ctx, bootID)
		if err != nil {
			return err
		}
		b.boots[name] = strings.TrimSpace(string(id))
	}
	return nil
}

// write makes the writes that must outlive the next reboot, if that is promised.
func (b *reboot) write(ctx context.Context) error {
	if b.o.Witness == nil {
		return nil
	}
	if b.o.Writes == 0 {
		b.o.Writes = rebootWrites
	}
	why, err := visible(ctx, b.o.Witness, seenWithin(b.st))
	if err != nil {
		return err
	}
	if why != "" {
		b.r.note("whether writes outlive the reboot is not judged: %s", why)
		b.o.Witness = nil // nor after another one
		return nil
	}
	for range b.o.Writes {
		d, err := b.o.Witness.Begin(ctx)
		if err != nil {
			return err
		}
		b.deeds = append(b.deeds, d)
		if err := d.Do(ctx); err != nil {
			return err
		}
		b.r.Writes++
	}
	if s, err := b.deeds[0].Look(ctx, 0); err == nil && strings.HasPrefix(string(s.Request), "GET ") {
		b.request = s.Request
	}
	return ctx.Err()
}

// idleSpares are the services that are spare and do not run: no work is theirs,
// so a reboot need not bring them back. One whose state cannot be told counts
// as any other.
func idleSpares(ctx context.Context, st *stack.Stack, hosts map[string]host.Host) []string {
	var out []string
	for i := range st.Services {
		svc := &st.Services[i]
		h := hosts[svc.HostName()]
		if svc.SpareFor == "" || svc.RunsIn != "" || h == nil {
			continue
		}
		c, err := stack.NewController(h, st, svc)
		if err != nil {
			continue
		}
		if state, err := c.State(ctx); err == nil && state != stack.Running {
			out = append(out, svc.Name)
		}
	}
	return out
}

// leaveTime is how long hosts and services are waited for when nobody waits for
// the check any more: nothing must stay down for that.
const leaveTime = 2 * time.Minute

// revive starts what did not come back on the hosts that did. Also when ctx ends:
// then these are waited for first.
func (b *reboot) revive(ctx context.Context) {
	if ctx.Err() == nil {
		b.start(ctx, b.services(ctx))
	}
	if ctx.Err() == nil {
		return
	}
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	b.up = b.returned(leaving)
	b.start(leaving, b.services(leaving))
}

// services looks at each service of the hosts that are back and returns those
// that are not.
func (b *reboot) services(ctx context.Context) []*stack.Controller {
	var left []*stack.Controller
	for i := range b.st.Services {
		svc := &b.st.Services[i]
		if svc.RunsIn != "" || !slices.Contains(b.up, svc.HostName()) || slices.Contains(b.idle, svc.Name) {
			continue
		}
		c, err := stack.NewController(b.hosts[svc.HostName()], b.st, svc)
		if err == nil {
			err = running(ctx, c)
		}
		if err != nil && ctx.Err() == nil {
			b.r.fail(svc.Name+" on "+svc.HostName(), "%v; a reboot must need no manual step: enable it (systemctl enable UNIT)", err)
			left = append(left, c)
		}
	}
	return left
}

// running tells whether a service runs and answers. One that its manager does
// not start is not waited for.
func running(ctx context.Context, c *stack.Controller) error {
	state, err := c.State(ctx)
	if err == nil && state != stack.Running {
		// A manager may be at it: units come up one after the other.
		for range 20 {
			if err := pause(ctx, 500*time.Millisecond); err != nil {
				return err
			}
			if state, err = c.State(ctx); err != nil || state == stack.Running {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	if state != stack.Running {
		return fmt.Errorf("%s is %s after the reboot", c.Name(), state)
	}
	return c.WaitHealthy(ctx)
}

// writesBack asks for the writes that were acknowledged right before.
func (b *reboot) writesBack(ctx context.Context) error {
	if len(b.deeds) == 0 {
		return nil
	}
	o := CrashOptions{Back: b.o.Back}.complete(b.st)
	l := &lookup{w: b.o.Witness, r: b.r, o: o, since: time.Now(), back: b.r.BackAfter > 0}
	return l.all(ctx, b.deeds)
}

// start what did not come back, so that nothing stays down.
func (b *reboot) start(ctx context.Context, left []*stack.Controller) {
	for _, c := range left {
		if c == nil {
			continue
		}
		if err := c.Start(ctx); err != nil {
			b.r.note("it could not be started either: %v", err)
			continue
		}
		b.r.note("%s was started by Kasoku afterwards", c.Name())
	}
}

func (b *reboot) score(ctx context.Context) error {
	if b.o.Score == nil || b.o.Before <= 0 {
		return nil
	}
	after, err := b.o.Score(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.r.fail("", "the score could not be measured after the reboot: %v", err)
		return nil
	}
	b.scores = append(b.scores, after)
	return nil
}

// near reports whether the score is all that fell short, and by so little that
// another reboot shall tell.
func (b *reboot) near() bool {
	if len(b.scores) == 0 || len(b.scores) == mostReboots || b.r.Failures > 0 {
		return false
	}
	after := stat.GeoMean(b.scores)
	return after < KeptScore*b.o.Before && after >= nearScore*b.o.Before
}

// judge compares the scores of all boots with what was before.
func (b *reboot) judge() {
	if len(b.scores) == 0 {
		return
	}
	after := stat.GeoMean(b.scores)
	b.r.Before, b.r.After = b.o.Before, after
	if after < KeptScore*b.o.Before {
		b.r.fail("", "the score is %s after the reboot and was %s before: less than %.0f %% of it", ui.Number(after), ui.Number(b.o.Before), 100*KeptScore)
	}
}

func (b *reboot) text() string {
	text := fmt.Sprintf("%s rebooted at once (%s)", count(len(b.names), "host", "hosts"), strings.Join(b.names, ", "))
	if b.r.BackAfter > 0 {
		text += fmt.Sprintf(", the service answered rightly after %s", ui.Duration(b.r.BackAfter))
	}
	if b.r.Writes > 0 {
		text += fmt.Sprintf("; %s acknowledged right before", count(b.r.Writes, "write was", "writes were"))
	}
	if len(b.scores) > 1 {
		text += fmt.Sprintf("; %d reboots", len(b.scores))
	}
	if b.r.After > 0 {
		text += fmt.Sprintf("; the score is %s, %s of before", ui.Number(b.r.After), ui.Factor(b.r.After/b.r.Before))
	}
	return text
}
