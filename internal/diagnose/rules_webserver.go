package diagnose

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/stack"
)

const needErrorLog = "nginx's error log at level warn"

const (
	// largeFile: a worker that may write without bound stays with such a file
	// while others wait (nginx manual, "sendfile_max_chunk").
	largeFile = 1 << 20
	// loggedFiles is the share of requests for files from which on their lines
	// are worth a thought.
	loggedFiles = 0.1
	// stuckSockets that wait in FIN-WAIT-1 hold their unsent bytes in the
	// kernel's memory until the peer is given up.
	stuckSockets = 100
)

var webServerRules = []Rule{
	{"web.accept", []string{"C19", "L08"}, needWeb, judgeAccept},
	{"web.sendfile-chunk", []string{"C19"}, needWeb, judgeSendfileChunk},
	{"web.proxy-keepalive", []string{"C13"}, needWeb, judgeProxyKeepalive},
	{"web.buffers", []string{"C19"}, needErrorLog, judgeBuffers},
	{"web.body-buffers", []string{"C19"}, needErrorLog, judgeBodies},
	{"web.stuck", []string{"C19"}, needSystem, judgeStuck},
	{"web.static-log", []string{"I09", "W14"}, needWeb, judgeStaticLog},
}

// AcceptGaps lists settings of nginx's events block that make workers wait for
// each other, as written now, by directive.
func AcceptGaps(conf *nginx.Config, cpus int, queue float64) map[string]string {
	gaps := map[string]string{}
	events := conf.Root.First("events")
	if events == nil {
		return gaps
	}
	if d := events.First("accept_mutex"); d != nil && len(d.Args) == 1 && d.Args[0] == "on" && NginxWorkers(conf, cpus) > 1 {
		gaps["accept_mutex"] = "workers accept in turn, and one that loses its turn waits for accept_mutex_delay (accept_mutex is on; off is the default since 1.11.3)"
	}
	if d := events.First("use"); d != nil && len(d.Args) == 1 && (d.Args[0] == "select" || d.Args[0] == "poll") {
		gaps["use"] = fmt.Sprintf("each event costs a look at every connection (use %s)", d.Args[0])
	}
	if !OnOff(events, "multi_accept", false) && queue >= 0.5 {
		gaps["multi_accept"] = fmt.Sprintf("the queue of new connections was %.0f %% full and a worker takes one at a time (multi_accept is off)", 100*queue)
	}
	return gaps
}

// acceptQueue is how full the fullest accept queue of a service was, 0–1.
func (m *model) acceptQueue(service string) float64 {
	fullest := 0.0
	for _, q := range m.at(service).sys.TCP.Queues {
		if q.Service == service && q.Limit > 0 {
			fullest = max(fullest, float64(q.Longest)/float64(q.Limit))
		}
	}
	return fullest
}

// waitedAt is how many connections were seen waiting for a service to accept them.
func (m *model) waitedAt(service string) int {
	longest := 0
	for _, q := range m.at(service).sys.TCP.Queues {
		if q.Service == service {
			longest = max(longest, q.Longest)
		}
	}
	return longest
}

func judgeAccept(m *model) ([]Finding, string) {
	return m.eachNginx(func(svc *stack.Service, conf *nginx.Config) []Finding {
		queue := m.acceptQueue(svc.Name)
		gaps := AcceptGaps(conf, m.online(svc.Name), queue)
		if len(gaps) == 0 {
			return nil
		}
		var texts, names []string
		for name, t := range gaps {
			texts, names = append(texts, t), append(names, name)
		}
		sort.Strings(texts)
		sort.Strings(names)
		f := about(svc.Name, svc.Name+" takes new connections the slow way", strings.Join(texts, "; ")+".", svc.Config)
		f.Subject = map[string]string{"directives": strings.Join(names, " ")}
		if queue >= 0.5 {
			return []Finding{f.bounded(m.boundWait())}
		}
		return []Finding{f.bounded(m.boundKernelOf(0.5, svc.Name))}
	})
}

// chunkLimited: from 1.21.4 on a single sendfile writes 2 MiB at most (nginx's
// CHANGES); before, as much as the connection takes.
func chunkLimited(version string, server *nginx.Directive) bool {
	if d := server.Effective("sendfile_max_chunk"); d != nil && len(d.Args) == 1 {
		return strings.TrimRight(d.Args[0], "kKmM") != "0"
	}
	return version != "" && VersionAtLeast(version, "1.21.4")
}

func judgeSendfileChunk(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		if !OnOff(server, "sendfile", false) || chunkLimited(m.versionOf(svc), server) {
			return nil
		}
		var paths []string
		var count int64
		for _, a := range m.asked.Assets {
			if a.Status == 200 && a.Size >= largeFile && !throughApp(server, a.Path) {
				paths = append(paths, a.Path)
				count += a.Count
			}
		}
		if count == 0 {
			return nil
		}
		sort.Strings(paths)
		return []Finding{about(svc.Name, "A large file may hold a whole worker of "+svc.Name,
			fmt.Sprintf("%d requests were for files of a mebibyte or more; a fast client keeps the worker at its file for as long as the socket takes bytes (sendfile_max_chunk is 0).", count), paths...).
			asks(Setting{Service: svc.Name, Name: "sendfile_max_chunk", Now: "0", To: "512k"}).bounded(m.boundWait())}
	})
}

// ProxyUpstream is where a location passes requests on by HTTP.
type ProxyUpstream struct {
	Upstream
	// Scheme is http or https, Path what follows the address, "" if nothing.
	Scheme, Path string
}

// ProxyUpstreams lists every proxy_pass with a fixed address.
func ProxyUpstreams(conf *nginx.Config) []ProxyUpstream {
	blocks := map[string]*nginx.Directive{}
	var out []ProxyUpstream
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name == "upstream" && d.IsBlock && len(d.Args) == 1 {
			blocks[d.Args[0]] = d
		}
		return true
	})
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name != "proxy_pass" || len(d.Args) != 1 || strings.Contains(d.Args[0], "$") {
			return true
		}
		scheme, rest, ok := strings.Cut(d.Args[0], "://")
		if !ok {
			return true
		}
		u := ProxyUpstream{Scheme: strings.ToLower(scheme)}
		u.Directive = d
		if unix, is := strings.CutPrefix(rest, "unix:"); is { // unix:/path[:/uri]
			file, uri, _ := strings.Cut(unix, ":")
			u.Address, u.Path = "unix:"+file, uri
		} else if i := strings.IndexByte(rest, '/'); i >= 0 {
			u.Address, u.Path = rest[:i], rest[i:]
		} else {
			u.Address = rest
		}
		if d.Parent != nil && d.Parent.Name == "location" {
			u.Location = d.Parent
		}
		u.Block = blocks[u.Address]
		out = append(out, u)
		return true
	})
	return out
}

// Addresses are those that requests go to: of the block's servers, or its own.
func (u ProxyUpstream) Addresses() []string {
	if u.Block == nil {
		return []string{u.Address}
	}
	var out []string
	for _, s := range u.Block.Find("server") {
		out = append(out, s.Args[:min(1, len(s.Args))]...)
	}
	return out
}

// proxyHeader is the value that proxy_set_header gives a request header at d, and
// where those that apply there are written; nil: nowhere.
func proxyHeader(d *nginx.Directive, name string) (value string, level *nginx.Directive) {
	first := d.Effective("proxy_set_header")
	if first == nil {
		return "", nil
	}
	for _, h := range first.Parent.Find("proxy_set_header") {
		if len(h.Args) == 2 && strings.EqualFold(h.Args[0], name) {
			return h.Args[1], first.Parent
		}
	}
	return "", first.Parent
}

// Anew says why an HTTP upstream is connected to for each request; "" if its
// connections are kept, or must not be (a WebSocket's).
func (u ProxyUpstream) Anew() string {
	at := u.Directive.Parent
	if v, _ := proxyHeader(at, "Upgrade"); v != "" {
		return ""
	}
	if v, level := proxyHeader(at, "Connection"); level != nil && strings.Contains(v, "$") {
		return ""
	}
	if u.Block == nil || u.Block.First("keepalive") == nil {
		return "no idle connections are kept (keepalive)"
	}
	if d := at.Effective("proxy_http_version"); d == nil || !slices.Equal(d.Args, []string{"1.1"}) {
		return "HTTP/1.0 is spoken (proxy_http_version)"
	}
	if !clearsConnection(at) {
		return "the request asks for the connection to be closed (Connection: close)"
	}
	return ""
}

// clearsConnection: by default nginx sends "Connection: close" to upstreams.
func clearsConnection(at *nginx.Directive) bool {
	first := at.Effective("proxy_set_header")
	return first != nil && slices.ContainsFunc(first.Parent.Find("proxy_set_header"), func(h *nginx.Directive) bool {
		return len(h.Args) == 2 && strings.EqualFold(h.Args[0], "Connection") && !strings.EqualFold(h.Args[1], "close")
	})
}

func judgeProxyKeepalive(m *model) ([]Finding, string) {
	return m.eachNginx(func(svc *stack.Service, conf *nginx.Config) []Finding {
		var texts []string
		for _, u := range ProxyUpstreams(conf) {
			if why := u.Anew(); why != "" {
				texts = append(texts, u.Address+": "+why)
			}
		}
		if len(texts) == 0 {
			return nil
		}
		slices.Sort(texts)
		return []Finding{about(svc.Name, svc.Name+" connects to the application anew for each request",
			strings.Join(slices.Compact(texts), "; ")+".", svc.Config).bounded(m.boundKernelBetween(svc))}
	})
}

// spilled is nginx's message (ngx_event_pipe.c); it is of level warn, which
// error_log leaves out by default.
const spilled = "is buffered to a temporary file"

// warns reports whether nginx writes warnings to an error log.
func warns(conf *nginx.Config, server *nginx.Directive) bool {
	for _, name := range []*nginx.Directive{server, conf.Root} {
		d := name.Effective("error_log")
		if d == nil {
			continue
		}
		return len(d.Args) > 1 && slices.Contains([]string{"warn", "notice", "info", "debug"}, d.Args[1])
	}
	return false
}

func judgeBuffers(m *model) ([]Finding, string) {
	silent := ""
	out, why := m.eachFront(func(svc *stack.Service, conf *nginx.Config, server *nginx.Directive) []Finding {
		var count int64
		var text string
		for _, l := range m.in.Evidence.Logs {
			if l.Service == svc.Name && strings.Contains(l.Text, spilled) && strings.Contains(l.Text, "response") {
				count, text = count+l.Count, l.Text
			}
		}
		if count == 0 {
			if !warns(conf, server) && len(Upstreams(conf))+len(ProxyUpstreams(conf)) > 0 {
				silent = svc.Name + ": its error_log leaves warnings out, so answers that go through temporary files do not show"
			}
			return nil
		}
		largest := int64(0) // mean size of the route with the largest answers
		for _, r := range m.in.Evidence.Routes {
			if r.Count > 0 && (r.Service == "" || r.Service == svc.Name) {
				largest = max(largest, r.Bytes/r.Count)
			}
		}
		for _, a := range m.asked.Assets {
			largest = max(largest, a.Size)
		}
		f := about(svc.Name, svc.Name+" writes answers of the application to temporary files",
			fmt.Sprintf("%d answers did not fit into the buffers of their connection; the largest answers have about %s. %s", count, size(largest), cut(text, 200)), "error log of "+svc.Name)
		f.Subject = map[string]string{"largest": strconv.FormatInt(largest, 10)}
		return []Finding{f.bounded(m.boundKernelIn(1, svc.Name))}
	})
	if why == "" {
		why = silent
	}
	return out, why
}

// judgeBodies: what clients send and does not fit into client_body_buffer_size is
// written to a file before the application gets it.
func judgeBodies(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		var count int64
		for _, l := range m.in.Evidence.Logs {
			if l.Service == svc.Name && strings.Contains(l.Text, spilled) && strings.Contains(l.Text, "request body") {
				count += l.Count
			}
		}
		if count == 0 {
			return nil
		}
		now := "16k" // two pages of most machines
		if d := server.Effective("client_body_buffer_size"); d != nil && len(d.Args) == 1 {
			now = d.Args[0]
		}
		have, _ := Bytes(now)
		if enough, _ := Bytes(BodyBuffer); have >= enough {
			return nil // these are files that somebody sends
		}
		return []Finding{about(svc.Name, svc.Name+" writes what clients send to temporary files",
			fmt.Sprintf("%d request bodies did not fit into client_body_buffer_size (%s) and went through a file.", count, now), "error log of "+svc.Name).
			asks(Setting{Service: svc.Name, Name: "client_body_buffer_size", Now: now, To: BodyBuffer, Up: 1}).bounded(m.boundKernelIn(1, svc.Name))}
	})
}

// BodyBuffer is what forms with a file of some hundred KB fit into: a choice, small
// enough for a thousand senders at a time on any machine.
const BodyBuffer = "512k"

func judgeStuck(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		n := m.at(svc.Name).sys.TCP.States["FIN-WAIT-1"]
		if n < stuckSockets || OnOff(server, "reset_timedout_connection", false) {
			return nil
		}
		return []Finding{about(svc.Name, "Connections of clients that stopped reading are kept by the kernel",
			fmt.Sprintf("%d sockets were in FIN-WAIT-1 at the end: closed by the server, their last bytes not taken by the client. reset_timedout_connection gives up their memory at once.", n), "socket states").
			asks(Setting{Service: svc.Name, Name: "reset_timedout_connection", Now: "off", To: "on"}).bounded(m.boundKernelOf(0.5, svc.Name))}
	})
}

func judgeStaticLog(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		var paths []string
		var count int64
		for _, a := range m.asked.Assets {
			loc := nginx.MatchLocation(server, a.Path)
			if !fixed(a) || loc == nil || throughApp(server, a.Path) || !Logs(loc) {
				continue
			}
			paths = append(paths, a.Path)
			count += a.Count
		}
		all := float64(m.asked.Requests)
		if len(paths) == 0 || float64(count) < loggedFiles*all {
			return nil
		}
		sort.Strings(paths)
		f := about(svc.Name, svc.Name+" logs each request for a file",
			fmt.Sprintf("%d of %.0f requests (%.0f %%) fetch files, and each writes a line that says little.", count, all, 100*float64(count)/all), paths...)
		f.Subject = map[string]string{"paths": strings.Join(paths, "\n")}
		return []Finding{f.bounded(m.boundBy(svc.Name, m.perReq[svc.Name]*min(float64(count)/all, 1)))}
	})
}

// Logs reports whether requests that end in this location write a line. nginx
// has a log compiled in, so no access_log at all is one.
func Logs(location *nginx.Directive) bool {
	d := location.Effective("access_log")
	return d == nil || slices.ContainsFunc(d.Parent.Find("access_log"), func(l *nginx.Directive) bool { return len(l.Args) > 0 && l.Args[0] != "off" })
}
