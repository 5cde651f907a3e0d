package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// MaxAge is how old a kept answer may be: the regulation's limit, or the
// default where the trade is not allowed and a plan only shows what it would be.
func MaxAge(r regulation.Regulation) time.Duration {
	if age := r.MaxAge(); age > 0 {
		return age
	}
	return regulation.DefaultStaleness
}

// sparing adds up what a cache would spare.
type sparing struct {
	urls     []string
	requests float64 // of the window that it would answer
	took     float64 // seconds of latency
}

// add counts n answers of which one in each age is still made.
func (s *sparing) add(url string, n int64, took time.Duration, age, window float64) {
	made := math.Max(1, window/math.Max(age, 1e-3))
	part := math.Max(0, 1-made/math.Max(float64(n), 1))
	s.urls = append(s.urls, url)
	s.requests += part * float64(n)
	s.took += part * took.Seconds()
}

// leastSpared of all requests or of their time: less is not worth a cache.
const leastSpared = 0.01

// share of the CPU of all requests that the cache would spare at most.
func (s *sparing) share(m *model) float64 { return m.shareOf(s.requests, s.took, m.allCPU) }

// shareOf is the most that requests of those that were asked may have of a CPU
// time per right answer: their part of all by number or by latency, whichever is
// larger, but not more than if they had computed for all of their latency. Of a
// file that takes 0.2 ms among pages of 80 ms the number says nothing.
func (m *model) shareOf(requests, took, cpu float64) float64 {
	total := 0.0
	for _, r := range m.asked.Routes {
		total += r.Total.Seconds()
	}
	if total == 0 { // somebody else's benchmark tells no times; the log of the front does
		total = m.logged()
	}
	share := requests / math.Max(1, float64(m.asked.Requests))
	if total > 0 {
		share = math.Max(share, took/total)
	}
	if spent := cpu * float64(m.asked.Succeeded); spent > 0 && took > 0 {
		share = math.Min(share, took/spent)
	}
	return math.Min(share, 1)
}

// logged is the summed latency of all requests in the access log of the service that
// saw the most; 0 where no log has times.
func (m *model) logged() float64 {
	count, total := map[string]int64{}, map[string]float64{}
	front := ""
	for _, r := range m.in.Evidence.Routes {
		count[r.Service] += r.Count
		total[r.Service] += r.Time.Total.Seconds()
		if front == "" || count[r.Service] > count[front] {
			front = r.Service
		}
	}
	return total[front]
}

// answersUnknown says why nothing is known of a load's answers; "" if something is:
// the files that somebody else's benchmark asks for are known by its access log.
func (m *model) answersUnknown() string {
	if m.in.Stack.Load.Command != nil && len(m.asked.Assets) == 0 {
		return "load.command does not tell its answers, and no access log of the front names files"
	}
	return ""
}

// judgeCacheable: answers that were the same for everybody who has no session
// and that the application made each time (L13, W10).
func judgeCacheable(m *model) ([]Finding, string) {
	if why := m.answersUnknown(); why != "" {
		return nil, why
	}
	age := MaxAge(m.in.Stack.Regulation)
	if len(m.in.Stack.OfKind(stack.Nginx)) == 0 || m.varnishInFront() != nil {
		return nil, ""
	}
	return m.eachFront(func(svc *stack.Service, conf *nginx.Config, server *nginx.Directive) []Finding {
		anew := func(url string) bool {
			loc := PassedBy(server, url)
			return loc != nil && !kept(conf, loc, url)
		}
		all, files, changed := m.cacheable(age, anew)
		share := all.share(m)
		if len(all.urls) == 0 || share < leastSpared {
			return nil
		}
		slices.Sort(all.urls)
		f := about(svc.Name, ui.Plural(len(all.urls), "answer is", "answers are")+" made anew each time although the same for everybody",
			fmt.Sprintf("Of %s strangers all got the same bytes, whatever their client; in %.0f s they changed %d times. A cache in front that keeps each for %s would answer %.0f of %d requests without the application; an answer may then be that old.",
				strings.Join(all.urls[:min(len(all.urls), 5)], ", "), m.asked.Window.Seconds(), changed, age, all.requests, m.asked.Requests), all.urls...)
		f.Subject = map[string]string{"files": strings.Join(files, "\n")}
		return []Finding{f.bounded(m.bound(m.allCPU * share))}
	})
}

// cacheable adds up the answers that strangers all got alike and that are made
// anew; files are the URLs of those that are no pages.
func (m *model) cacheable(age time.Duration, anew func(url string) bool) (all sparing, files []string, changed int64) {
	for _, a := range m.asked.Assets {
		if _, isFile := m.in.Snapshot.StaticFiles[a.Path]; !isFile && CacheableFile(a) && anew(a.Path) {
			all.add(a.Path, a.Count, a.Total, age.Seconds(), m.asked.Window.Seconds())
			files = append(files, a.Path)
		}
	}
	for _, p := range m.asked.Pages {
		if CacheablePage(p) && anew(p.URL) {
			all.add(p.URL, p.Count, p.Total, age.Seconds(), m.asked.Window.Seconds())
			changed += p.Changes
		}
	}
	return all, files, changed
}

func (m *model) varnishInFront() *stack.Service { return VarnishInFront(m.in.Stack) }

// VarnishInFront is the Varnish that load.url points to; nil if there is none.
func VarnishInFront(st *stack.Stack) *stack.Service {
	front := FrontPort(st)
	for _, svc := range st.OfKind(stack.Varnish) {
		for _, l := range svc.Listen {
			if front != "" && strings.HasSuffix(l, ":"+front) {
				return svc
			}
		}
	}
	return nil
}

// PlainForAll reports whether logged-in users got the same bytes of a page as
// strangers, so that their cookies need not be looked at.
func PlainForAll(p load.PageSample) bool { return CacheablePage(p) && p.Known >= 2 && !p.Differs }

// judgeVarnishPages: pages that a Varnish in front could keep and passes on (W10).
func judgeVarnishPages(m *model) ([]Finding, string) {
	svc := m.varnishInFront()
	if svc == nil {
		return nil, ""
	}
	if m.in.Stack.Load.Command != nil {
		return nil, "load.command does not tell its answers"
	}
	conf, err := VarnishConfig(m.in.Snapshot, svc)
	if err != nil {
		return nil, fmt.Sprintf("%s: %v", svc.Name, err)
	}
	done := ""
	if mark, ok := conf.Marked(VarnishMark); ok {
		done = mark.Code
	}
	age := MaxAge(m.in.Stack.Regulation)
	var all sparing
	var plain []string
	for _, p := range m.asked.Pages {
		if !CacheablePage(p) {
			continue
		}
		if !p.Hit {
			all.add(p.URL, p.Count, p.Total, age.Seconds(), m.asked.Window.Seconds())
		}
		if PlainForAll(p) && !strings.Contains(done, PagePattern(p.URL)) {
			all.add(p.URL, p.Known, p.Total/time.Duration(max(p.Count, 1))*time.Duration(p.Known), age.Seconds(), m.asked.Window.Seconds())
			plain = append(plain, p.URL)
		}
	}
	share := all.share(m)
	if len(all.urls) == 0 || share < leastSpared {
		return nil, ""
	}
	slices.Sort(all.urls)
	all.urls = slices.Compact(all.urls)
	f := about(svc.Name, fmt.Sprintf("%s passes %s on although the same for everybody", svc.Name, ui.Plural(len(all.urls), "page", "pages")),
		fmt.Sprintf("Strangers all got the same bytes of %s, and it kept none or passed requests with a cookie on although it changes nothing (%d pages). Kept for %s each, %.0f of %d requests would be answered without the application.",
			strings.Join(all.urls[:min(len(all.urls), 5)], ", "), len(plain), age, all.requests, m.asked.Requests), all.urls...)
	return []Finding{f.bounded(m.bound(m.allCPU * share))}, ""
}

// VarnishMark is the mark of what Kasoku writes at the beginning of vcl_recv.
const VarnishMark = "kasoku-pages"

// judgeVarnishFile: a cache whose storage is a file, while memory is there (W11).
func judgeVarnishFile(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.Varnish) {
		start, err := FindVarnishStart(m.in.Snapshot, svc)
		if err != nil {
			why = err.Error()
			continue
		}
		for _, s := range start.Args.Storages() {
			if s.Kind != "file" {
				continue
			}
			out = append(out, about(svc.Name, svc.Name+" keeps its objects in a file",
				fmt.Sprintf("Storage %s is file,%s: each hit goes through the page cache, and what is written back to disk competes with the database. Varnish's own manual advises malloc where memory holds what is asked for.", s.Name, strings.Join(s.Rest, ",")),
				"-s of "+svc.Name).asks(Setting{Service: svc.Name, Name: "-s", Now: "file", To: "malloc"}).bounded(m.boundKernelOf(0.5, svc.Name)))
		}
	}
	return out, why
}
