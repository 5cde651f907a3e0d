package prove

import (
	"context"
	"slices"

	"kasoku/internal/load"
)

const (
	// varyAsks is how often a page that differs is asked for again: eight answers meet
	// most of the processes that an application has, each of which may give it in
	// an order of its own (keys of a hash, members of a set).
	varyAsks = 8
	// varyLeaves is the part of what is compared of a page that must still be compared
	// when the words that vary by themselves are left out; else the page is said to
	// differ: an application that fails now and then varies as well.
	varyLeaves = 0.9
)

// byItself reports whether a page differs from the book only where the service gives
// different answers to the same request even now: then it says nothing of what was
// changed. The server that stands deepest is asked, past what caches in front of it keep.
func (b *Blamer) byItself(ctx context.Context, book *Book, p *Page, v load.Visit, a load.Answer) bool {
	url := b.Opts.URL
	for _, s := range b.servers() { // the deepest comes last
		if _, _, err := b.replay(ctx, s.url, a.Request, nil); err == nil {
			url = s.url
		}
	}
	var now *Pattern
	for range varyAsks {
		visit, again, err := b.replay(ctx, url, a.Request, nil)
		if err != nil || visit.Status != v.Status || again.Opaque != "" {
			return false
		}
		body := hideTimes(again.Body, book.moments...)
		if now == nil {
			now = NewPattern(body)
			continue
		}
		now.Merge(body)
	}
	less := p.Body.without(now)
	if less == nil || less.Known() < varyLeaves*p.Body.Known() {
		return false
	}
	q := *p
	q.Body = less
	return q.differs(v, a) == ""
}

// drawn reports whether two answers, before and after a restart, are as recorded but for
// words in which they differ from each other, too.
func (p *Page) drawn(v load.Visit, before load.Answer, w load.Visit, after load.Answer) bool {
	if p.Body == nil || before.Opaque != "" || after.Opaque != "" {
		return false
	}
	both := NewPattern(before.Body)
	both.Merge(after.Body)
	less := p.Body.without(both)
	if less == nil || less.Known() < varyLeaves*p.Body.Known() {
		return false
	}
	q := *p
	q.Body = less
	return q.differs(v, before) == "" && q.differs(w, after) == ""
}

// without is the pattern with every word left out that varies in another one of as
// many lines; nil if they cannot be laid over each other, or nothing varies.
func (p *Pattern) without(other *Pattern) *Pattern {
	if p.Loose || other.Loose || p.Sum != "" || other.Sum != "" || len(p.Lines) != len(other.Lines) {
		return nil
	}
	out, varies := &Pattern{}, false
	for i, l := range p.Lines {
		if o := other.Lines[i]; o.Any || o.Words != nil {
			l, varies = l.without(o), true
		}
		out.Lines = append(out.Lines, l)
	}
	if !varies {
		return nil
	}
	return out
}

func (l Line) without(other Line) Line {
	own := slices.Clone(l.Words)
	if own == nil && !l.Any {
		own = words(l.Text)
	}
	if l.Any || other.Any || len(own) != len(other.Words) {
		return Line{Any: true}
	}
	for i, w := range other.Words {
		if w == "" {
			own[i] = ""
		}
	}
	return Line{Words: own}
}
