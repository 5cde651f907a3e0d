package pagecache

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// activation of a new VCL: a reload where the service knows how, else a restart.
func activation(svc *stack.Service) change.Activation {
	if svc.ControlMethod() == stack.MethodSystemd || len(svc.Control.Reload) > 0 {
		return change.Reload
	}
	return change.Restart
}

// Asking is a condition of VCL: a request that tells who asks, or by a header
// asks for something else than its URL.
func Asking(telling []string) string {
	asks := []string{"req.http.Authorization"}
	for _, h := range bars(telling) {
		asks = append(asks, "req.http."+h)
	}
	return strings.Join(asks, " || ")
}

// ForwardedVary keeps answers apart by how a balancer in front was asked, as
// variants of one object: a PURGE finds them all.
const ForwardedVary = `if (beresp.http.Vary) {
    set beresp.http.Vary = beresp.http.Vary + ", X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Port, X-Forwarded-Prefix";
} else {
    set beresp.http.Vary = "X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Port, X-Forwarded-Prefix";
}`

// planVarnish lets the Varnish in front keep the pages of the finding.
func planVarnish(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	age := diagnose.MaxAge(in.Stack.Regulation)
	conf, err := diagnose.VarnishConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if err := Chooses(conf); err != nil {
		return nil, err
	}
	if err := keepsItself(conf); err != nil {
		return nil, err
	}
	pages := diagnose.PagePatterns(in.Evidence.Load.Pages, func(load.PageSample) bool { return true })
	plain := diagnose.PagePatterns(in.Evidence.Load.Pages, diagnose.PlainForAll)
	if err := AdmittedBehind(in, f.Service, pages); err != nil {
		return nil, err
	}
	recv, response, err := pagesVCL(pages, plain, in.Evidence.Load.TellingHeaders, age)
	if err != nil {
		return nil, err
	}
	if err := conf.Begin("vcl_recv", diagnose.VarnishMark, recv); err != nil {
		return nil, err
	}
	if err := conf.Begin("vcl_backend_response", diagnose.VarnishMark+"-kept", response); err != nil {
		return nil, err
	}
	changes, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), activation(svc), f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("varnish.pages:%s:%s:%.8x", f.Service, age, sha256.Sum256([]byte(recv))),
		Title:   fmt.Sprintf("Let %s keep %s for strangers, none older than %s", f.Service, ui.Plural(len(f.Evidence), "page", "pages"), age),
		Changes: changes, Fresh: &planning.Fresh{URLs: f.Evidence, MaxAge: age}}}, nil
}

// pagesVCL is what stands at the beginning of vcl_recv and of
// vcl_backend_response. Varnish counts in fractions of a second from when the
// answer came, so the limit is the time to live; grace, by which it sends what
// has expired while it fetches anew, is nothing (VCL manual, "Grace mode").
// What an application says itself (max-age) counts where it is shorter. The
// operator's own statements run after these (keepsItself).
func pagesVCL(pages, plain, telling []string, age time.Duration) (recv, response string, err error) {
	all := join(pages)
	if strings.Contains(all, `"}`) || len(pages) == 0 {
		return "", "", fmt.Errorf("no page's URL can be written in VCL")
	}
	strip := ""
	if len(plain) > 0 {
		// Users got these with the same bytes as strangers; without the cookie
		// the application cannot but answer as to a stranger.
		strip = fmt.Sprintf("    if (req.url ~ {\"%s\"}) {\n        unset req.http.Cookie;\n    }\n", join(plain))
	}
	recv = fmt.Sprintf(`if ((req.method == "GET" || req.method == "HEAD") && req.url ~ {"%s"}) {
    if (%s) {
        return (pass);
    }
%s    if (!req.http.Cookie) {
        return (hash);
    }
}`, all, Asking(telling), strip)
	seconds := strconv.FormatFloat(age.Seconds(), 'f', 3, 64) + "s"
	response = fmt.Sprintf(`if (!bereq.uncacheable && beresp.status == 200 && bereq.url ~ {"%[1]s"} && !bereq.http.Cookie
    && !beresp.http.Set-Cookie && beresp.http.Vary !~ {"\*"}
    && beresp.http.Cache-Control !~ {"(?i)private|no-store|no-cache|(?:s-maxage|max-age)\s*=\s*"?0+(?:\D|$)"}) {
    if (beresp.ttl > %[2]s || beresp.http.Cache-Control !~ {"(?i)max-age"}) {
        set beresp.ttl = %[2]s;
    }
    set beresp.grace = 0s;
    set beresp.keep = 0s;
%[3]s
}`, all, seconds, Indent(ForwardedVary))
	return recv, response, nil
}

// Indent moves lines of code one step to the right.
func Indent(code string) string { return "    " + strings.ReplaceAll(code, "\n", "\n    ") }

func join(patterns []string) string { return "(?:" + strings.Join(patterns, "|") + ")" }

// leastStorage is Debian's default for malloc.
const leastStorage = 256 * planning.MiB

// planStorage gives Varnish more room, or moves its objects from a file into
// memory, as far as the host has memory to spare.
func planStorage(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	start, err := diagnose.FindVarnishStart(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	list := start.Args.Storages()
	if len(list) > 1 {
		return nil, fmt.Errorf("%s has %d storages; which of them is full is not known", svc.Name, len(list))
	}
	name, have := "s0", int64(0)
	inMemory := true
	if len(list) == 1 {
		name, inMemory = list[0].Name, list[0].Kind != "file"
		have, _ = diagnose.Bytes(strings.ToUpper(list[0].Size()))
	}
	// Half of what is spare: objects have a head of about a kilobyte each that
	// malloc's size does not count (varnishd manual, "Storage backend").
	most := planning.SpareMemory(in, svc) / 2
	want := max(2*have, leastStorage)
	if !inMemory {
		want = max(have, leastStorage)
	} else {
		most += have
	}
	want = min(want, most) / planning.MiB
	if want*planning.MiB <= have && inMemory || want < 16 {
		return nil, fmt.Errorf("the host has no memory to spare for more than %d MiB", have/planning.MiB)
	}
	size := fmt.Sprintf("%dm", want)
	if len(list) == 0 {
		err = start.Args.SetStorageSize(name, size)
	} else {
		err = start.Args.ReplaceStorage(name, "malloc,"+size)
	}
	if err != nil {
		return nil, err
	}
	c, err := startChange(in, svc, start, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("varnish.storage:%s:malloc,%s", svc.Name, size),
		Title: fmt.Sprintf("Let %s keep its objects in %s MiB of memory", svc.Name, strings.TrimSuffix(size, "m")), Changes: c}}, nil
}

// startChange writes varnishd's arguments back to where they stand; a unit gets
// a drop-in, because its own file is the package's.
func startChange(in planning.Input, svc *stack.Service, start *diagnose.VarnishStart, why string) ([]change.Change, error) {
	if start.Unit == nil {
		old := in.Snapshot.Files[planning.HostOf(svc)][start.Path].Content
		text := slices.Concat(old[:start.From], []byte(start.Args.Line()), old[start.To:])
		c, err := planning.FileChange(in.Snapshot, svc, start.Path, text, change.Restart, why)
		return []change.Change{c}, err
	}
	own := "/etc/systemd/system/" + start.Unit.Name + ".d/kasoku.conf"
	line := strings.Join(strings.Fields(strings.ReplaceAll(start.Args.Line(), "\\\n", " ")), " ")
	if _, err := start.Unit.SetList("Service", "ExecStart", []string{line}, own); err != nil {
		return nil, err
	}
	content, ok := start.Unit.Changed()[own]
	if !ok {
		return nil, nil
	}
	if _, there := in.Snapshot.Files[planning.HostOf(svc)][own]; there {
		c, err := planning.FileChange(in.Snapshot, svc, own, content, change.Restart, why)
		return []change.Change{c}, err
	}
	return []change.Change{{Kind: change.KindFile, Host: planning.HostOf(svc), Service: svc.Name, Activate: change.Restart, Path: own,
		Before: &change.FileState{}, After: &change.FileState{Hash: host.HashOf(content), Content: content, Mode: 0o644}, Why: why}}, nil
}
