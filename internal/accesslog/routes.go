package accesslog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RouteOptions say how Routes learns. The zero value has the defaults.
type RouteOptions struct {
	// Patterns come before what is learnt; the first that fits names the
	// route. "/users/:name/posts/*": a segment that begins with : stands for
	// one segment, a * at the end for all that follow.
	Patterns []string
	// Slugs is how many different words at one place make it a :slug; 0: 30.
	Slugs int
	// Numbers is how many different numbers or dates at one place make it an
	// :id or :date; 0: 2, so that /v/2 alone stays. UUIDs and hashes always do.
	Numbers int
}

const (
	defaultSlugs   = 30
	defaultNumbers = 2
	// maxChildren kept at one place: far above any number of pages that people
	// name; the place is one of slugs then.
	maxChildren = 2000
	// maxSegments of a path that are told apart.
	maxSegments = 16
	// heavyWord: a plain word asked for so many times as often as the mean of
	// its neighbours stays itself (/users/login among /users/alice, …).
	heavyWord = 10
	// maxRemembered paths whose route is looked up only once.
	maxRemembered = 1 << 16
)

// Routes learns routes from paths: Add all paths, then ask for the Route of
// each; what is added later counts from the next Route on. The same paths give the same routes, whatever their order, as long as
// no place has more than 2,000 different words.
type Routes struct {
	patterns []pattern
	slugs    int
	numbers  int
	root     *node
	built    bool
	known    map[string]string
	scratch  []byte
}

type pattern struct {
	text     string
	segments []string
	open     bool // ends with *
}

// node is a place in a path: what came after the segments before it.
type node struct {
	count    int64            // paths that pass or end here
	words    map[string]*node // by the segment
	classes  map[string]*seen // by class and extension, ":id.jpg"
	overflow bool             // more words than are kept
	slug     map[string]*node // by extension, once built; "/" those with more below
}

// seen is a class at a place.
type seen struct {
	node  *node
	first string   // values told apart up to the limit
	more  []string // further ones
}

// NewRoutes returns a learner. The error names a pattern that is none.
func NewRoutes(o RouteOptions) (*Routes, error) {
	r := &Routes{slugs: o.Slugs, numbers: o.Numbers, root: &node{}, known: map[string]string{}}
	if r.slugs <= 0 {
		r.slugs = defaultSlugs
	}
	if r.numbers <= 0 {
		r.numbers = defaultNumbers
	}
	for _, text := range o.Patterns {
		path, open := strings.CutSuffix(text, "*")
		if !strings.HasPrefix(text, "/") || strings.Contains(path, "*") || open && !strings.HasSuffix(path, "/") {
			return nil, fmt.Errorf("route pattern %q: write a path with :name for a segment that varies, and perhaps /* at the end, for example /items/:id or /files/*", text)
		}
		parts := segments(path)
		if open {
			parts = parts[:len(parts)-1]
		}
		r.patterns = append(r.patterns, pattern{text, parts, open})
	}
	return r, nil
}

// PathOf cuts scheme, host, query and fragment off a request's target.
func PathOf(target string) string {
	if at := strings.Index(target, "://"); at > 0 && !strings.HasPrefix(target, "/") {
		target = target[at+3:]
		slash := strings.IndexByte(target, '/')
		if slash < 0 {
			return "/"
		}
		target = target[slash:]
	}
	if end := strings.IndexAny(target, "?#"); end >= 0 {
		target = target[:end]
	}
	return target
}

// segments of /a/b: a, b; the last holds what is too deep.
func segments(path string) []string {
	return strings.SplitN(strings.TrimPrefix(path, "/"), "/", maxSegments)
}

// Add learns one request's path (or target; the query is ignored).
func (r *Routes) Add(target string) {
	r.built = false
	path := PathOf(target)
	if !strings.HasPrefix(path, "/") || r.match(path) != "" {
		return
	}
	parts := segments(path)
	n := r.root
	n.count++
	for i, s := range parts {
		n = n.child(s, i == len(parts)-1, r.numbers)
		n.count++
	}
}

func (n *node) child(s string, last bool, limit int) *node {
	if key := classKey(s, last); key != "" {
		c := n.classes[key]
		if c == nil {
			if n.classes == nil {
				n.classes = map[string]*seen{}
			}
			c = &seen{node: &node{}, first: s}
			n.classes[key] = c
		}
		if s != c.first && len(c.more) < limit && !slices.Contains(c.more, s) {
			c.more = append(c.more, s)
		}
		return c.node
	}
	child := n.words[s]
	if child != nil {
		return child
	}
	if n.words == nil {
		n.words = map[string]*node{}
	}
	if len(n.words) >= maxChildren {
		n.overflow = true
		_, ext := splitName(s)
		if !last {
			ext = ""
		}
		s = "\x00" + ext // all others, by extension
		if child = n.words[s]; child != nil {
			return child
		}
	}
	child = &node{}
	n.words[s] = child
	return child
}

// classKey is the class with the extension; only a path's last segment is a
// file's name.
func classKey(s string, last bool) string {
	if c := class(s); c != "" {
		return c
	}
	if last {
		if stem, ext := splitName(s); ext != "" {
			if c := class(stem); c != "" {
				return c + ext
			}
		}
	}
	return ""
}

// merge adds o's counts and children to n.
func (n *node) merge(o *node) {
	n.count += o.count
	n.overflow = n.overflow || o.overflow
	for _, s := range slices.Sorted(maps.Keys(o.words)) {
		if n.words == nil {
			n.words = map[string]*node{}
		}
		if n.words[s] == nil {
			n.words[s] = &node{}
		}
		n.words[s].merge(o.words[s])
	}
	for key, from := range o.classes {
		if n.classes == nil {
			n.classes = map[string]*seen{}
		}
		to := n.classes[key]
		if to == nil {
			to = &seen{node: &node{}, first: from.first}
			n.classes[key] = to
		}
		for _, s := range append([]string{from.first}, from.more...) {
			if s != to.first && !slices.Contains(to.more, s) {
				to.more = append(to.more, s)
			}
		}
		to.node.merge(from.node)
	}
}

// build decides at every place which words are slugs.
func (r *Routes) build() {
	r.collapse(r.root)
	r.built = true
	clear(r.known)
}

func (r *Routes) collapse(n *node) {
	groups := map[string][]string{} // words by extension; "/" those with more below
	for _, s := range slices.Sorted(maps.Keys(n.words)) {
		group := groupOf(s, n.words[s])
		groups[group] = append(groups[group], s)
	}
	deep := len(groups["/"]) > r.slugs || n.slug["/"] != nil
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		list := groups[group]
		// Where words with more below are slugs, those seen without are too.
		into := n.slug[group]
		if into == nil && len(list) <= r.slugs && !(n.overflow && group != "/") && !(deep && group == "") {
			continue
		}
		if n.slug == nil {
			n.slug = map[string]*node{}
		}
		if into == nil {
			into = &node{}
		}
		for _, s := range r.slugsAmong(n, list) {
			into.merge(n.words[s])
			delete(n.words, s)
		}
		n.slug[group] = into
	}
	if n.slug["/"] != nil && n.slug[""] != nil {
		n.slug["/"].merge(n.slug[""])
		delete(n.slug, "")
	}
	for _, c := range n.words {
		r.collapse(c)
	}
	for _, c := range n.slug {
		r.collapse(c)
	}
	for _, c := range n.classes {
		r.collapse(c.node)
	}
}

// groupOf: words with more below are alike, and files with one extension.
func groupOf(s string, n *node) string {
	if len(n.words)+len(n.classes)+len(n.slug) > 0 {
		return "/"
	}
	if s == "" {
		return "\x00" // the path that ends with /
	}
	_, ext := splitName(s)
	return ext
}

// slugsAmong leaves out plain words that stand out by their count.
func (r *Routes) slugsAmong(n *node, list []string) []string {
	total := int64(0)
	for _, s := range list {
		total += n.words[s].count
	}
	var out []string
	for _, s := range list {
		if isWord(s) && n.words[s].count*int64(len(list)) >= heavyWord*total {
			continue
		}
		out = append(out, s)
	}
	return out
}

// match finds the pattern that fits.
func (r *Routes) match(path string) string {
	if len(r.patterns) == 0 {
		return ""
	}
	parts := segments(path)
	for i := range r.patterns {
		p := &r.patterns[i]
		if p.open != (len(parts) > len(p.segments)) || len(parts) < len(p.segments) {
			continue
		}
		fits := true
		for j, s := range p.segments {
			fits = fits && (s == parts[j] || strings.HasPrefix(s, ":") && parts[j] != "")
		}
		if fits {
			return p.text
		}
	}
	return ""
}

// Route names a path's route. A path that was not added gets the name that
// its place has for others like it.
func (r *Routes) Route(target string) string {
	if !r.built {
		r.build()
	}
	path := PathOf(target)
	if route, ok := r.known[path]; ok {
		return route
	}
	route := path
	if strings.HasPrefix(path, "/") {
		if route = r.match(path); route == "" {
			route = r.walk(path)
		}
	}
	if len(r.known) < maxRemembered {
		r.known[strings.Clone(path)] = route
	}
	return route
}

func (r *Routes) walk(path string) string {
	out := r.scratch[:0]
	parts := segments(path)
	n := r.root
	for i, s := range parts {
		var name string
		name, n = r.step(n, s, i == len(parts)-1)
		out = append(append(out, '/'), name...)
	}
	r.scratch = out
	return string(out)
}

// step names one segment and goes on; n may be nil where nothing was learnt.
func (r *Routes) step(n *node, s string, last bool) (string, *node) {
	key := classKey(s, last)
	if n == nil {
		if key != "" {
			return key, nil
		}
		return s, nil
	}
	if key != "" {
		c := n.classes[key]
		if c == nil {
			return key, nil
		}
		if numbers := strings.HasPrefix(key, ":id") || strings.HasPrefix(key, ":date"); numbers && 1+len(c.more) < r.numbers && s == c.first {
			return s, c.node
		}
		return key, c.node
	}
	if c := n.words[s]; c != nil || s == "" {
		return s, c
	}
	ext := ""
	if last {
		_, ext = splitName(s)
	}
	if c := n.slug["/"]; c != nil && ext == "" {
		return ":slug", c
	}
	if c := n.slug[ext]; c != nil && (last || ext != "") {
		return ":slug" + ext, c
	}
	return s, nil
}
