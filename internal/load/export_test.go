package load

import (
	"strings"
	"time"
)

// findAssets appends the targets that a browser would fetch for an HTML page,
// in the order of the page, without duplicates, at most maxFound with those in
// dst. base is the page's own target; inside tells whether an absolute URL is
// of this origin and what its target is. dst's elements beyond its length are
// used again.
func findAssets(dst [][]byte, page []byte, base []byte, inside func([]byte) ([]byte, bool)) [][]byte {
	s := assetScan{found: dst}
	s.begin(base, inside)
	s.page(page)
	return s.found
}

// findStyleAssets does the same for a style sheet.
func findStyleAssets(dst [][]byte, sheet []byte, base []byte, inside func([]byte) ([]byte, bool)) [][]byte {
	s := assetScan{found: dst}
	s.begin(base, inside)
	s.sheet(sheet)
	return s.found
}

// store notes an answer to a GET of target, also a 304 to a request with
// validators. Absent headers are nil.
func (c *browserCache) store(target []byte, status int, cacheControl, expires, date, etag, lastModified, vary []byte, now time.Duration) {
	c.storeAged(target, status, cacheControl, expires, date, nil, etag, lastModified, vary, now)
}

// scenario is a whole scenario file that holds the key's example.
func (k *keySpec) scenario(p *sectionSpec) string {
	var keys []string
	add := func(name, value string) { keys = append(keys, name+": "+value) }
	given := map[string]bool{k.name: true}
	for i := 0; i+1 < len(k.with); i += 2 {
		given[k.with[i]] = true
		add(k.with[i], k.with[i+1])
	}
	for i := 0; i+1 < len(p.base); i += 2 {
		if !given[p.base[i]] {
			add(p.base[i], p.base[i+1])
		}
	}
	add(k.name, k.example)
	context := p.context
	if k.context != "" {
		context = k.context
	}
	return strings.Replace(context, "@", strings.Join(keys, ", "), 1) + "\n"
}

// sum of all.
func (c *calls) sum() int64 { return c.sends + c.receives + c.waits + c.rests }
