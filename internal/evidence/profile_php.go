package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// phpSource reads what the processes of one php-fpm service sampled, or its
// slow logs if PHP has no sampling profiler.
type phpSource struct {
	service string
	h       host.Host
	// folders hold files of stacks, slow are slow logs: path → bytes at the
	// window's begin and end.
	folders  map[string]bool
	children int // of all pools, as PHPProfileFile counts them
	stacks   map[string]*fileSpan
	slow     map[string]*fileSpan
	err      error
}

// fileSpan is the part of a file that was written in the window.
type fileSpan struct{ from, to int64 }

func findPHPProfiles(ctx context.Context, s setting) ([]source, []Health) {
	var out []source
	var health []Health
	for _, svc := range s.st.OfKind(stack.PHPFPM) {
		src, told := findPHPProfile(ctx, s.hosts[svc.HostName()], svc, s.roots[svc.HostName()][svc.Name])
		if src != nil {
			out = append(out, src)
		}
		health = append(health, told...)
	}
	return out, health
}

// findPHPProfile looks into the pools' configuration for the instrument. A pool
// without it is told with the reason.
func findPHPProfile(ctx context.Context, h host.Host, svc *stack.Service, pids []int) (*phpSource, []Health) {
	name := "PHP profile of " + svc.Name
	r := &fileReader{ctx: ctx, h: h, service: svc.Name, files: map[string]File{}}
	conf, err := ini.Load(svc.Config, ini.FPM, r.read, r.glob)
	if err != nil {
		return nil, []Health{{Source: name, Text: err.Error()}}
	}
	values, err := readPHPValues(ctx, h, svc, conf)
	if err != nil {
		return nil, []Health{{Source: name, Text: err.Error()}}
	}
	user, _ := workerUser(ctx, h, pids) // no process: told elsewhere
	src := &phpSource{service: svc.Name, h: h, folders: map[string]bool{}, slow: map[string]*fileSpan{}}
	var health []Health
	for _, p := range PHPProfilePools(values, conf, user) {
		src.children += max(p.Children, 1)
		switch {
		case strings.HasPrefix(path.Base(p.Prepend), phpPrefix):
			src.folders[path.Dir(p.Prepend)] = true
		case p.NoProfiler && path.IsAbs(p.SlowLog) && SlowLogged(p.SlowTimeout):
			src.slow[p.SlowLog] = &fileSpan{}
		case p.Refused != "":
			health = append(health, Health{Source: name, OK: true, Text: fmt.Sprintf("not judged: pool %s: %s", p.Name, p.Refused)})
		default:
			health = append(health, Health{Source: name, OK: true, Text: fmt.Sprintf("not judged: pool %s: the profiler was not put in place for this run", p.Name)})
		}
	}
	if len(src.folders)+len(src.slow) == 0 {
		return nil, health
	}
	return src, health
}

// readPHPValues is what `php-fpm -i` tells, with the pools' own values.
func readPHPValues(ctx context.Context, h host.Host, svc *stack.Service, conf *ini.Config) (map[string]string, error) {
	if svc.Binary == "" {
		return nil, fmt.Errorf("the program of %s is not named in kasoku.yaml (binary), so it is not known whether PHP has a profiler", svc.Name)
	}
	argv := []string{svc.Binary, "-i"}
	if svc.PHPIni != "" {
		argv = append(argv, "-c", svc.PHPIni)
	}
	res, err := h.Run(ctx, host.Command{Argv: argv})
	if err != nil {
		return nil, fmt.Errorf("ask PHP for its settings: %w", err)
	}
	values := parsePHPInfo(res.Stdout).Values
	if len(values) == 0 {
		return nil, fmt.Errorf("%s told no settings (exit %d): %s", strings.Join(argv, " "), res.ExitCode, shorten(string(res.Stderr), 200))
	}
	poolValues(values, conf)
	return values, nil
}

func (p *phpSource) start(ctx context.Context) {
	p.stacks = map[string]*fileSpan{}
	p.look(ctx, func(s *fileSpan, size int64) { s.from = size })
}

func (p *phpSource) end(ctx context.Context) {
	p.look(ctx, func(s *fileSpan, size int64) { s.to = size })
}

// look notes the present sizes of all files; one that was not there at the
// begin began at 0.
func (p *phpSource) look(ctx context.Context, note func(*fileSpan, int64)) {
	for folder := range p.folders {
		files, err := p.h.List(ctx, folder)
		if err != nil {
			p.err = err
			continue
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Path, ".stacks") {
				continue
			}
			if p.stacks[f.Path] == nil {
				p.stacks[f.Path] = &fileSpan{}
			}
			note(p.stacks[f.Path], f.Size)
		}
	}
	for file, span := range p.slow {
		info, err := p.h.Stat(ctx, file)
		if err == nil {
			note(span, info.Size)
		} else if !errors.Is(err, fs.ErrNotExist) {
			p.err = err
		}
	}
}

func (p *phpSource) close() {}

func (p *phpSource) tell(ctx context.Context, ev *Evidence) {
	if p.stacks == nil {
		return
	}
	if p.err != nil {
		ev.Health = append(ev.Health, Health{Source: "PHP profile of " + p.service, Text: p.err.Error()})
	}
	if len(p.folders) > 0 {
		p.tellStacks(ctx, ev)
	}
	if len(p.slow) > 0 {
		p.tellSlow(ctx, ev)
	}
}

// span reads a part of a file, up to the last whole line.
func (p *phpSource) span(ctx context.Context, file string, s *fileSpan) ([]byte, error) {
	if s.to <= s.from {
		return nil, nil
	}
	data, err := p.h.ReadFile(ctx, file)
	if err != nil {
		return nil, err
	}
	data = data[min(s.from, int64(len(data))):min(s.to, int64(len(data)))]
	return data[:bytes.LastIndexByte(data, '\n')+1], nil
}

func (p *phpSource) tellStacks(ctx context.Context, ev *Evidence) {
	name := "PHP profile of " + p.service
	b := newProfileBuilder("wall", phpPeriod).withCPU()
	most := int64(min(phpMostFile, phpAllFiles/max(p.children, 1)))
	bad, full, files := 0, 0, 0
	for _, file := range sortedKeys(p.stacks) {
		data, err := p.span(ctx, file, p.stacks[file])
		if err != nil {
			ev.Health = append(ev.Health, Health{Source: name, Text: err.Error()})
			continue
		}
		n, err := parseStacks(bytes.NewReader(data), func(stack []stackFrame, wall, cpu int64) {
			b.add(stack, wall, wall*phpPeriod, cpu*phpPeriod)
		})
		if err != nil {
			ev.Health = append(ev.Health, Health{Source: name, Text: fmt.Sprintf("%s: %v", file, err)})
		}
		bad += n
		if len(data) > 0 {
			files++
		}
		if p.stacks[file].to >= most {
			full++
		}
	}
	if len(b.p.Sample) == 0 {
		ev.Health = append(ev.Health, Health{Source: name, Text: "the profiler wrote nothing in the window: were PHP scripts run by other pools, or for less than 10 ms altogether?"})
		return
	}
	prof := Profile{Service: p.service, Tool: "excimer", Wall: true, Period: phpPeriod}
	if err := prof.fill(b.p, 0, 1); err != nil {
		ev.Health = append(ev.Health, Health{Source: name, Text: err.Error()})
		return
	}
	if prof.Samples == 0 {
		ev.Health = append(ev.Health, Health{Source: name, OK: true, Text: "not judged: less than 10 ms of elapsed time was sampled"})
		return
	}
	prof.markWaiting(b.p, cpuChance(ev.On(p.h.Name())))
	h := Health{Source: name, OK: true, Text: fmt.Sprintf("%s, from %d processes; elapsed time: waiting for databases and caches counts for the PHP function that waits", prof.samplesText(), files)}
	if full > 0 {
		h.Text += fmt.Sprintf("; %d files were full before the end", full)
	}
	if bad > 0 {
		h.OK, h.Text = false, h.Text+fmt.Sprintf("; %d lines were not understood", bad)
	}
	ev.Profiles, ev.Health = append(ev.Profiles, prof), append(ev.Health, h)
}

func (p *phpSource) tellSlow(ctx context.Context, ev *Evidence) {
	name := "PHP profile of " + p.service
	b := newProfileBuilder("wall", int64(time.Second))
	bad := 0
	for _, file := range sortedKeys(p.slow) {
		data, err := p.span(ctx, file, p.slow[file])
		if err == nil {
			var n int
			n, err = parseFPMSlowLog(bytes.NewReader(data), func(stack []stackFrame) { b.add(stack, 1, int64(time.Second)) })
			bad += n
		}
		if err != nil {
			ev.Health = append(ev.Health, Health{Source: name, Text: fmt.Sprintf("%s: %v", file, err)})
		}
	}
	const without = "PHP has no sampling profiler (apt-get install php-excimer), so only FPM's slow log tells, of requests longer than a second"
	if len(b.p.Sample) == 0 {
		ev.Health = append(ev.Health, Health{Source: name, OK: true, Text: "not judged: " + without + "; there was none"})
		return
	}
	prof := Profile{Service: p.service, Tool: "php-fpm slow log", Wall: true, Period: time.Second}
	if err := prof.fill(b.p, 0, 1); err != nil {
		ev.Health = append(ev.Health, Health{Source: name, Text: err.Error()})
		return
	}
	h := Health{Source: name, OK: true, Text: fmt.Sprintf("%s; %s", prof.samplesText(), without)}
	if bad > 0 {
		h.Text += fmt.Sprintf("; %d lines were not understood", bad)
	}
	ev.Profiles, ev.Health = append(ev.Profiles, prof), append(ev.Health, h)
}
