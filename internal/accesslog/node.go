package accesslog

import (
	"maps"
	"slices"
)

// node is a place in a path: what came after the segments before it.
type node struct {
	count    int64            // paths that pass or end here
	words    map[string]*node // by the segment
	classes  map[string]*seen // by class mark and extension, "\x01.jpg"
	overflow bool             // more words than are kept
	slug     map[string]*node // by extension, once built; "/" those with more below
}

// seen is a class at a place.
type seen struct {
	node   *node
	values []string // told apart, up to the limit
	many   bool     // a shape says that the values vary
}

func (n *node) child(s string, last bool, limit int) *node {
	key := classKey(s, last)
	switch {
	case key == "":
		return n.word(s, last)
	case key[0] == markSlug:
		into := key[1:]
		if !last {
			into = "/"
		}
		if n.slug == nil {
			n.slug = map[string]*node{}
		}
		if n.slug[into] == nil {
			n.slug[into] = &node{}
		}
		return n.slug[into]
	}
	c := n.classes[key]
	if c == nil {
		if n.classes == nil {
			n.classes = map[string]*seen{}
		}
		c = &seen{node: &node{}}
		n.classes[key] = c
	}
	c.see(s, limit)
	return c.node
}

// see notes a value, of which only the first few are told apart.
func (c *seen) see(s string, limit int) {
	c.many = c.many || s[0] < markEnd
	if !c.many && len(c.values) < limit && !slices.Contains(c.values, s) {
		c.values = append(c.values, s)
	}
}

// varies: the place holds more than its few values.
func (c *seen) varies(limit int) bool { return c.many || len(c.values) >= limit }

func (n *node) word(s string, last bool) *node {
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
	for ext, from := range o.slug {
		if n.slug == nil {
			n.slug = map[string]*node{}
		}
		if n.slug[ext] == nil {
			n.slug[ext] = &node{}
		}
		n.slug[ext].merge(from)
	}
	for key, from := range o.classes {
		if n.classes == nil {
			n.classes = map[string]*seen{}
		}
		to := n.classes[key]
		if to == nil {
			to = &seen{node: &node{}}
			n.classes[key] = to
		}
		to.many = to.many || from.many
		for _, s := range from.values {
			if !slices.Contains(to.values, s) {
				to.values = append(to.values, s)
			}
		}
		to.node.merge(from.node)
	}
}
