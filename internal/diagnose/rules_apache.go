package diagnose

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

const needApache = "Apache's configuration"

var apacheRules = []Rule{
	{"apache.prefork", []string{"W02"}, needApache, judgePrefork},
	{"apache.keepalive", []string{"C19"}, needApache, judgeApacheKeepAlive},
	{"apache.workers", []string{"C18"}, needErrorLog, judgeApacheWorkers},
	{"apache.deflate", []string{"C27"}, "sampled answers and Apache's configuration", judgeDeflate},
	{"apache.htaccess", []string{"W02"}, needApache, judgeAccessFiles},
	{"apache.front", []string{"W02", "W10", "W12", "I22"}, needApache, judgeFront},
}

// ApacheConfig parses an Apache service's configuration out of the snapshot.
func ApacheConfig(snap *evidence.Snapshot, svc *stack.Service) (*apache.Config, error) {
	read, glob := files(snap, svc)
	return apache.Load(svc.Config, snap.Apache[svc.Name].Options(svc), read, glob)
}

// ApacheModules are the modules of a Debian configuration folder in the snapshot.
func ApacheModules(snap *evidence.Snapshot, svc *stack.Service) (*apache.Modules, error) {
	read, glob := files(snap, svc)
	return apache.LoadModules(path.Dir(svc.Config), read, glob)
}

// eachApache calls judge for every Apache whose configuration parses.
func (m *model) eachApache(judge func(svc *stack.Service, conf *apache.Config) []Finding) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.Apache) {
		conf, err := ApacheConfig(m.in.Snapshot, svc)
		if err != nil {
			why = fmt.Sprintf("%s: %v", svc.Name, err)
			continue
		}
		out = append(out, judge(svc, conf)...)
	}
	return out, why
}

// PHPModule is the LoadModule line of PHP in Apache, nil if there is none.
func PHPModule(conf *apache.Config) *apache.Directive {
	for _, d := range conf.Root.Find("LoadModule") {
		if d.State == apache.Active && len(d.Args) == 2 && strings.HasPrefix(d.Args[0], "php") && strings.HasSuffix(d.Args[0], "_module") {
			return d
		}
	}
	return nil
}

// judgePrefork: Apache with PHP inside its processes (W02).
func judgePrefork(m *model) ([]Finding, string) {
	return m.eachApache(func(svc *stack.Service, conf *apache.Config) []Finding {
		if conf.MPM() != "prefork" || PHPModule(conf) == nil {
			return nil
		}
		use := m.in.Evidence.Services[svc.Name]
		return []Finding{about(svc.Name, svc.Name+" holds a PHP process for each connection",
			fmt.Sprintf("mpm_prefork with mod_php: %d processes, %s; a slow client or an idle kept connection occupies a whole PHP. Event workers with PHP-FPM, or nginx in front, separate the two.", use.Processes, size(use.RSS)),
			svc.Config).bounded(m.boundWait())}
	})
}

// setting is what a directive of the main server is set to.
func setting(conf *apache.Config, name string) string {
	v, err := conf.Value(name, nil)
	if err != nil {
		return ""
	}
	return v.Text
}

func judgeApacheKeepAlive(m *model) ([]Finding, string) {
	return m.eachApache(func(svc *stack.Service, conf *apache.Config) []Finding {
		var texts []string
		var asks []Setting
		most, err := conf.Value("MaxKeepAliveRequests", nil)
		if err != nil {
			return nil
		}
		if strings.EqualFold(setting(conf, "KeepAlive"), "off") {
			texts = append(texts, "clients must connect anew for each request (KeepAlive Off)")
			asks = append(asks, Setting{Service: svc.Name, Name: "KeepAlive", Now: "Off", To: "On"})
		} else if n, err := strconv.Atoi(most.Text); err == nil && len(most.Set) > 0 && n > 0 && n <= 100 {
			texts = append(texts, fmt.Sprintf("connections are closed after %d requests (MaxKeepAliveRequests)", n))
			asks = append(asks, Setting{Service: svc.Name, Name: "MaxKeepAliveRequests", Now: strconv.Itoa(n), To: "10000"})
		}
		// An idle connection occupies a process of prefork, so there the default
		// is left alone.
		if len(texts) == 0 || conf.MPM() == "prefork" {
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+" closes connections that clients could use again", strings.Join(texts, "; ")+".", svc.Config).
			asks(asks...).bounded(m.boundKernelOf(0.5, svc.Name))}
	})
}

// reachedWorkers is Apache's message (AH00161, AH00286, AH00484, server/mpm).
const reachedWorkers = "server reached maxrequestworkers"

// judgeApacheWorkers: Apache says that no worker was idle, in the window or,
// as it says it once in its life, before it. Said before it counts if there
// are more users than workers and connections waited to be accepted, which
// Apache leaves to the kernel while all workers are busy.
func judgeApacheWorkers(m *model) ([]Finding, string) {
	return m.eachApache(func(svc *stack.Service, conf *apache.Config) []Finding {
		now, err := strconv.Atoi(setting(conf, "MaxRequestWorkers"))
		if err != nil {
			return nil
		}
		said := m.workersFull(svc, now)
		if said == "" {
			return nil
		}
		f := about(svc.Name, svc.Name+" has too few workers", fmt.Sprintf("MaxRequestWorkers is %d for %.0f users: %s", now, m.n, cut(said, 200)), "error log of "+svc.Name).
			asks(Setting{Service: svc.Name, Name: "MaxRequestWorkers", Now: strconv.Itoa(now), Up: 1})
		f.Subject = map[string]string{"now": strconv.Itoa(now)}
		return []Finding{f.bounded(m.boundWait())}
	})
}

// workersFull is Apache's word that none of its workers was idle, "" if it has
// not said so.
func (m *model) workersFull(svc *stack.Service, workers int) string {
	said := saidFull(m.in.Evidence.Logs, svc.Name)
	if waited := m.waitedAt(svc.Name); said == "" && waited > 0 && m.n > float64(workers) {
		if earlier := saidFull(m.in.Evidence.LogsBefore, svc.Name); earlier != "" {
			said = fmt.Sprintf("%d connections waited to be accepted; since its start, before this run: %s", waited, earlier)
		}
	}
	return said
}

// saidFull is a service's word that its workers are all busy, "" if it is not
// among the messages.
func saidFull(logs []evidence.LogLine, service string) string {
	for _, l := range logs {
		if l.Service == service && strings.Contains(strings.ToLower(l.Text), reachedWorkers) {
			return l.Text
		}
	}
	return ""
}

// deflates reports whether Apache compresses anything.
func deflates(conf *apache.Config) bool {
	found := false
	conf.Root.Walk(func(d *apache.Directive) bool {
		if d.State == apache.Inactive {
			return false
		}
		if d.Is("AddOutputFilterByType") || d.Is("SetOutputFilter") || d.Is("AddOutputFilter") || d.Is("FilterProvider") {
			text := strings.ToUpper(strings.Join(d.Args, " "))
			found = found || strings.Contains(text, "DEFLATE") || strings.Contains(text, "BROTLI_COMPRESS")
		}
		return !found
	})
	return found
}

func judgeDeflate(m *model) ([]Finding, string) {
	return m.eachApache(func(svc *stack.Service, conf *apache.Config) []Finding {
		if len(m.in.Stack.OfKind(stack.Nginx, stack.Varnish)) > 0 || deflates(conf) {
			return nil // what stands in front compresses
		}
		var paths []string
		var count int64
		for _, a := range m.asked.Assets {
			kind, _, _ := strings.Cut(a.ContentType, ";")
			if IsText(strings.TrimSpace(kind)) && a.Size >= textBytes && a.Status == 200 {
				paths = append(paths, a.Path)
				count += a.Count
			}
		}
		if count == 0 {
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+" sends text uncompressed", fmt.Sprintf("%d requests were for text, which shrinks to a third or less.", count), paths...).
			asks(Setting{Service: svc.Name, Name: "deflate", Now: "off", To: "on"}).bounded(m.boundKernelOf(1, svc.Name))}
	})
}

// judgeAccessFiles: where .htaccess files are allowed, each request looks for
// one in every folder on its way.
func judgeAccessFiles(m *model) ([]Finding, string) {
	return m.eachApache(func(svc *stack.Service, conf *apache.Config) []Finding {
		looks := 0
		for _, v := range append(conf.VirtualHosts(), nil) {
			root, err := conf.Value("DocumentRoot", v)
			if err != nil || root.Text == "" {
				continue
			}
			if files, err := conf.AccessFiles(v, root.Text); err == nil {
				looks = max(looks, len(files))
			}
		}
		if looks == 0 {
			return nil
		}
		build := m.in.Snapshot.Apache[svc.Name]
		return []Finding{about(svc.Name, svc.Name+" looks for .htaccess files in each request",
			fmt.Sprintf("AllowOverride lets %d folders above each file hold one; %d are there. Their lines belong into <Directory> sections, with AllowOverride None; by hand, because who may write them changes too.", looks, len(build.AccessFiles)+build.AccessFilesLeft), svc.Config).
			bounded(m.boundKernelOf(0.05, svc.Name))}
	})
}
