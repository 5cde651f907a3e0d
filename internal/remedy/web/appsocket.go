package web

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/appserver"
	"kasoku/internal/change"
	"kasoku/internal/confedit/args"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planAppSocket moves the connection between nginx and an application server
// from loopback TCP to a unix socket: a folder is made for it, the server listens
// on both, then nginx is switched. The port stays open, for health checks and
// whoever else asks there.
func planAppSocket(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	web, app := in.Stack.Service(f.Service), in.Stack.Service(f.Subject["app"])
	server, err := diagnose.AppServerOf(in.Snapshot, app)
	switch {
	case err != nil:
		return nil, err
	case server == nil:
		return nil, fmt.Errorf("%s: %w; where its program can, set it up and let `kasoku try` judge it", app.Name, appserver.ErrNoSocket)
	case len(app.Variants) > 0:
		return nil, fmt.Errorf("%s has other implementations (variants), which would not listen on the socket", app.Name)
	}
	folder, all, err := socketFolder(in, app, server.Start)
	if err != nil {
		return nil, err
	}
	socket, err := planning.SocketPath(folder, app.Name)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(socket, " \t\"'#%,;:?{}$\\") {
		return nil, fmt.Errorf("%s holds signs that settings would take for their own", socket)
	}
	if err := notShared(in, app, server); err != nil {
		return nil, err
	}
	changed, err := listenToo(server, socket)
	if err != nil {
		return nil, err
	}
	// The folder is there before the server starts, and goes after it has ended.
	appSide, err := planning.StartChanges(in, app, changed, f.Text)
	if err != nil {
		return nil, err
	}
	for i := range appSide {
		appSide[i].Phase, appSide[i].Accepts = phaseAfter(all), socket
	}
	all = append(all, appSide...)
	webSide, err := Edit(in, web.Name, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		return passToSocket(conf, server, f.Subject["port"], socket)
	})
	if err != nil {
		return nil, err
	}
	for i := range webSide {
		webSide[i].Phase = phaseAfter(all)
	}
	p := planning.Plan{ID: "nginx.app-socket:" + web.Name + ":" + app.Name, Changes: append(all, webSide...),
		Title: fmt.Sprintf("Connect %s to %s through a unix socket", web.Name, app.Name)}
	if server.Socket.NoPeer {
		// What an application makes of it is not known.
		p.EditsSettings = true
		p.Title += ", by which it is told no REMOTE_ADDR"
		p.Why = f.Text + fmt.Sprintf(" %s gives the application an empty REMOTE_ADDR for what comes by a socket, where nginx's 127.0.0.1 is now.", server.Name)
	}
	return []planning.Plan{p}, nil
}

// notShared refuses files that other processes are started by as well: each
// would listen at the same path, and take it from the others.
func notShared(in planning.Input, app *stack.Service, server *diagnose.AppServer) error {
	if app.ControlMethod() == stack.MethodSystemd && strings.Contains(app.Control.Unit, "@") {
		return fmt.Errorf("%s is one of a template's units: all of them would listen at the same path", app.Name)
	}
	for _, other := range in.Stack.OfKind(stack.App) {
		if other.Name == app.Name || planning.HostOf(other) != planning.HostOf(app) || other.RunsIn != "" {
			continue
		}
		same := app.Control.EnvFile != "" && other.Control.EnvFile == app.Control.EnvFile || app.Control.Unit != "" && other.Control.Unit == app.Control.Unit
		if s, err := diagnose.AppServerOf(in.Snapshot, other); err == nil && s != nil && server.Config != "" && s.Config == server.Config {
			same = true
		}
		if same {
			return fmt.Errorf("%s is started by a file of %s: both would listen at the same path", other.Name, app.Name)
		}
	}
	return nil
}

// listenToo adds the socket where the server's addresses are written.
func listenToo(s *diagnose.AppServer, socket string) (map[string][]byte, error) {
	where, there, err := s.ListensIn(socket)
	if err != nil {
		return nil, err
	}
	if there {
		// It was put there for another address of nginx's, which needs it.
		return nil, fmt.Errorf("%s listens on %s already; lead nginx there", s.Name, socket)
	}
	value := fmt.Sprintf(s.Socket.Value, socket)
	switch where {
	case appserver.InOption:
		err = s.Start.AddOption(s.Grammar, s.Socket.Option, value)
	case appserver.InEnvArgs:
		text, _ := s.Start.Env(s.EnvArgs)
		list := args.Parse(text, args.Shell)
		if _, err := list.Add(s.Grammar, s.Socket.Option, value); err != nil {
			return nil, err
		}
		err = s.Start.SetEnv(s.EnvArgs, list.String())
	default:
		text, err := s.Socket.SetConfig(s.Text, socket)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Config, err)
		}
		return map[string][]byte{s.Config: []byte(text)}, nil
	}
	return s.Start.Changed(), err
}

// socketFolder is where the server may make its socket each time it starts, and
// nginx may enter: a unit's own folder in /run, or a new one there that systemd
// makes at each boot; for a process that no unit starts, one that stays over
// reboots, since whoever starts it may not make folders for it.
func socketFolder(in planning.Input, app *stack.Service, start *diagnose.AppStart) (dir string, mk []change.Change, err error) {
	parent := planning.LastingFolders
	byUnit := app.ControlMethod() == stack.MethodSystemd
	if byUnit {
		if dir, err := unitFolder(app, start); dir != "" || err != nil {
			return dir, nil, err
		}
		parent = "/run"
	}
	folder, user, err := planning.SocketFolder(in, app, parent)
	if err != nil {
		return "", nil, err
	}
	dir, mk = folder.Path, []change.Change{folder}
	if byUnit {
		mk = append(mk, planning.BootFolder(app, dir, planning.FolderMode, user, "Without it the folder would be missing after a reboot, and "+app.Name+" could not start."))
	}
	return dir, mk, nil
}

// unitFolder is the folder that systemd makes for a unit whenever it starts,
// owned by its user (systemd.exec(5), RuntimeDirectory=); "" if there is none.
// Units that see other files than nginx does, or may not make a socket in /run,
// are refused.
func unitFolder(app *stack.Service, start *diagnose.AppStart) (string, error) {
	for _, key := range []string{"DynamicUser", "RootDirectory", "RootImage", "TemporaryFileSystem", "InaccessiblePaths", "RestrictAddressFamilies"} {
		v, _ := start.Unit(key)
		switch {
		case v == "", slices.Contains([]string{"no", "false", "off", "0"}, v):
		case key == "RestrictAddressFamilies" && strings.Contains(v, "AF_UNIX") && !strings.HasPrefix(v, "~"):
		default:
			return "", fmt.Errorf("the unit of %s sets %s=%s, by which nginx and it may not meet at a socket", app.Name, key, v)
		}
	}
	v, _ := start.Unit("RuntimeDirectory")
	if v == "" {
		if v, _ := start.Unit("ProtectSystem"); v == "strict" {
			return "", fmt.Errorf("the unit of %s sets ProtectSystem=strict: it may write nowhere in /run; give it a folder there (RuntimeDirectory=)", app.Name)
		}
		return "", nil
	}
	mode, _ := start.Unit("RuntimeDirectoryMode")
	if mode != "" && !strings.ContainsAny(mode[len(mode)-1:], "1357") {
		return "", fmt.Errorf("the unit of %s sets RuntimeDirectoryMode=%s: nginx could not enter the socket's folder", app.Name, mode)
	}
	first, _, _ := strings.Cut(strings.Fields(v)[0], ":")
	return path.Join("/run", first), nil
}

// passToSocket gives every proxy_pass to a loopback port the socket, and leaves
// what the application is told of the request as it is.
func passToSocket(conf *nginx.Config, server *nginx.Directive, port, socket string) error {
	isPort := func(address string) bool { p, ok := diagnose.Loopback(address); return ok && p == port }
	names := map[string]string{}
	for _, u := range diagnose.ProxyUpstreams(conf) {
		if u.Scheme != "http" || !slices.ContainsFunc(u.Addresses(), isPort) {
			continue
		}
		if d := u.Directive.Parent.Effective("proxy_bind"); d != nil && !slices.Contains(d.Args, "off") {
			return fmt.Errorf("%s:%d: proxy_bind says from which address nginx connects, and a socket has none", d.File.Path, d.Line)
		}
		if u.Block != nil {
			for _, s := range u.Block.Find("server") {
				if len(s.Args) == 0 || !isPort(s.Args[0]) {
					continue
				}
				if err := s.SetArgs(append([]string{"unix:" + socket}, s.Args[1:]...)...); err != nil {
					return err
				}
			}
			continue
		}
		if names[u.Address] == "" {
			name, err := AddUpstream(conf, server, "kasoku_http", "server unix:"+socket+";")
			if err != nil {
				return err
			}
			names[u.Address] = name
		}
		if err := PassTo(u, names[u.Address]); err != nil {
			return err
		}
	}
	return nil
}
