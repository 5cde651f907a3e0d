package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxStatics bounds the distinct paths kept; a site's style sheets, scripts
// and images are fewer, generated image paths may be endless.
const maxStatics = 1000

// statics gathers answers that look like files, over all users.
type statics struct {
	seed    maphash.Seed
	mu      sync.Mutex
	entries map[string]*staticEntry
	assets  []atomic.Pointer[fingerprint] // by asset: its first bytes
}

// fingerprint tells bodies apart at the cost of one maphash (about 10 GB/s);
// SHA-256 is computed for the first body only.
type fingerprint struct {
	hash uint64
	size int
}

// staticEntry is the first answer for a path, and whether later ones differ.
type staticEntry struct {
	sample StaticSample // fixed after creation
	print  fingerprint
	varied atomic.Bool
	cookie atomic.Bool
}

// staticCount is one user's share of an entry; entry is nil if the path's
// first answer for this user was no file.
type staticCount struct {
	entry *staticEntry
	count int64
	total time.Duration
}

func newStatics(assets int) *statics {
	return &statics{seed: maphash.MakeSeed(), entries: map[string]*staticEntry{}, assets: make([]atomic.Pointer[fingerprint], assets)}
}

func (s *statics) print(body []byte) fingerprint {
	return fingerprint{maphash.Bytes(s.seed, body), len(body)}
}

// sameAsset reports whether an asset has the bytes it had the first time.
func (s *statics) sameAsset(asset int, print fingerprint) bool {
	first := s.assets[asset].Load()
	if first == nil {
		mine := print // so that only the first fetch allocates
		if s.assets[asset].CompareAndSwap(nil, &mine) {
			return true
		}
		first = s.assets[asset].Load()
	}
	return *first == print
}

// entry returns the path's entry, made from this answer if it is the first.
func (s *statics) entry(path string, res *response, body []byte, print fingerprint) *staticEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[path]; e != nil || len(s.entries) >= maxStatics {
		return e
	}
	sum := sha256.Sum256(body)
	e := &staticEntry{print: print, sample: StaticSample{Path: path, Status: res.status, ContentType: string(res.contentType),
		SHA256: hex.EncodeToString(sum[:]), Size: int64(len(body))}}
	s.entries[path] = e
	return e
}

// samples sums all users' counts.
func (s *statics) samples(users []*user) []StaticSample {
	sums := map[string]staticCount{}
	for _, u := range users {
		for path, c := range u.statics {
			sum := sums[path]
			sums[path] = staticCount{count: sum.count + c.count, total: sum.total + c.total}
		}
	}
	var out []StaticSample
	for path, e := range s.entries {
		one := e.sample
		one.SetsCookie, one.Varied = e.cookie.Load(), e.varied.Load()
		one.Count, one.Total = sums[path].count, sums[path].total
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b StaticSample) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// fileTypes begin the Content-Types of what is mostly a file.
var fileTypes = []string{"text/css", "text/javascript", "application/javascript", "application/x-javascript", "image/", "font/",
	"application/font-", "application/x-font-", "application/vnd.ms-fontobject", "audio/", "video/", "application/wasm",
	"application/pdf", "application/manifest+json"}

// isFile reports whether a Content-Type is that of a file.
func isFile(contentType []byte) bool {
	for _, t := range fileTypes {
		if _, ok := cutFold(contentType, t); ok {
			return true
		}
	}
	return false
}

// observe notes an answer to a GET for target. print is its body's, or the
// zero value if it is not known yet.
func (u *user) observe(target []byte, res *response, body []byte, print fingerprint, counted bool, latency time.Duration) {
	if !bytes.Equal(res.contentType, u.lastType) {
		u.lastType, u.lastIsFile = append(u.lastType[:0], res.contentType...), isFile(res.contentType)
	}
	if !u.lastIsFile {
		u.observePage(res, body, counted, latency)
		return
	}
	path, _ := cutByte(target, '?')
	c := u.statics[string(path)]
	if c == nil && len(u.statics) >= maxStatics {
		return
	}
	if print == (fingerprint{}) {
		print = u.run.statics.print(body)
	}
	if c == nil {
		name := string(bytes.Clone(path))
		c = &staticCount{entry: u.run.statics.entry(name, res, body, print)}
		if u.statics == nil {
			u.statics = map[string]*staticCount{}
		}
		u.statics[name] = c
	}
	if counted {
		c.count++
		c.total += latency
	}
	if e := c.entry; e != nil {
		if (e.print != print || e.sample.Status != res.status) && !e.varied.Load() {
			e.varied.Store(true)
		}
		if len(res.cookies) > 0 && !e.cookie.Load() {
			e.cookie.Store(true)
		}
	}
}
