package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

const (
	// perfRate is samples per second of CPU time; not 100, so that they do not
	// keep step with what runs every 10 ms (perf-record(1) examples use 99).
	perfRate = 99
	// perfLongest bounds what is recorded: 60 s of 8 busy CPUs are 48,000
	// samples, some 25 MB.
	perfLongest = 60 * time.Second
	// perfEnd is how long perf may take to end after the window, and to name
	// the functions.
	perfEnd = 2 * time.Minute
)

// perfSource profiles the services of one host by one `perf record` with the
// cpu-clock event, which needs no hardware counters. The recording goes to
// perf's standard output, which is kept in memory: nothing is written on the
// host.
type perfSource struct {
	h       host.Host
	roots   map[string][]int // service → its processes
	begin   processTable     // when it was started
	last    processTable     // when the window ended
	began   time.Time
	ended   time.Time
	running chan struct{} // closed when perf has ended
	pid     chan int      // of perf
	result  host.Result
	err     error
	cancel  context.CancelFunc
}

// profiled are the kinds whose own code perf can name. PHP's functions it
// cannot, but it shows what PHP-FPM does below them: compiling scripts, waiting
// in the kernel's network code.
var profiled = []stack.Kind{stack.Nginx, stack.Apache, stack.PHPFPM, stack.MariaDB, stack.MySQL, stack.Memcached, stack.Redis, stack.Varnish, stack.App}

func findPerf(_ context.Context, s setting) ([]source, []Health) {
	var out []source
	for _, name := range sortedKeys(s.roots) {
		roots := map[string][]int{}
		for service, pids := range s.roots[name] {
			if svc := s.st.Service(service); svc != nil && svc.RunsIn == "" && len(pids) > 0 && slices.Contains(profiled, svc.Kind) {
				roots[service] = pids
			}
		}
		if len(roots) > 0 {
			out = append(out, &perfSource{h: s.hosts[name], roots: roots})
		}
	}
	return out, nil
}

func (p *perfSource) start(ctx context.Context) {
	p.running, p.pid = make(chan struct{}), make(chan int, 1)
	if p.begin, p.err = readProcesses(ctx, p.h); p.err != nil {
		close(p.running)
		return
	}
	list := make([]string, 0, len(p.begin))
	for pid := range p.begin.owners(p.roots) {
		list = append(list, strconv.Itoa(pid))
	}
	if len(list) == 0 {
		p.err = errors.New("none of the services' processes runs any more")
		close(p.running)
		return
	}
	slices.Sort(list)
	argv := []string{"perf", "record", "-q", "-e", "cpu-clock", "-F", strconv.Itoa(perfRate), "-g", "-o", "-",
		"-p", strings.Join(list, ","), "--", "sleep", strconv.Itoa(int(perfLongest.Seconds()))}
	// It must outlive a context that ends with the window, and is ended by end
	// or close.
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.began = time.Now()
	go func() {
		defer close(p.running)
		p.result, p.err = p.h.Run(ctx, host.Command{Argv: argv, Timeout: perfLongest + perfEnd, EndGroup: true,
			Started: func(pid int) { p.pid <- pid }})
	}()
}

// end asks perf to stop. SIGINT is what its manual names for that; perf hands
// out what it has buffered and ends.
func (p *perfSource) end(ctx context.Context) {
	p.ended = time.Now()
	if p.cancel == nil {
		return
	}
	select {
	case pid := <-p.pid:
		select {
		case <-p.running: // it has ended by itself; its number may be another's now
		default:
			_, _ = p.h.Run(ctx, host.Command{Argv: []string{"kill", "-INT", strconv.Itoa(pid)}})
		}
	case <-p.running: // it could not be started
	}
	p.last, _ = readProcesses(ctx, p.h)
}

func (p *perfSource) close() {
	if p.cancel != nil {
		p.cancel()
		<-p.running
	}
}

func (p *perfSource) tell(ctx context.Context, ev *Evidence) {
	if p.running == nil {
		return
	}
	source := "perf on " + p.h.Name()
	select {
	case <-p.running:
	case <-time.After(perfEnd):
		p.cancel()
		<-p.running
	case <-ctx.Done():
		return
	}
	if why := p.refused(); why != "" {
		ev.Health = append(ev.Health, Health{Source: source, OK: true, Text: "not judged: " + why})
		return
	}
	res, err := p.h.Run(ctx, host.Command{Argv: []string{"perf", "script", "--no-inline", "-F", perfFields, "-i", "-"}, Stdin: p.result.Stdout, Timeout: perfEnd})
	if err != nil {
		ev.Health = append(ev.Health, Health{Source: source, Text: err.Error()})
		return
	}
	profiles, health := p.profiles(res.Stdout, ev.Services)
	if len(profiles) == 0 && res.ExitCode != 0 {
		health = append(health, Health{Source: source, Text: fmt.Sprintf("perf script ended with %d: %s", res.ExitCode, shorten(lastLines(res.Stderr), 300))})
	}
	ev.Profiles, ev.Health = append(ev.Profiles, profiles...), append(ev.Health, health...)
}

// refused says why there is no recording; "" if there is one.
func (p *perfSource) refused() string {
	switch {
	case p.err != nil && (errors.Is(p.err, exec.ErrNotFound) || errors.Is(p.err, fs.ErrNotExist)):
		return "perf is not installed (apt-get install linux-perf)"
	case p.err != nil:
		return "perf: " + p.err.Error()
	case len(p.result.Stdout) > 0 && (p.result.ExitCode == 0 || p.result.ExitCode > 128 && p.result.ExitCode < 255):
		// perf 6.1 ends by SIGTERM after SIGINT, by 255 after an error.
		return ""
	}
	text := lastLines(p.result.Stderr)
	low := strings.ToLower(text)
	if strings.Contains(low, "perf_event_paranoid") || strings.Contains(low, "permission") || strings.Contains(low, "not permitted") || strings.Contains(low, "no access") {
		return "the kernel refuses perf (run Kasoku as root, or lower kernel.perf_event_paranoid)"
	}
	return fmt.Sprintf("perf ended with %d: %s", p.result.ExitCode, shorten(text, 300))
}

// lastLines puts a program's messages on one line.
func lastLines(b []byte) string { return strings.Join(strings.Fields(string(b)), " ") }

// perfService is what one service's samples add up to.
type perfService struct {
	b                *profileBuilder
	samples          int64
	hidden, nameless int64 // samples in the kernel, in programs, without a name
}

// profiles splits the samples by service. uses is what each service used.
func (p *perfSource) profiles(text []byte, uses map[string]ServiceUse) ([]Profile, []Health) {
	source := "perf on " + p.h.Name()
	owners := p.last.owners(p.roots)
	for pid, service := range p.begin.owners(p.roots) {
		owners[pid] = service
	}
	by := map[string]*perfService{}
	samples, first, last := 0, 0.0, 0.0
	bad, err := parsePerfScript(bytes.NewReader(text), func(s perfSample) {
		if samples++; samples == 1 {
			first, last = s.at, s.at
		}
		first, last = min(first, s.at), max(last, s.at)
		service := owners[s.pid]
		if service == "" {
			// A child that came and went in the window cannot be told apart if
			// there is more than one service.
			if len(p.roots) != 1 {
				return
			}
			service = sortedKeys(p.roots)[0]
		}
		x := by[service]
		if x == nil {
			x = &perfService{b: newProfileBuilder("cpu", int64(time.Second)/perfRate)}
			by[service] = x
		}
		x.add(s)
	})
	var health []Health
	if err != nil {
		health = append(health, Health{Source: source, Text: err.Error()})
	} else if bad > 0 {
		health = append(health, Health{Source: source, Text: fmt.Sprintf("%d lines of perf script were not understood", bad)})
	}
	if h, partial := p.partial(samples, last-first); partial {
		health = append(health, h)
	}
	var out []Profile
	for _, service := range sortedKeys(p.roots) {
		from := fmt.Sprintf("perf of %s", service)
		x := by[service]
		if x == nil {
			health = append(health, noSample(from, uses[service].CPU))
			continue
		}
		prof := Profile{Service: service, Tool: "perf", Period: time.Second / perfRate}
		if err := prof.fill(x.b.p, 0, 1); err != nil {
			health = append(health, Health{Source: from, Text: err.Error()})
			continue
		}
		out = append(out, prof)
		health = append(health, Health{Source: from, OK: true, Text: prof.samplesText() + x.caveats(p.ended.Sub(p.began))})
	}
	return out, health
}

// noSample tells why a service has none. Half a second of CPU is worth 50.
func noSample(source string, cpu float64) Health {
	if cpu > 0.5 {
		return Health{Source: source, Text: fmt.Sprintf("no sample was taken though the service used %.1f s of CPU: perf was not ready before the window's end; a longer window helps", cpu)}
	}
	return Health{Source: source, OK: true, Text: "not judged: no sample was taken; the service used next to no CPU in the window"}
}

// partial: perf is slow to start on a full machine, or ended early, and what it
// saw is then only a part of the window.
func (p *perfSource) partial(samples int, seconds float64) (Health, bool) {
	window := min(p.ended.Sub(p.began), perfLongest)
	if samples < fewSamples || seconds > 0.5*window.Seconds() {
		return Health{}, false
	}
	return Health{Source: "perf on " + p.h.Name(), Text: fmt.Sprintf("its samples are from %.1f s of a window of %.1f s: run again when the machine is quieter, or with a longer window",
		seconds, window.Seconds())}, true
}

func (x *perfService) add(s perfSample) {
	x.samples++
	leaf := &s.stack[0]
	if leaf.name == "[unknown]" {
		if strings.HasPrefix(leaf.file, "[kernel") || leaf.file == "" {
			x.hidden++
		} else {
			x.nameless++
		}
	}
	for i := range s.stack {
		if f := &s.stack[i]; f.name == "[unknown]" && f.file != "" {
			f.name += " in " + path.Base(f.file)
		}
	}
	x.b.add(s.stack, 1, s.period)
}

// caveats say what the shares cannot tell.
func (x *perfService) caveats(window time.Duration) string {
	text := "; total shares rest on frame pointers and are too small for programs built without"
	if share := float64(x.hidden) / float64(x.samples); share > 0.05 {
		text += fmt.Sprintf("; %.0f %% are in kernel functions whose names are hidden (kernel.kptr_restrict)", 100*share)
	}
	if share := float64(x.nameless) / float64(x.samples); share > 0.2 {
		text += fmt.Sprintf("; %.0f %% are in code without names: install the program's debug symbols", 100*share)
	}
	if window > perfLongest+time.Second {
		text += fmt.Sprintf("; only the first %s of %s were recorded", perfLongest, window.Round(time.Second))
	}
	return text
}
