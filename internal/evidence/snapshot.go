package evidence

import (
	"context"
	"fmt"
	"path"
	"strings"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// TakeOptions say how much Take reads.
type TakeOptions struct {
	// Assets of a run, to find the files that they are copies of.
	Assets []load.StaticSample
	// Brief reads only what Hash covers: files, variables and schema.
	Brief bool
}

// taker collects a Snapshot.
type taker struct {
	ctx   context.Context
	st    *stack.Stack
	hosts map[string]host.Host
	opts  TakeOptions
	snap  *Snapshot
	fixed map[string]map[string]bool // files of shared folders, by host
	roots map[string][]string        // nginx document roots by host
}

// Take reads the configuration as it is now. What could not be read is told in
// Snapshot.Health; the error is for a host that is missing or unreachable, or
// for ctx.
func Take(ctx context.Context, st *stack.Stack, hosts map[string]host.Host, opts TakeOptions) (*Snapshot, error) {
	t := &taker{ctx: ctx, st: st, hosts: hosts, opts: opts, fixed: map[string]map[string]bool{}, roots: map[string][]string{},
		snap: &Snapshot{Files: map[string]map[string]File{}, Databases: map[string]*Database{}, PHP: map[string]map[string]string{},
			Nginx: map[string]NginxBuild{}, Users: map[string]ProcessUser{}, StaticFiles: map[string]StaticFile{}}}
	t.variants()
	st = t.st
	for i := range st.Services {
		svc := &st.Services[i]
		h := hosts[svc.HostName()]
		if h == nil {
			return nil, fmt.Errorf("take a snapshot of %s: host %s is not connected", svc.Name, svc.HostName())
		}
		if t.snap.Files[svc.HostName()] == nil {
			t.snap.Files[svc.HostName()] = map[string]File{}
		}
		t.service(h, svc)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("take a snapshot of %s: %w", svc.Name, ctx.Err())
		}
	}
	for name := range t.snap.Files {
		if err := t.kernel(name, hosts[name]); err != nil {
			t.bad("kernel settings of "+name, err)
		}
	}
	for name, files := range t.snap.Files {
		if err := markWritable(ctx, hosts[name], files, t.fixed[name]); err != nil {
			t.bad("files of "+name, err)
		}
	}
	if err := t.machines(); err != nil {
		return nil, err
	}
	if !opts.Brief {
		t.static()
		t.packages()
		t.spares()
	}
	return t.snap, nil
}

// variants looks which implementation of each service runs; the rest of the
// snapshot is of that one.
func (t *taker) variants() {
	for i := range t.st.Services {
		svc := &t.st.Services[i]
		h := t.hosts[svc.HostName()]
		if len(svc.Variants) == 0 || h == nil {
			continue
		}
		states, err := stack.VariantStates(t.ctx, h, t.st, svc)
		if err != nil {
			t.bad("implementations of "+svc.Name, err)
			continue
		}
		if t.snap.Variants == nil {
			t.snap.Variants = map[string]map[string]stack.VariantState{}
		}
		t.snap.Variants[svc.Name] = states
	}
	t.fronts()
	t.standbys()
	t.st = t.snap.StackInUse(t.st)
}

// StackInUse is the stack with each service as the implementation that ran when
// the snapshot was taken, without fronts that served nothing then,
// and with the database of each pair that was written to.
func (s *Snapshot) StackInUse(st *stack.Stack) *stack.Stack {
	return st.With(stack.UsingOf(st, s.Variants)).WithFronts(s.Fronts).WithStandbys(standbyStates(s.Standbys))
}

func (t *taker) bad(source string, err error) {
	t.snap.Health = append(t.snap.Health, Health{Source: source, Text: err.Error()})
}

func (t *taker) good(source, text string) {
	t.snap.Health = append(t.snap.Health, Health{Source: source, OK: true, Text: text})
}

// service reads one service's files, and what its programs and processes tell.
func (t *taker) service(h host.Host, svc *stack.Service) {
	r := &fileReader{ctx: t.ctx, h: h, service: svc.Name, files: t.snap.Files[svc.HostName()]}
	before := len(r.files)
	var err error
	switch svc.Kind {
	case stack.Nginx:
		err = t.nginx(h, svc, r)
	case stack.Apache:
		err = t.apache(h, svc, r)
	case stack.PHPFPM:
		err = t.php(h, svc, r)
	case stack.MariaDB, stack.MySQL:
		err = t.database(h, svc, r)
	case stack.Varnish:
		err = varnishFiles(svc, r)
	case stack.App:
		if err = t.app(h, svc, r); err == nil && svc.Config != "" {
			err = t.appConfig(h, svc, r)
		}
	default:
		if svc.Config != "" {
			_, err = r.read(svc.Config)
		}
	}
	if err != nil {
		t.snap.Health = append(t.snap.Health, lacking("configuration of "+svc.Name, svc, err))
	} else if n := len(r.files) - before; n > 0 {
		t.good("configuration of "+svc.Name, fmt.Sprintf("%d files", n))
	}
	if svc.Kind != stack.App {
		t.startOf(svc, r)
	}
	if svc.Kind == stack.App {
		t.known(h, svc, r)
	}
	for _, p := range svc.Settings {
		if _, err := r.read(p); err != nil {
			t.bad("settings of "+svc.Name, fmt.Errorf("read %s: %w", p, err))
		}
	}
	if t.opts.Brief || svc.RunsIn != "" {
		return
	}
	pids, err := servicePIDs(t.ctx, h, t.st, svc)
	if err == nil {
		var u ProcessUser
		if u, err = workerUser(t.ctx, h, pids); err == nil {
			u.NotByPID = u.notByPID(t.ctx, h, svc.Control.PIDFile)
			t.snap.Users[svc.HostName()+"/"+svc.Name] = u
			return
		}
	}
	t.snap.Health = append(t.snap.Health, lacking("processes of "+svc.Name, svc, err))
}

func servicePIDs(ctx context.Context, h host.Host, st *stack.Stack, svc *stack.Service) ([]int, error) {
	c, err := stack.NewController(h, st, svc)
	if err != nil {
		return nil, err
	}
	return c.PIDs(ctx)
}

func (t *taker) nginx(h host.Host, svc *stack.Service, r *fileReader) error {
	conf, err := nginx.Load(svc.Config, svc.Prefix, r.read, r.glob)
	if err != nil {
		return err
	}
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name == "root" && len(d.Args) == 1 && path.IsAbs(d.Args[0]) && !strings.Contains(d.Args[0], "$") {
			t.roots[svc.HostName()] = append(t.roots[svc.HostName()], d.Args[0])
		}
		return true
	})
	if t.opts.Brief {
		return nil
	}
	if svc.Binary == "" {
		return fmt.Errorf("%s: its program is not named in kasoku.yaml (binary), so its modules are not known", svc.Name)
	}
	res, err := h.Run(t.ctx, host.Command{Argv: []string{svc.Binary, "-V"}})
	if err != nil {
		return fmt.Errorf("%s -V: %w", svc.Binary, err)
	}
	build, err := parseNginxBuild(append(res.Stderr, res.Stdout...))
	if err == nil {
		t.snap.Nginx[svc.Name] = build
	}
	return err
}

func (t *taker) php(h host.Host, svc *stack.Service, r *fileReader) error {
	conf, err := ini.Load(svc.Config, ini.FPM, r.read, r.glob)
	if err != nil {
		return err
	}
	if svc.PHPIni != "" {
		if _, err := r.read(svc.PHPIni); err != nil {
			return err
		}
	}
	if svc.Binary == "" {
		return fmt.Errorf("%s: its program is not named in kasoku.yaml (binary), so its effective settings are not known", svc.Name)
	}
	argv := []string{svc.Binary, "-i"}
	if svc.PHPIni != "" {
		argv = append(argv, "-c", svc.PHPIni)
	}
	res, err := h.Run(t.ctx, host.Command{Argv: argv})
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	info := parsePHPInfo(res.Stdout)
	if len(info.Values) == 0 {
		return fmt.Errorf("%s told no settings (exit %d): %s", strings.Join(argv, " "), res.ExitCode, shorten(string(res.Stderr), 200))
	}
	// The scan folder is shared with other programs (the cli, other versions),
	// so its files are known but never written.
	for _, p := range info.Scanned {
		if _, err := r.read(p); err != nil {
			return err
		}
		if t.fixed[svc.HostName()] == nil {
			t.fixed[svc.HostName()] = map[string]bool{}
		}
		t.fixed[svc.HostName()][path.Clean(p)] = true
	}
	poolValues(info.Values, conf)
	if pids, err := servicePIDs(t.ctx, h, t.st, svc); err == nil && len(pids) > 0 && !t.opts.Brief {
		readLocaleArchive(t.ctx, h, pids[0], info.Values)
	}
	t.snap.PHP[svc.Name] = info.Values
	return nil
}

func (t *taker) database(h host.Host, svc *stack.Service, r *fileReader) error {
	var conf *ini.Config
	var confErr error
	if svc.Config != "" {
		conf, confErr = ini.Load(svc.Config, ini.MySQL, r.read, r.glob)
	}
	pool, err := stack.OpenDB(t.ctx, h, svc)
	if err != nil {
		t.bad("database "+svc.Name, err)
		return confErr
	}
	defer pool.Close()
	conn, err := pool.Conn(t.ctx)
	if err != nil {
		t.bad("database "+svc.Name, err)
		return confErr
	}
	defer conn.Close()
	if svc.Kind == stack.MySQL {
		// MySQL 8 remembers sizes and cardinalities for a day; 5.7 has no such
		// variable and needs none.
		_, _ = conn.ExecContext(t.ctx, "SET SESSION information_schema_stats_expiry = 0")
	}
	// Sorting the lists of tables needs some 20 KiB; a server whose own sorts
	// have less would refuse (error 1038).
	_, _ = conn.ExecContext(t.ctx, "SET SESSION sort_buffer_size = GREATEST(@@SESSION.sort_buffer_size, 262144)")
	db, err := ReadDatabase(t.ctx, conn)
	if err != nil {
		t.bad("database "+svc.Name, err)
		return confErr
	}
	t.snap.Databases[svc.Name] = db
	if !t.opts.Brief {
		readAccounts(t.ctx, conn, db)
		readPersisted(t.ctx, conn, db)
		readReplicas(t.ctx, conn, db)
		t.foreignOptions(h, svc, db, conf)
	}
	text := fmt.Sprintf("%d variables, %d tables", len(db.Variables), len(db.Tables))
	if !t.opts.Brief {
		db.DataFree = freeBytes(t.ctx, h, db.Variables["datadir"])
		left, err := EstimateDistinct(t.ctx, conn, db)
		if err != nil {
			t.bad("database "+svc.Name, err)
		}
		if left > 0 {
			text += fmt.Sprintf("; the variety of %d tables' columns is not known (no time or no right to sample them)", left)
		}
	}
	t.good("database "+svc.Name, text)
	return confErr
}

// static finds the files behind sampled answers on hosts that run nginx.
func (t *taker) static() {
	if len(t.opts.Assets) == 0 {
		return
	}
	for _, web := range t.st.OfKind(stack.Nginx) {
		user, known := t.snap.Users[web.HostName()+"/"+web.Name]
		if !known {
			t.bad("static files", fmt.Errorf("the user of %s's workers is not known, so files cannot be judged", web.Name))
			continue
		}
		var roots []string
		for i := range t.st.Services {
			if s := &t.st.Services[i]; s.Root != "" && s.HostName() == web.HostName() {
				roots = append(roots, s.Root)
			}
		}
		roots = append(roots, t.roots[web.HostName()]...)
		found, note, err := FindStatic(t.ctx, t.hosts[web.HostName()], roots, user, t.opts.Assets)
		if err != nil {
			t.bad("static files", err)
			continue
		}
		for p, f := range found {
			f.Host = web.HostName()
			if old, ok := t.snap.StaticFiles[p]; !ok || !old.Readable {
				t.snap.StaticFiles[p] = f
			}
		}
		t.good("static files", strings.TrimSuffix(fmt.Sprintf("%d of %d sampled answers are copies of files; %s", len(found), len(t.opts.Assets), note), "; "))
	}
}
