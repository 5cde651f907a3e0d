package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

const (
	// goPiece is how long one CPU profile lasts, whole seconds. A Go program
	// tells a profile only when its time is over, and how long the window will
	// be is not known when it begins, so pieces are asked for, one after the
	// other, and put together. Between two there is a gap of 0.1–0.2 s
	// (runtime/pprof waits for its writer); three seconds keep it below 7 %.
	goPiece = 3 * time.Second
	// goLongest bounds what is recorded, as with perf.
	goLongest = 60 * time.Second
	// goAnswer is how long a program may take to answer beyond the piece. A
	// saturated one takes long.
	goAnswer = 15 * time.Second
	// mostGoProfile is the largest profile that is read, bytes; a piece has
	// seldom more than 100 KB.
	mostGoProfile = 64 << 20
)

// goSource profiles one Go program through its net/http/pprof pages.
type goSource struct {
	service string
	base    string
	client  http.Client

	stop    context.CancelFunc // no further piece; the present one is dropped
	mu      sync.Mutex
	over    bool // the window has ended
	began   time.Time
	ended   time.Time
	pieces  []*profile.Profile
	covered time.Duration
	err     error // why the pieces ended early
	done    sync.WaitGroup

	allocs    [2]*profile.Profile
	allocsErr error
	asking    [2]chan struct{} // closed when allocs of the same index is there
}

// hostClient makes connections as seen from a host.
func hostClient(h host.Host) http.Client {
	if h == nil {
		return http.Client{}
	}
	return http.Client{Transport: &http.Transport{DialContext: h.DialContext}}
}

func findGoPprof(_ context.Context, s setting) ([]source, []Health) {
	var out []source
	var health []Health
	for i := range s.st.Services {
		svc := &s.st.Services[i]
		if svc.PProf == "" || svc.Kind != stack.App {
			continue
		}
		u, err := url.Parse(svc.PProf)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			health = append(health, Health{Source: "go pprof of " + svc.Name, Text: fmt.Sprintf("pprof of %s in kasoku.yaml is no http URL; write http://HOST:PORT/debug/pprof/", svc.Name)})
			continue
		}
		u.RawQuery, u.Fragment = "", ""
		out = append(out, &goSource{service: svc.Name, base: strings.TrimSuffix(u.String(), "/"), client: hostClient(s.hosts[svc.HostName()])})
	}
	return out, health
}

func (g *goSource) start(ctx context.Context) {
	ctx, g.stop = context.WithCancel(context.WithoutCancel(ctx))
	g.began = time.Now()
	g.asking[0] = make(chan struct{})
	go g.askAllocs(ctx, 0)
	g.done.Go(func() { g.take(ctx) })
}

// take asks for pieces until the window is over.
func (g *goSource) take(ctx context.Context) {
	for {
		g.mu.Lock()
		last := len(g.pieces) > 0 && (g.over || time.Since(g.began) > goLongest)
		g.mu.Unlock()
		if last {
			return
		}
		p, err := g.get(ctx, fmt.Sprintf("profile?seconds=%d", int(goPiece.Seconds())), goPiece+goAnswer)
		g.mu.Lock()
		switch {
		case err != nil && ctx.Err() != nil: // dropped by end
		case err != nil:
			g.err = err
		default:
			g.pieces = append(g.pieces, p)
			g.covered += goPiece
		}
		g.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// end drops the piece under way if there is a whole one already; else it is
// waited for, which goes beyond the window and is told.
func (g *goSource) end(ctx context.Context) {
	g.mu.Lock()
	g.over, g.ended = true, time.Now()
	drop := len(g.pieces) > 0
	g.mu.Unlock()
	if drop {
		g.stop()
	}
	g.asking[1] = make(chan struct{})
	go g.askAllocs(context.WithoutCancel(ctx), 1)
}

func (g *goSource) askAllocs(ctx context.Context, i int) {
	defer close(g.asking[i])
	p, err := g.get(ctx, "allocs", goAnswer)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allocs[i] = p
	if g.allocsErr == nil {
		g.allocsErr = err
	}
}

// get reads one of the program's profiles.
func (g *goSource) get(ctx context.Context, page string, limit time.Duration) (*profile.Profile, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.base+"/"+page, nil)
	if err != nil {
		return nil, err
	}
	res, err := g.client.Do(req)
	if err != nil {
		var u *url.Error // its text would repeat a URL that may hold a password
		if errors.As(err, &u) {
			err = u.Err
		}
		return nil, fmt.Errorf("get %s: %w", page, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, mostGoProfile))
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", page, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: status %d: %s", page, res.StatusCode, shorten(lastLines(data), 200))
	}
	p, err := parsePprof(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", page, err)
	}
	return p, nil
}

// parsePprof reads a pprof file, gzipped or not.
func parsePprof(r io.Reader) (*profile.Profile, error) {
	p, err := profile.Parse(r)
	if err != nil {
		return nil, fmt.Errorf("this is no pprof profile: %w", err)
	}
	return p, nil
}

func (g *goSource) tell(ctx context.Context, ev *Evidence) {
	if g.stop == nil {
		return
	}
	g.done.Wait() // bounded by the piece's limit
	for _, c := range g.asking {
		if c != nil {
			<-c // bounded by goAnswer
		}
	}
	source := "go pprof of " + g.service
	if g.err != nil && len(g.pieces) == 0 {
		ev.Health = append(ev.Health, Health{Source: source, Text: "no profile: " + g.err.Error() + "; does " + g.service + " serve net/http/pprof where kasoku.yaml says (pprof)?"})
		return
	}
	if len(g.pieces) > 0 {
		g.tellCPU(ev, source)
	}
	g.tellAllocs(ev)
}

func (g *goSource) tellCPU(ev *Evidence, source string) {
	all, err := profile.Merge(g.pieces)
	p := Profile{Service: g.service, Tool: "go pprof"}
	if err == nil {
		p.Period = time.Duration(all.Period)
		err = p.fill(all, 0, len(all.SampleType)-1)
	}
	if err != nil {
		ev.Health = append(ev.Health, Health{Source: source, Text: err.Error()})
		return
	}
	h := Health{Source: source, OK: true, Text: p.samplesText()}
	window := g.ended.Sub(g.began)
	switch {
	case g.covered > window:
		h.Text += fmt.Sprintf("; the profile went on for %s after the window of %s", (g.covered - window).Round(time.Second/10), window.Round(time.Second/10))
	case window-g.covered > goPiece+time.Second:
		h.Text += fmt.Sprintf("; %s of %s were recorded", g.covered, window.Round(time.Second))
	}
	if g.err != nil {
		h.OK, h.Text = false, h.Text+"; then: "+g.err.Error()
	}
	if p.Samples > 0 {
		ev.Profiles = append(ev.Profiles, p)
	}
	ev.Health = append(ev.Health, h)
}

// tellAllocs is what was allocated between the two readings: their difference.
func (g *goSource) tellAllocs(ev *Evidence) {
	source := "go pprof of " + g.service + ", allocations"
	first, last := g.allocs[0], g.allocs[1]
	if first == nil || last == nil {
		why := "they were not asked for"
		if g.allocsErr != nil {
			why = g.allocsErr.Error()
		}
		ev.Health = append(ev.Health, Health{Source: source, OK: true, Text: "not judged: " + why})
		return
	}
	p := Profile{Service: g.service, Tool: "go pprof", Of: "bytes allocated"}
	err := p.fillAllocs(first, last)
	switch {
	case err != nil:
		ev.Health = append(ev.Health, Health{Source: source, Text: err.Error()})
	case p.Samples == 0:
		ev.Health = append(ev.Health, Health{Source: source, OK: true, Text: "nothing was allocated that the runtime sampled (it takes one allocation per 512 KiB)"})
	default:
		ev.Profiles = append(ev.Profiles, p)
		ev.Health = append(ev.Health, Health{Source: source, OK: true, Text: p.samplesText() + "; from the window's begin to just after its end"})
	}
}

// fillAllocs takes the difference of two "allocs" profiles, whose values only
// grow: alloc_objects, alloc_space, inuse_objects, inuse_space
// (runtime/pprof, "allocs").
func (p *Profile) fillAllocs(first, last *profile.Profile) error {
	first.Scale(-1)
	diff, err := profile.Merge([]*profile.Profile{first, last})
	if err != nil {
		return fmt.Errorf("compare the allocations of %s before and after: %w", p.Service, err)
	}
	if len(diff.SampleType) < 2 || diff.SampleType[1].Type != "alloc_space" {
		return fmt.Errorf("allocations of %s: alloc_space is not where it should be", p.Service)
	}
	kept := diff.Sample[:0]
	for _, s := range diff.Sample {
		if s.Value[0] > 0 && s.Value[1] > 0 {
			s.Value = s.Value[:2]
			kept = append(kept, s)
		}
	}
	// What is in use now says nothing about the window.
	diff.Sample, diff.SampleType, diff.DefaultSampleType = kept, diff.SampleType[:2], "alloc_space"
	return p.fill(diff.Compact(), 0, 1)
}

func (g *goSource) close() {
	if g.stop != nil {
		g.stop()
		g.done.Wait()
	}
}
