package apache

import "strings"

// Scope is where a directive counts.
type Scope int

const (
	// Global: once for the whole server; the last one read counts.
	Global Scope = iota
	// Server: the main server and each virtual host have their own; a virtual
	// host without one has the main server's.
	Server
	// Folder: as Server, and the sections for folders, files and URLs.
	Folder
)

// Rule says how the server merges a directive.
type Rule struct {
	Name  string
	Old   string // a former name that still works
	Scope Scope
	// Many: all of them count, not the last one. In a virtual host its own
	// take the place of the main server's.
	Many bool
	// Defaults by MPM, "" for all MPMs (Apache 2.4 manual, the directive's
	// table; mpm_common.h).
	Defaults map[string]string
}

func all(v string) map[string]string { return map[string]string{"": v} }

// rules are the directives that Kasoku knows how to merge.
var rules = []Rule{
	{Name: "Listen", Scope: Global, Many: true},
	{Name: "LoadModule", Scope: Global, Many: true},
	{Name: "MaxRequestWorkers", Old: "MaxClients", Scope: Global, Defaults: map[string]string{"prefork": "256", "worker": "400", "event": "400"}},
	{Name: "ServerLimit", Scope: Global, Defaults: map[string]string{"prefork": "256", "worker": "16", "event": "16"}},
	{Name: "ThreadLimit", Scope: Global, Defaults: map[string]string{"worker": "64", "event": "64"}},
	{Name: "ThreadsPerChild", Scope: Global, Defaults: map[string]string{"worker": "25", "event": "25"}},
	{Name: "StartServers", Scope: Global, Defaults: map[string]string{"prefork": "5", "worker": "3", "event": "3"}},
	{Name: "MinSpareServers", Scope: Global, Defaults: map[string]string{"prefork": "5"}},
	{Name: "MaxSpareServers", Scope: Global, Defaults: map[string]string{"prefork": "10"}},
	{Name: "MinSpareThreads", Scope: Global, Defaults: map[string]string{"worker": "75", "event": "75"}},
	{Name: "MaxSpareThreads", Scope: Global, Defaults: map[string]string{"worker": "250", "event": "250"}},
	{Name: "MaxConnectionsPerChild", Old: "MaxRequestsPerChild", Scope: Global, Defaults: all("0")},
	{Name: "AsyncRequestWorkerFactor", Scope: Global, Defaults: map[string]string{"event": "2"}},
	{Name: "ListenBacklog", Old: "ListenBackLog", Scope: Global, Defaults: all("511")},
	{Name: "BufferedLogs", Scope: Global, Defaults: all("Off")},
	{Name: "ExtendedStatus", Scope: Global, Defaults: all("Off")},
	{Name: "KeepAlive", Scope: Server, Defaults: all("On")},
	{Name: "KeepAliveTimeout", Scope: Server, Defaults: all("5")},
	{Name: "MaxKeepAliveRequests", Scope: Server, Defaults: all("100")},
	{Name: "Timeout", Old: "TimeOut", Scope: Server, Defaults: all("60")},
	{Name: "DocumentRoot", Scope: Server, Defaults: all("/usr/local/apache/htdocs")},
	{Name: "ServerName", Scope: Server},
	{Name: "AccessFileName", Scope: Server, Defaults: all(".htaccess")},
	{Name: "CustomLog", Scope: Server, Many: true},
	{Name: "LogLevel", Scope: Folder, Defaults: all("warn")},
	{Name: "HostnameLookups", Scope: Folder, Defaults: all("Off")},
	{Name: "EnableSendfile", Scope: Folder, Defaults: all("Off")},
	{Name: "EnableMMAP", Scope: Folder, Defaults: all("On")},
	{Name: "AllowOverride", Scope: Folder, Defaults: all("None")},
}

// RuleFor returns how the server merges a directive; case does not matter.
func RuleFor(name string) (Rule, bool) {
	for _, r := range rules {
		if strings.EqualFold(r.Name, name) || r.Old != "" && strings.EqualFold(r.Old, name) {
			return r, true
		}
	}
	return Rule{}, false
}

func (r Rule) matches(d *Directive) bool { return d.Is(r.Name) || r.Old != "" && d.Is(r.Old) }

// Default returns what counts where nothing is written, "" if nothing does.
func (r Rule) Default(mpm string) string {
	if v, ok := r.Defaults[mpm]; ok {
		return v
	}
	return r.Defaults[""]
}
