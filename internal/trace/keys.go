package trace

import (
	"regexp"
	"strings"
)

// keyNames knows which parts of keys vary.
type keyNames struct {
	// varies holds the masked beginnings of keys after which many different
	// names come.
	varies map[string]bool
}

// Different names at one place of keys from which on they are data. A program
// has few kinds of keys under one prefix, and some more kinds altogether.
const (
	manyNames  = 10
	manyStarts = 50
	maxNames   = 100_000 // beginnings remembered while learning
)

// learnKeys looks at all keys of the requests.
func learnKeys(requests []Request) *keyNames {
	k := &keyNames{varies: map[string]bool{}}
	seen := map[string]map[string]bool{}
	total := 0
	for i := range requests {
		for j := range requests[i].Calls {
			for _, key := range requests[i].Calls[j].Keys {
				prefix := ""
				for part, rest := nextPart(key); part != ""; part, rest = nextPart(rest) {
					masked := maskPart(part)
					names := seen[prefix]
					if names == nil {
						names = map[string]bool{}
						seen[prefix] = names
					}
					if total < maxNames && !names[masked] {
						names[masked] = true
						total++
					}
					limit := manyNames
					if prefix == "" {
						limit = manyStarts
					}
					if len(names) >= limit {
						k.varies[prefix] = true
					}
					prefix += masked
				}
			}
		}
	}
	return k
}

// nextPart cuts a key after its first run of separators.
func nextPart(key string) (part, rest string) {
	const separators = ":/._-|,;=# "
	i := 0
	for i < len(key) && !strings.ContainsRune(separators, rune(key[i])) {
		i++
	}
	for i < len(key) && strings.ContainsRune(separators, rune(key[i])) {
		i++
	}
	return key[:i], key[i:]
}

var (
	reKeyWord   = regexp.MustCompile(`^[A-Za-z]{1,20}[:/._|,;=# -]*$`)
	reMixed     = regexp.MustCompile(`[a-z][A-Z][A-Z]|[A-Z][a-z][A-Z][a-z][A-Z]`)
	reKeyDigits = regexp.MustCompile(`[0-9]+`)
	reKeyEnd    = regexp.MustCompile(`[:/._|,;=# -]*$`)
	reHexWord   = regexp.MustCompile(`^(?i:[a-f]{6,})[:/._|,;=# -]*$`)
	reVersioned = regexp.MustCompile(`^[A-Za-z]{1,20}[0-9]{1,3}[:/._|,;=# -]*$`)
	reStars     = regexp.MustCompile(`\*(?:[-._]?\*)+`)
)

// maskPart keeps what looks like a word of the program: letters only, or with
// a short number, which becomes *. Everything else is data.
func maskPart(part string) string {
	switch {
	case reHexWord.MatchString(part) || reMixed.MatchString(part):
	case reKeyWord.MatchString(part):
		return part
	case reVersioned.MatchString(part):
		return reKeyDigits.ReplaceAllString(part, "*")
	}
	if end := reKeyEnd.FindString(part); len(end) < len(part) {
		return "*" + end
	}
	return part
}

// mask replaces the variable parts of a key by *.
func (k *keyNames) mask(key string) string {
	var b strings.Builder
	prefix := ""
	for part, rest := nextPart(key); part != ""; part, rest = nextPart(rest) {
		masked := maskPart(part)
		if k.varies[prefix] {
			b.WriteString("*" + reKeyEnd.FindString(part))
		} else {
			b.WriteString(masked)
		}
		prefix += masked
		if b.Len() > maxKey {
			b.WriteString("*")
			break
		}
	}
	return reStars.ReplaceAllString(b.String(), "*")
}

// maxKey is how much of a masked key is shown.
const maxKey = 120

// command masks a cache command: its name, and the form of its first key.
func (k *keyNames) command(text string, keys []string) (verb, what string) {
	verb, _, _ = strings.Cut(text, " ")
	if !reKeyWord.MatchString(verb) {
		verb = "command"
	}
	what = verb
	if len(keys) > 0 {
		what += " " + k.mask(keys[0])
	}
	if len(keys) > 1 {
		what += " …"
	}
	return strings.ToLower(verb), what
}

// target masks what an HTTP call went to.
func (k *keyNames) target(text string) string {
	text, _, _ = strings.Cut(text, "?")
	method, path, ok := strings.Cut(text, " ")
	if !ok {
		return k.mask(text)
	}
	return k.mask(method) + " " + k.mask(path)
}
