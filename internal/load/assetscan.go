package load

import "bytes"

const (
	// maxFound assets of one page with its style sheets; the median page of
	// the HTTP Archive has about 70 requests.
	maxFound = 200
	// maxScanned bytes of a page or style sheet: larger ones are no hand-made
	// pages, and a loop must not stand still for them.
	maxScanned = 4 << 20
	// maxCandidates looked at in one page, also those seen before.
	maxCandidates = 5000
)

// isPage reports whether a Content-Type is that of a page to look for assets in.
func isPage(contentType []byte) bool {
	return isType(contentType, "text/html") || isType(contentType, "application/xhtml+xml")
}

// isStyle reports whether a Content-Type is that of a style sheet.
func isStyle(contentType []byte) bool { return isType(contentType, "text/css") }

func isType(contentType []byte, want string) bool {
	name, _ := cutByte(contentType, ';')
	return foldEqual(trim(name), want)
}

// assetScan looks for assets. It keeps its memory from page to page.
type assetScan struct {
	found     [][]byte
	foreign   int // links to other origins, which are not fetched
	looked    int // candidates
	link      linker
	decoded   []byte // an attribute's value without entities
	escaped   []byte // a style sheet's text without escapes
	inPicture bool
	chosen    bool // the picture has a source that is taken
	inMedia   bool // within video or audio
}

func (s *assetScan) begin(base []byte, inside func([]byte) ([]byte, bool)) {
	s.foreign, s.looked = 0, 0
	base, _ = cutByte(base, '#')
	s.link.base, s.link.foreign, s.link.inside = appendLink(s.link.base[:0], base, ""), false, inside
	s.inPicture, s.chosen, s.inMedia = false, false, false
}

// full: no more is looked for.
func (s *assetScan) full() bool { return len(s.found) >= maxFound || s.looked >= maxCandidates }

// add takes one link.
func (s *assetScan) add(link []byte) {
	if s.full() {
		return
	}
	s.looked++
	switch kind, target := s.link.resolve(link); kind {
	case ownLink:
		s.found = appendTargetOnce(s.found, target)
	case foreignLink:
		s.foreign++
	}
}

// appendTargetOnce copies a target into the list, into the memory that lies
// there from before.
func appendTargetOnce(list [][]byte, target []byte) [][]byte {
	for _, t := range list {
		if bytes.Equal(t, target) {
			return list
		}
	}
	if n := len(list); n < cap(list) {
		list = list[:n+1]
	} else {
		list = append(list, nil)
	}
	last := &list[len(list)-1]
	*last = append((*last)[:0], target...)
	return list
}

// page goes through HTML as a browser's preload scanner does: tag by tag,
// without a tree.
func (s *assetScan) page(page []byte) {
	page = page[:min(len(page), maxScanned)]
	based := false
	for i := 0; !s.full(); {
		at := bytes.IndexByte(page[i:], '<')
		if at < 0 || i+at+1 >= len(page) {
			return
		}
		i += at + 1
		switch c := page[i]; {
		case c == '!':
			i = afterDeclaration(page, i)
		case c == '/':
			name, after := tagName(page, i+1)
			s.close(name)
			i = afterTag(page, after)
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			name, after := tagName(page, i)
			kind := kindOfTag(name)
			if kind == tagOther {
				if i = afterPlainTag(page, after); i >= 0 {
					continue
				}
			}
			var tag tagValues
			if i = tag.read(page, after); i < 0 {
				return // the page ends within the tag
			}
			if kind == tagBase && !based && tag.href != nil {
				s.link.setBase(s.unescape(tag.href))
				based = true // only the first one counts
			}
			s.open(kind, &tag)
			if i = s.rawText(page, i, name, kind); i < 0 {
				return
			}
		}
	}
}

// tagKind of the elements that matter.
type tagKind uint8

const (
	tagOther tagKind = iota
	tagBase
	tagImg
	tagInput
	tagLink
	tagMedia // video, audio
	tagPicture
	tagRaw // its content is text
	tagScript
	tagSource
	tagStyle
)

// tagNames in lower case. Within noscript a browser that runs scripts looks
// for nothing, and what template holds is not shown.
var tagNames = map[string]tagKind{"base": tagBase, "img": tagImg, "input": tagInput, "link": tagLink, "video": tagMedia, "audio": tagMedia,
	"picture": tagPicture, "script": tagScript, "source": tagSource, "style": tagStyle,
	"noscript": tagRaw, "template": tagRaw, "textarea": tagRaw, "title": tagRaw, "iframe": tagRaw, "xmp": tagRaw, "noembed": tagRaw, "noframes": tagRaw}

func kindOfTag(name []byte) tagKind {
	var buf [12]byte
	if len(name) < 3 || len(name) > len(buf) || lower(name[0]) == 'd' { // most tags are div, p, a, li or td
		return tagOther
	}
	for i, c := range name {
		buf[i] = lower(c)
	}
	return tagNames[string(buf[:len(name)])]
}

func (s *assetScan) close(name []byte) {
	switch kindOfTag(name) {
	case tagPicture:
		s.inPicture = false
	case tagMedia:
		s.inMedia = false
	}
}

// open takes what a tag refers to.
func (s *assetScan) open(kind tagKind, tag *tagValues) {
	if tag.style != nil && bytes.IndexByte(tag.style, '(') >= 0 {
		s.sheet(s.unescape(tag.style))
	}
	switch kind {
	case tagLink:
		if tag.href != nil && !tag.disabled && fetchedRel(tag.rel) {
			s.add(s.unescape(tag.href))
		}
	case tagScript:
		if tag.src != nil && !tag.nomodule && isScript(trim(tag.typ)) {
			s.add(s.unescape(tag.src))
		}
	case tagImg:
		if !s.inPicture || !s.chosen {
			s.image(tag)
		}
	case tagPicture:
		s.inPicture, s.chosen = true, false
	case tagSource:
		s.source(tag)
	case tagMedia:
		s.media(tag)
	case tagInput:
		if foldEqual(trim(tag.typ), "image") && tag.src != nil {
			s.add(s.unescape(tag.src))
		}
	}
}

// image takes one of an image's candidates: of widths (480w) the first, else
// src, which is the candidate for a screen of normal density.
func (s *assetScan) image(tag *tagValues) {
	if tag.srcset != nil {
		link, widths := firstCandidate(s.unescape(tag.srcset))
		if len(link) > 0 && (widths || tag.src == nil) {
			s.add(link)
			return
		}
	}
	if tag.src != nil {
		s.add(s.unescape(tag.src))
	}
}

// source: in a picture the first one without media is taken instead of the
// image; in video and audio the first one.
func (s *assetScan) source(tag *tagValues) {
	switch {
	case s.chosen:
	case s.inPicture && tag.srcset != nil && tag.media == nil:
		if link, _ := firstCandidate(s.unescape(tag.srcset)); len(link) > 0 {
			s.chosen = true
			s.add(link)
		}
	case s.inMedia && tag.src != nil:
		s.chosen = true
		s.add(s.unescape(tag.src))
	}
}

func (s *assetScan) media(tag *tagValues) {
	if tag.poster != nil {
		s.add(s.unescape(tag.poster))
	}
	silent := foldEqual(trim(tag.preload), "none")
	if tag.src != nil && !silent {
		s.add(s.unescape(tag.src))
	}
	s.inMedia, s.chosen = true, tag.src != nil || silent
}

// rawText skips what follows a tag if it is no HTML; -1 at the page's end.
func (s *assetScan) rawText(page []byte, i int, name []byte, kind tagKind) int {
	switch kind {
	case tagRaw, tagScript, tagStyle:
	default:
		return i
	}
	end := closingTag(page, i, name)
	text := page[i:]
	if end >= 0 {
		text = page[i:end]
	}
	if kind == tagStyle {
		s.sheet(text)
	}
	return end
}

// fetchedRel: one of a link's relations is fetched with the page.
func fetchedRel(rel []byte) bool {
	for len(rel) > 0 {
		end := bytes.IndexAny(rel, " \t\r\n\f")
		if end < 0 {
			end = len(rel)
		}
		switch word := rel[:end]; {
		case foldEqual(word, "stylesheet"), foldEqual(word, "icon"), foldEqual(word, "preload"), foldEqual(word, "modulepreload"):
			return true
		}
		rel = rel[min(end+1, len(rel)):]
	}
	return false
}

// isScript: a script of another type is data, which is not fetched.
func isScript(typ []byte) bool {
	if len(typ) == 0 || foldEqual(typ, "module") {
		return true
	}
	for _, known := range []string{"text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "application/ecmascript"} {
		if foldEqual(typ, known) {
			return true
		}
	}
	return false
}

// firstCandidate of a srcset, and whether it has widths.
func firstCandidate(srcset []byte) (link []byte, widths bool) {
	for len(srcset) > 0 && (isSpace(srcset[0]) || srcset[0] == ',') {
		srcset = srcset[1:]
	}
	end := 0
	for end < len(srcset) && !isSpace(srcset[end]) {
		end++
	}
	link = srcset[:end]
	if bare := bytes.TrimRight(link, ","); len(bare) < len(link) {
		return bare, false
	}
	rest, _ := cutByte(srcset[end:], ',')
	rest = bytes.TrimSpace(rest)
	return link, len(rest) > 0 && rest[len(rest)-1] == 'w'
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
