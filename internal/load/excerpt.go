package load

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// maxExcerpt is how much of a wrong answer a message quotes, in bytes.
const maxExcerpt = 120

// excerpt is what a visitor would read first in an answer: the title of a page, else the
// beginning of its text. It is "" for what is no text.
func excerpt(body []byte, contentType []byte) string {
	kind := strings.ToLower(string(contentType))
	if kind != "" && !strings.Contains(kind, "text") && !strings.Contains(kind, "json") && !strings.Contains(kind, "xml") {
		return ""
	}
	if !strings.Contains(kind, "html") {
		return shorten(strings.Join(strings.Fields(string(body)), " "), maxExcerpt)
	}
	var words []string
	length, hidden := 0, ""
	z := html.NewTokenizer(bytes.NewReader(body))
	for length < maxExcerpt {
		switch z.Next() {
		case html.ErrorToken:
			return shorten(strings.Join(words, " "), maxExcerpt)
		case html.StartTagToken:
			if tag, _ := z.TagName(); unread[string(tag)] || string(tag) == "title" {
				hidden = string(tag)
			}
		case html.EndTagToken:
			hidden = ""
		case html.TextToken:
			text := strings.Fields(string(z.Text()))
			if hidden == "title" && len(text) > 0 {
				return shorten("title "+strings.Join(text, " "), maxExcerpt)
			}
			if hidden == "" {
				words = append(words, text...)
				length += len(strings.Join(text, " "))
			}
		}
	}
	return shorten(strings.Join(words, " "), maxExcerpt)
}

// unread are elements whose text is not shown.
var unread = map[string]bool{"script": true, "style": true, "noscript": true, "template": true}
