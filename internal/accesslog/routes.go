package accesslog

import (
	"maps"
	"slices"
	"strings"
)

// RouteOptions say how Routes learns. The zero value has the defaults.
type RouteOptions struct {
	// Patterns come before what is learnt; the first that fits names the
	// route. "/users/:name/posts/*": a segment that begins with : stands for
	// one segment, a * at the end for all that follow. A text that begins with
	// ^ is a regular expression over the path without query, as alp's -m takes
	// them: "^/users/\\d+$".
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
// each; what is added later counts from the next Route on. The same paths give
// the same routes, whatever their order, as long as no place has more than
// 2,000 different words. Paths may be shapes (AppendShape).
type Routes struct {
	patterns []pattern
	slugs    int
	numbers  int
	root     *node
	built    bool
	known    map[string]string
	scratch  []byte
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
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		r.patterns = append(r.patterns, p)
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
func (r *Routes) Add(target string) { r.AddCount(target, 1) }

// AddCount learns a path that n requests had.
func (r *Routes) AddCount(target string, n int64) {
	r.built = false
	path := PathOf(target)
	if !strings.HasPrefix(path, "/") || r.match(path) != "" {
		return
	}
	parts := segments(path)
	at := r.root
	at.count += n
	for i, s := range parts {
		at = at.child(s, i == len(parts)-1, r.numbers)
		at.count += n
	}
}

// build decides at every place which words are slugs.
func (r *Routes) build() {
	r.collapse(r.root)
	r.built = true
	clear(r.known)
}

func (r *Routes) collapse(n *node) {
	n.joinHashes()
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

// joinHashes puts random texts that look like words to the hashes among which
// they are.
func (n *node) joinHashes() {
	hashes := n.classes[hashMark]
	if hashes == nil {
		return
	}
	for _, s := range slices.Sorted(maps.Keys(n.words)) {
		if mayBeRandom(s) && n.words[s].count*heavyWord < hashes.node.count {
			hashes.node.merge(n.words[s])
			delete(n.words, s)
		}
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
			route = r.walk(path, false)
		}
	}
	if len(r.known) < maxRemembered {
		r.known[strings.Clone(path)] = route
	}
	return route
}

// Generalize returns the shape of a path with what was learnt: words that are
// slugs and numbers that vary are marks. Patterns do not count.
func (r *Routes) Generalize(path string) string {
	if !r.built {
		r.build()
	}
	return r.walk(path, true)
}

// walk names the segments one by one; as marks if shape.
func (r *Routes) walk(path string, shape bool) string {
	out := r.scratch[:0]
	parts := segments(path)
	n := r.root
	for i, s := range parts {
		var name string
		name, n = r.step(n, s, i == len(parts)-1)
		out = append(out, '/')
		if name != "" && name[0] < markEnd && !shape {
			out, name = append(out, markNames[name[0]]...), name[1:]
		}
		out = append(out, name...)
	}
	r.scratch = out
	return string(out)
}

// step names one segment, by its mark if it varies, and goes on; n may be nil
// where nothing was learnt.
func (r *Routes) step(n *node, s string, last bool) (string, *node) {
	key := classKey(s, last)
	if n == nil {
		if key != "" {
			return key, nil
		}
		return s, nil
	}
	ext := ""
	if last {
		_, ext = splitName(s)
	}
	switch {
	case key == "":
		if c := n.words[s]; c != nil || s == "" {
			return s, c
		}
		if c := n.classes[hashMark]; c != nil && mayBeRandom(s) {
			return hashMark, c.node
		}
	case key[0] == markSlug:
		ext = key[1:]
	default:
		c := n.classes[key]
		if c == nil {
			return key, nil
		}
		if isCounted(key[0]) && !c.varies(r.numbers) && slices.Contains(c.values, s) {
			return s, c.node
		}
		return key, c.node
	}
	if c := n.slug["/"]; c != nil && ext == "" {
		return slugMark, c
	}
	if c := n.slug[ext]; c != nil && (last || ext != "") {
		return slugMark + ext, c
	}
	if key != "" {
		return key, nil
	}
	return s, nil
}
