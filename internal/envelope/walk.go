package envelope

import (
	"errors"
	"io"
)

// walk takes a value of JSON byte by byte, without its blanks.
type walk struct {
	s     *records
	lists map[string]bool // keys of lists of entries
	open  []level
	own   bool // it is an entry by its keys
	drop  bool // it was an outer object: its entries are taken, the rest is not
}

// level is an object or list that is open.
type level struct {
	object bool
	outer  bool // all keys on the way to it are those of lists
	key    bool // a key is to come
	listed bool // the value to come is under such a key
}

// cut gives out what is there of a value without an end.
func (w *walk) cut(err error) error {
	if !w.drop && (errors.Is(err, errCut) || errors.Is(err, io.ErrUnexpectedEOF)) {
		if eachErr := w.s.each(w.s.buf); eachErr != nil {
			return eachErr
		}
	}
	return err
}

func (w *walk) do() error {
	for len(w.open) > 0 {
		c, err := w.s.byte()
		if err != nil {
			return unexpected(err)
		}
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		if err := w.take(c); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) take(c byte) error {
	top := &w.open[len(w.open)-1]
	if c == '[' && w.entries(top) {
		return w.outer()
	}
	if !w.drop {
		if err := w.s.put(c); err != nil {
			return err
		}
	}
	switch c {
	case '"':
		from := len(w.s.buf)
		// A key is needed to tell lists, also of what is dropped: it is taken off again.
		isKey := top.object && top.key
		if err := w.s.text(w.drop && !isKey); err != nil {
			return err
		}
		if isKey {
			w.named(top, string(w.s.buf[from:max(from, len(w.s.buf)-1)]))
		}
		if w.drop {
			w.s.buf = w.s.buf[:0]
		}
	case ',':
		top.key = top.object
	case '{', '[':
		if len(w.open) >= mostNested {
			return errNested
		}
		w.open = append(w.open, level{object: c == '{', key: c == '{', outer: c == '{' && top.listed})
		top.listed = false
	case '}', ']':
		w.open = w.open[:len(w.open)-1]
	}
	return nil
}

// named notes a key.
func (w *walk) named(top *level, key string) {
	top.key = false
	top.listed = top.outer && w.lists[key]
	w.own = w.own || len(w.open) == 1 && ownKeys[key]
}

// entries: the list that opens here is one of entries.
func (w *walk) entries(top *level) bool {
	if !top.object || !top.listed || w.own {
		return false
	}
	for {
		c, err := w.s.byte()
		if err != nil {
			return false
		}
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		w.s.back()
		return c == '{' || c == '['
	}
}

// outer goes through a list of entries; what stands beside it is none.
func (w *walk) outer() error {
	w.drop = true
	err := w.s.list()
	w.s.buf = w.s.buf[:0]
	return err
}
