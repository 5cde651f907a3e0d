package record

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/accesslog"
)

const (
	// assetDelay: what a page needs is asked for this soon after it.
	assetDelay = 2 * time.Second
	// maxAssets of a page; a browser's page has some dozens.
	maxAssets = 100
	// maxVisits of a session; longer ones are cut into several, as a crawler
	// or a proxy that hides many clients would make one of endless length.
	maxVisits = 50
)

// isAsset: a name that a scenario's assets can have, as they take no variables.
func isAsset(target string) bool {
	return !strings.Contains(target, "${") && accesslog.IsAsset(target)
}

// visit is a request that a session makes by itself, with the assets that
// followed it.
type visit struct {
	hit    *hit
	assets []*hit
	token  uint32
}

// visits groups the log by client, cuts it at long pauses, and puts assets
// under their pages. Each session is in the order of time.
func (j *journal) visits(o *LogOptions) [][]visit {
	order := make([]*hit, len(j.hits))
	for i := range j.hits {
		order[i] = &j.hits[i]
	}
	slices.SortStableFunc(order, func(a, b *hit) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.at, b.at))
	})
	var out [][]visit
	var last *hit
	for _, h := range order {
		if last == nil || last.client != h.client || h.at-last.at-last.took > int64(o.Gap) {
			out = append(out, nil)
		}
		last = h
		s := &out[len(out)-1]
		if page := j.pageOf(*s, h); page != nil {
			page.assets = append(page.assets, h)
			continue
		}
		*s = append(*s, visit{hit: h})
	}
	return out
}

// pageOf finds the page that asked for an asset; nil if there is none.
func (j *journal) pageOf(session []visit, h *hit) *visit {
	if !isAsset(j.target(h.call)) || j.calls[h.call].method != "GET" || h.status != 200 && h.status != 304 && h.status != 0 {
		return nil
	}
	for i := range slices.Backward(session) {
		v := &session[i]
		if h.at-v.hit.at-v.hit.took > int64(assetDelay) {
			return nil
		}
		if isAsset(j.target(v.hit.call)) || j.calls[v.hit.call].method != "GET" {
			continue
		}
		if !j.referers {
			return v
		}
		// Fonts and images may be asked for by the page's style sheet.
		if h.referer == j.calls[v.hit.call].target || slices.ContainsFunc(v.assets, func(a *hit) bool { return j.calls[a.call].target == h.referer }) {
			return v
		}
	}
	return nil
}

// usualAssets of each page route: those that at least half of the visits that
// fetched any fetched. Others vary from page to page and stay requests of
// their own.
func (j *journal) usualAssets(sessions [][]visit) map[uint32][]uint32 {
	visits := map[uint32]int{}
	count := map[uint32]map[uint32]int{}
	for _, s := range sessions {
		for _, v := range s {
			if len(v.assets) == 0 {
				continue
			}
			visits[v.hit.route]++
			if count[v.hit.route] == nil {
				count[v.hit.route] = map[uint32]int{}
			}
			for _, a := range distinct(v.assets) {
				count[v.hit.route][a]++
			}
		}
	}
	out := map[uint32][]uint32{}
	for route, byCall := range count {
		var usual []uint32
		for call, n := range byCall {
			if 2*n >= visits[route] {
				usual = append(usual, call)
			}
		}
		slices.Sort(usual)
		out[route] = usual[:min(len(usual), maxAssets)]
	}
	return out
}

func distinct(hits []*hit) []uint32 {
	var out []uint32
	for _, h := range hits {
		if !slices.Contains(out, h.call) {
			out = append(out, h.call)
		}
	}
	return out
}

// token is a kind of step: a route, with or without its usual assets.
type token struct {
	route  uint32
	assets []uint32 // calls
	visits int64
	calls  map[uint32]int64
	status map[uint16]bool
}

// size is how many requests one such step makes.
func (t *token) size() int64 { return 1 + int64(len(t.assets)) }

// tokenize gives each visit its token. A visit has the usual assets if it
// fetched at least half of them; what it fetched besides becomes visits.
func (j *journal) tokenize(sessions [][]visit) []*token {
	type key struct {
		route uint32
		with  bool
	}
	usual := j.usualAssets(sessions)
	ids := map[key]uint32{}
	var tokens []*token
	give := func(v *visit, with bool) {
		k := key{v.hit.route, with}
		id, ok := ids[k]
		if !ok {
			t := &token{route: k.route, calls: map[uint32]int64{}, status: map[uint16]bool{}}
			if with {
				t.assets = usual[k.route]
			}
			id = uint32(len(tokens))
			ids[k], tokens = id, append(tokens, t)
		}
		t := tokens[id]
		t.visits++
		t.calls[v.hit.call]++
		t.status[v.hit.status] = true
		v.token = id
	}
	for i, s := range sessions {
		var flat []visit
		for _, v := range s {
			mine := usual[v.hit.route]
			fetched := 0
			for _, a := range distinct(v.assets) {
				if slices.Contains(mine, a) {
					fetched++
				}
			}
			with := fetched > 0 && 2*fetched >= len(mine)
			give(&v, with)
			assets := v.assets
			v.assets = nil
			flat = append(flat, v)
			for _, a := range assets {
				if with && slices.Contains(mine, a.call) {
					continue
				}
				one := visit{hit: a}
				give(&one, false)
				flat = append(flat, one)
			}
		}
		sessions[i] = flat
	}
	return tokens
}
