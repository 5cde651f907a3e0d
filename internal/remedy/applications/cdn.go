package applications

import (
	"cmp"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/confedit/phpvars"
	"kasoku/internal/confedit/vcl"
	"kasoku/internal/diagnose"
	"kasoku/internal/knownapp"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/pagecache"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// cdn is a MediaWiki behind a Varnish that is to keep its pages until an edit
// purges them.
type cdn struct {
	*wiki
	front *stack.Service
	conf  *vcl.Config // of the Varnish, edited

	address string // where MediaWiki reaches the Varnish
	purger  string // the address that it comes from then
	proxy   string // the address that the Varnish comes from

	host  string // of the URLs that MediaWiki purges
	pages string // regular expression for them
	all   string // and for all that index.php answers
	// life is the s-maxage of pages that MediaWiki purges ($wgCdnMaxAge), seconds;
	// marked if it has to be set.
	life   int
	marked bool
	// keep is for how long Varnish keeps them, seconds.
	keep int
}

// MediaWiki gives a page at a URL that it purges $wgCdnMaxAge as its s-maxage, at
// another one an hour (MediaWiki::performAction), and neither more than
// $wgCdnMaxAge or, if it was edited just now, a day (Article::view). So the two
// can be told apart if $wgCdnMaxAge lies between.
const (
	unpurgedLife = 3600
	newestLife   = 24 * 3600
	// ownLife is $wgCdnMaxAge by default (includes/MainConfigSchema.php of 1.39).
	ownLife = 18000
)

// planCdn has a Varnish in front keep MediaWiki's pages, and MediaWiki purge
// them there. The Varnish comes first, and goes back last: at no time does it
// keep what nobody would purge. It is started anew each time, because a reload
// leaves what was kept, and edits made on the other side purge nothing.
func planCdn(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	w, err := mediawiki(in, f, "$wgUseCdn")
	if w == nil || err != nil {
		return nil, err
	}
	c := &cdn{wiki: w}
	if c.front, err = c.cache(); c.front == nil || err != nil {
		return nil, err
	}
	for _, step := range []func() error{c.reach, c.urls, c.lives, c.readVCL} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	changes, err := c.inVarnish()
	if err != nil {
		return nil, err
	}
	settings, err := c.setAtOnce(c.settings()...)
	if err != nil {
		return nil, err
	}
	for i := range settings {
		settings[i].Phase = 1
	}
	title := fmt.Sprintf("Let %s keep %s's pages until an edit purges them, %s at most", c.front.Name, w.app.Name, time.Duration(c.keep)*time.Second)
	if v, ok := w.vars.Get("wgJobRunRate"); ok && v.Text == "0" {
		title += "; pages that use an edited template are purged when somebody runs the jobs ($wgJobRunRate is 0)"
	}
	return []planning.Plan{{ID: fmt.Sprintf("%s:%s:%s:%ds", knownapp.RemedyCdn, w.app.Name, c.front.Name, c.keep), Title: title,
		EditsSettings: true, Fills: true, Changes: append(changes, settings...), Fresh: c.fresh()}}, nil
}

// cache is the Varnish that all clients of the application ask; nil if the stack
// has none.
func (c *cdn) cache() (*stack.Service, error) {
	all := c.in.Stack.OfKind(stack.Varnish)
	if len(all) == 0 {
		return nil, nil
	}
	front := diagnose.VarnishInFront(c.in.Stack)
	switch {
	case len(all) > 1:
		return nil, fmt.Errorf("the stack has %d Varnishes, and this remedy knows one that gets PURGE", len(all))
	case front == nil:
		return nil, fmt.Errorf("load.url does not ask %s: whoever may ask what stands before it could send PURGE, too", all[0].Name)
	case !c.leads(front, 3):
		return nil, fmt.Errorf("kasoku.yaml does not say that %s passes requests to %s (talks_to)", front.Name, c.runner.Name)
	}
	if other := c.passesOn(front); other != nil {
		return nil, fmt.Errorf("%s talks to %s from the host of %s, so that whoever asks it could send PURGE, too", other.Name, front.Name, c.runner.Name)
	}
	if n := len(diagnose.Answering(diagnose.PHPServices(c.in.Stack, c.in.Snapshot), c.in.Evidence)); n > 1 {
		return nil, fmt.Errorf("PHP runs in %d services, whose settings are not one file", n)
	}
	return front, nil
}

// passesOn is a service that asks the Varnish by the address from which MediaWiki
// sends PURGE: any on the same host.
func (c *cdn) passesOn(front *stack.Service) *stack.Service {
	for i := range c.in.Stack.Services {
		s := &c.in.Stack.Services[i]
		if s.Name != c.runner.Name && s.Name != c.app.Name && planning.HostOf(s) == planning.HostOf(c.runner) && slices.Contains(s.TalksTo, front.Name) {
			return s
		}
	}
	return nil
}

// leads reports whether a service passes requests on to the application's, over
// so many steps at most.
func (c *cdn) leads(from *stack.Service, steps int) bool {
	if from == nil || steps == 0 {
		return false
	}
	return slices.ContainsFunc(from.TalksTo, func(name string) bool {
		return name == c.runner.Name || name == c.app.Name || c.leads(c.in.Stack.Service(name), steps-1)
	})
}

// reach finds the addresses by which the two call each other. MediaWiki wants
// numbers (Manual:$wgCdnServers).
func (c *cdn) reach() error {
	if planning.HostOf(c.runner) != planning.HostOf(c.front) {
		var err error
		if c.address, err = diagnose.Callable(c.in.Snapshot, c.runner, c.front); err != nil {
			return err
		}
		c.purger, c.proxy = diagnose.Nearest(c.in.Snapshot, c.front, c.runner), diagnose.Nearest(c.in.Snapshot, c.runner, c.front)
	} else {
		for _, l := range c.front.Listen {
			host, port, err := net.SplitHostPort(l)
			if err != nil || host == "::1" {
				continue
			}
			if _, loop := diagnose.Loopback(l); loop {
				host = "127.0.0.1"
			}
			c.address, c.purger, c.proxy = net.JoinHostPort(host, port), host, host
			break
		}
	}
	for _, a := range []string{c.purger, c.proxy} {
		if net.ParseIP(a) == nil {
			return fmt.Errorf("by which addresses %s and %s call each other is not known; write the Varnish's in its listen", c.runner.Name, c.front.Name)
		}
	}
	return nil
}

// plainHost is a host as browsers send it: lower case, and no port that is the
// default one.
var plainHost = regexp.MustCompile(`^[a-z0-9.-]+(?::[0-9]+)?$`)

// urls finds which URLs MediaWiki purges: HtmlCacheUpdater::getUrls, by
// Title::getInternalURL.
func (c *cdn) urls() error {
	server, ok := c.vars.String("wgServer")
	internal, other := c.vars.String("wgInternalServer")
	if _, set := c.vars.Get("wgInternalServer"); set && !other || c.vars.Unclear("wgInternalServer") > 0 {
		return fmt.Errorf("%s: $wgInternalServer is not plainly set, so which URLs are purged is not known", c.file)
	}
	asked := strings.TrimPrefix(strings.TrimPrefix(server, "https://"), "http://")
	server = cmp.Or(internal, server)
	host, http := strings.CutPrefix(server, "http://")
	switch {
	case !ok:
		return fmt.Errorf("%s: $wgServer is not plainly set, so which URLs are purged is not known", c.file)
	case !http:
		return fmt.Errorf("%s: MediaWiki would send PURGE for %s; set $wgInternalServer to the address that %s is asked by, with http://", c.file, server, c.front.Name)
	case host != asked:
		return fmt.Errorf("%s: readers ask %s and MediaWiki purges pages of %s ($wgInternalServer)", c.file, asked, host)
	case !plainHost.MatchString(host) || strings.HasSuffix(host, ":80"):
		return fmt.Errorf("%s: %s is not the host as browsers send it", c.file, host)
	}
	c.host = host
	script, err := c.script()
	if err != nil {
		return err
	}
	views, prefix, err := c.views(script)
	if err != nil {
		return err
	}
	if err := pagecache.AdmittedBehind(c.in, c.front.Name, []string{"^" + views, "^" + script}); err != nil {
		return err
	}
	c.pages = "^(?:" + views + "|" + script + `\?title=[^&]+&action=history)$`
	c.all = "^(?:" + script + `(?:[/?]|$)` + prefix + ")"
	for _, re := range []string{c.pages, c.all} {
		if strings.Contains(re, `"}`) || regexp.MustCompile(`[^!-~]`).MatchString(re) {
			return fmt.Errorf("%s: the addresses of pages cannot be written in VCL", c.file)
		}
	}
	return nil
}

// script is an expression for the address of index.php.
func (c *cdn) script() (string, error) {
	for _, v := range []struct{ name, behind string }{{"wgScript", ""}, {"wgScriptPath", "/index.php"}} {
		text, ok := c.vars.String(v.name)
		if _, set := c.vars.Get(v.name); ok {
			return regexp.QuoteMeta(text + v.behind), nil
		} else if set || c.vars.Unclear(v.name) > 0 {
			return "", fmt.Errorf("%s: $%s is not plainly set, so which URLs are purged is not known", c.file, v.name)
		}
	}
	return "/wiki/index\\.php", nil // the default of $wgScriptPath
}

// views is an expression for the addresses of pages, without the ends; prefix
// for what all begin with that is not index.php's own, after a bar. With no
// $wgArticlePath they are below index.php or in its query, as PHP runs.
func (c *cdn) views(script string) (views, prefix string, err error) {
	article, ok := c.vars.String("wgArticlePath")
	if _, set := c.vars.Get("wgArticlePath"); !set && c.vars.Unclear("wgArticlePath") == 0 {
		return script + `(?:/[^?]+|\?title=[^&]+)`, "", nil
	}
	before, after, one := strings.Cut(article, "$1")
	if !ok || !one || !strings.HasPrefix(before, "/") {
		return "", "", fmt.Errorf("%s: $wgArticlePath is not plainly set, so which URLs are purged is not known", c.file)
	}
	if before == "/" {
		return "", "", fmt.Errorf("%s: $wgArticlePath has pages beside the wiki's own files, which the VCL could not tell apart", c.file)
	}
	before, after = regexp.QuoteMeta(before), regexp.QuoteMeta(after)
	if strings.Contains(before, `\?`) {
		return before + "[^&]+" + after, "", nil
	}
	return before + "[^?]+" + after, "|" + before, nil
}

// lives settles how long pages are kept that no PURGE has taken out: the
// regulation's limit, or what the wiki says itself if that is less.
func (c *cdn) lives() error {
	c.life = ownLife
	if v, set := c.vars.Get("wgCdnMaxAge"); set || c.vars.Unclear("wgCdnMaxAge") > 0 {
		own, err := strconv.Atoi(v.Text)
		if err != nil || !v.Sure || own < 1 {
			return fmt.Errorf("%s: $wgCdnMaxAge is not plainly set", c.file)
		}
		c.life = own
	}
	limit := int(diagnose.MaxAge(c.in.Stack.Regulation) / time.Second)
	if limit < 1 {
		return fmt.Errorf("pages cannot be kept for less than 1s")
	}
	c.keep = min(limit, c.life)
	if c.life <= unpurgedLife || c.life > newestLife {
		c.life, c.marked = ownLife, true
	}
	c.keep = min(c.keep, c.life)
	return nil
}

// settings are the assignments. A proxy that is named with its port is not
// believed what it says of its clients' addresses unless it stands in
// $wgCdnServersNoPurge, too (Manual:$wgCdnServers, T132538).
func (c *cdn) settings() [][2]string {
	out := [][2]string{{"wgUseCdn", "true"}, {"wgCdnServers", "[ " + phpvars.Quote(c.address) + " ]"}, {"wgCdnServersNoPurge", "[ " + phpvars.Quote(c.proxy) + " ]"}}
	if c.marked {
		out = append(out, [2]string{"wgCdnMaxAge", strconv.Itoa(c.life)})
	}
	return out
}

// empty is a list without anything.
var empty = regexp.MustCompile(`^(?:\[\s*\]|(?i:array)\s*\(\s*\))$`)

// readVCL opens the Varnish's VCL, and refuses what would not go together.
func (c *cdn) readVCL() (err error) {
	for _, name := range []string{"wgCdnServers", "wgCdnServersNoPurge"} {
		if v, set := c.vars.Get(name); set && !empty.MatchString(v.Text) {
			return fmt.Errorf("%s: $%s names other proxies (%s); add %s there by hand, and $wgUseCdn = true", c.file, name, v.Text, c.address)
		}
	}
	if c.conf, err = diagnose.VarnishConfig(c.in.Snapshot, c.front); err != nil {
		return err
	}
	if sub := c.conf.Block("sub", "vcl_hash"); sub != nil {
		return fmt.Errorf("%s:%d: vcl_hash looks pages up by more than host and URL, and a PURGE might not find them all", sub.File.Path, sub.Line)
	}
	return pagecache.Chooses(c.conf)
}

// fresh is what the loop compares with MediaWiki's own answers. An edit is to be
// seen at once, whatever the regulation permits; pages that changed come first.
func (c *cdn) fresh() *planning.Fresh {
	pages := regexp.MustCompile(c.pages)
	var kept []load.PageSample
	for _, p := range c.in.Evidence.Load.Pages {
		if p.Status == 200 && p.Count > 0 && pages.MatchString(p.URL) {
			kept = append(kept, p)
		}
	}
	slices.SortStableFunc(kept, func(a, b load.PageSample) int { return cmp.Compare(b.Changes, a.Changes) })
	out := &planning.Fresh{MaxAge: min(time.Duration(c.keep)*time.Second, regulation.DefaultStaleness)}
	for _, p := range kept {
		out.URLs = append(out.URLs, p.URL)
	}
	return out
}

// inVarnish are the changes of the VCL.
func (c *cdn) inVarnish() ([]change.Change, error) {
	recv, response := c.recv(), c.response()
	if err := c.conf.Append(cdnMark+"-purgers", fmt.Sprintf("acl kasoku_purgers {\n    \"%s\";\n}", c.purger)); err != nil {
		return nil, err
	}
	if err := c.conf.Begin("vcl_recv", cdnMark, recv); err != nil {
		return nil, err
	}
	if err := c.conf.Begin("vcl_backend_response", cdnMark+"-kept", response); err != nil {
		return nil, err
	}
	return planning.FileChanges(c.in.Snapshot, c.front, c.conf.Changed(), change.Restart, c.why)
}
