package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// maxSampleBody is how much of a wrong answer is kept.
	maxSampleBody = 4 << 10
	// maxPerStep samples of one step and kind, so that one frequent failure
	// does not push out a rare one.
	maxPerStep = 4
	// maxText of requests and expectations in samples.
	maxText = 1 << 10
)

// samples keeps failed requests.
type samples struct {
	mu   sync.Mutex
	kept []Mismatch
	per  map[string]int
}

// failure says why an answer is wrong, or why there is none.
type failure struct{ expected, got string }

// add keeps a sample if there is room for its kind. describe is called only
// then.
func (s *samples) add(o outcome, session, step string, describe func() Mismatch) {
	key := o.String() + "\x00" + session + "\x00" + step
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.per == nil {
		s.per = map[string]int{}
	}
	if s.per[key] >= maxPerStep {
		return
	}
	if len(s.kept) >= MaxSamples {
		// A wrong answer is worth more than a missing one.
		last := slices.IndexFunc(s.kept, func(m Mismatch) bool { return m.Kind != mismatched.String() })
		if o != mismatched || last < 0 {
			return
		}
		s.kept = slices.Delete(s.kept, last, last+1)
	}
	s.per[key]++
	m := describe()
	m.At, m.Kind, m.Session, m.Step = time.Now(), o.String(), session, step
	s.kept = append(s.kept, m)
}

// sorted: wrong answers first, then by time.
func (s *samples) sorted() []Mismatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.kept, func(a, b Mismatch) int {
		if x, y := a.Kind == mismatched.String(), b.Kind == mismatched.String(); x != y {
			if x {
				return -1
			}
			return 1
		}
		return a.At.Compare(b.At)
	})
	return s.kept
}

// describe makes the sample of the request just done.
func (u *user) describe(f failure, method string, target []byte, body []byte) Mismatch {
	text := method + " " + string(target)
	if len(u.body) > 0 && method != "GET" && method != "HEAD" {
		text += " " + string(u.body[:min(len(u.body), maxText)])
	}
	if strings.HasPrefix(f.got, "status ") { // says nothing of what came instead
		if shown := excerpt(body[:min(len(body), maxSampleBody)], u.wire.res.contentType); shown != "" {
			f.got += ": " + quoteShort([]byte(shown))
		}
	}
	return Mismatch{Request: readable(maskSecrets(text), maxText), Expected: readable(maskSecrets(f.expected), maxText),
		Got: readable(maskSecrets(f.got), maxText), Body: readable(string(body[:min(len(body), maxSampleBody)]), maxSampleBody),
		Reference: readable(string(u.reference[:min(len(u.reference), maxSampleBody)]), maxSampleBody)}
}

// readable makes text of bytes that may not be, at most n bytes long.
func readable(s string, n int) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return shorten(s, n)
}

// Secrets are recognised by their name: pass, password, pwd, secret, token.
var (
	secretPair = regexp.MustCompile(`(?i)([\w.%\[\]-]*(?:pass|pwd|secret|token)[\w.%\[\]-]*=)[^&\s;"'<>]*`)
	secretJSON = regexp.MustCompile(`(?i)("[^"\\]*(?:pass|pwd|secret|token)[^"\\]*"\s*:\s*)("(?:[^"\\]|\\.)*"?|[^\s,}\]]+)`)
)

// maskSecrets hides the values of form fields, query parameters and JSON keys
// that are named like a secret.
func maskSecrets(s string) string {
	s = secretPair.ReplaceAllString(s, "${1}***")
	return secretJSON.ReplaceAllString(s, `${1}"***"`)
}

// Masked hides the values of what is named like a secret in a request's target
// or in an answer.
func Masked(s string) string { return maskSecrets(s) }

// quoteShort quotes a text for a message.
func quoteShort(b []byte) string {
	return fmt.Sprintf("%q", shorten(string(b[:min(len(b), 300)]), 200))
}
