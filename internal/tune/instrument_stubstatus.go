package tune

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// stubStatus plans a page with nginx's own counters where none can be asked
// for: a server of its own that listens on a Unix socket in a folder that only
// Kasoku's user, and root, get into.
func stubStatus(b *Bench, snap *evidence.Snapshot) []instrument {
	if b.Instruments.Plain {
		return nil
	}
	var out []instrument
	for _, svc := range snap.StackInUse(b.Stack).OfKind(stack.Nginx) {
		if svc.Status != "" || !running(snap, svc) {
			continue
		}
		changes, err := stubStatusOf(svc, snap)
		in := instrument{title: "Let " + svc.Name + " tell its counters for a diagnostic run", changes: changes,
			fails: svc.Name + " cannot be given a stub_status page", without: "its connections are not judged"}
		out = in.planned(out, err)
	}
	return out
}

func stubStatusOf(svc *stack.Service, snap *evidence.Snapshot) ([]change.Change, error) {
	conf, err := diagnose.NginxConfig(snap, svc)
	if err != nil {
		return nil, err
	}
	http := conf.Root.First("http")
	build := snap.Nginx[svc.Name]
	switch {
	case evidence.HasStubStatus(conf), http == nil:
		return nil, nil
	case !slices.Contains(build.Modules, "--with-http_stub_status_module"):
		return nil, errors.New("its program was built without ngx_http_stub_status_module")
	}
	folder := snap.On(svc.HostName()).SharedMemory
	if folder == "" {
		paths := build.Paths(svc.Prefix)
		folder = logFolder(conf, evidence.NginxLogLevels(conf, paths), paths)
	}
	dir := path.Join(folder, fmt.Sprintf("kasoku-status-%s-%d", strings.ToLower(svc.Name), time.Now().UnixNano()))
	socket := path.Join(dir, "s.sock")
	if len(socket) > longestSocket {
		return nil, fmt.Errorf("the name of a socket in %s would be longer than %d bytes", path.Dir(dir), longestSocket)
	}
	if err := http.Append(stubServer(http, socket)); err != nil {
		return nil, err
	}
	const why = "see nginx's connections and requests during a diagnostic run"
	edits, err := editedFiles(snap, svc, conf.Changed(), why)
	if err != nil {
		return nil, err
	}
	// nginx makes the socket for everybody (mode 0666); the folder is not. -1:
	// Kasoku's own user, because nginx's main process makes the socket.
	return append([]change.Change{{Kind: change.KindDir, Host: svc.HostName(), Path: dir,
		After: &change.FileState{Mode: 0o700, UID: -1, GID: -1}, Why: why}}, edits...), nil
}

// stubServer is the text of the server. What the http block says for all
// servers about who may ask must not hold for it.
func stubServer(http *nginx.Directive, socket string) string {
	var own strings.Builder
	for _, c := range []struct{ theirs, ours string }{{"auth_basic", "auth_basic off"}, {"auth_request", "auth_request off"}, {"deny", "allow all"}} {
		if http.First(c.theirs) != nil {
			own.WriteString("    " + c.ours + ";\n")
		}
	}
	return fmt.Sprintf("server {\n    listen %s;\n    access_log off;\n%s    location = %s {\n        stub_status;\n    }\n}", nginx.Quote("unix:"+socket), own.String(), evidence.StubPath)
}
