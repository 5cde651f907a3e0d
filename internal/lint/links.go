package main

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// texts are the files of the repository that hold text, by their path from its
// root with slashes.
type texts map[string][]byte

var (
	// linkForm is a link or a picture of Markdown; its first group is the target.
	linkForm = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// pageForm is a page of docs/ as code, help and comments name it.
	pageForm = regexp.MustCompile(`\bdocs/[A-Za-z0-9_./-]*\.(?:md|json|svg|png)(?:#[a-z0-9-]+)?`)
	// headingForm is a heading of Markdown; its first group is the text.
	headingForm = regexp.MustCompile(`^#{1,6} +(.*?)( +#+)? *$`)
	inlineCode  = regexp.MustCompile("`[^`]*`")
)

// checkLinks finds links of Markdown files that lead nowhere, to a file or to a
// heading that is not there, and pages of docs/ that any text names and that are
// not there. Addresses of other hosts are not looked at.
func checkLinks(files texts) []problem {
	there := folders(files)
	headings := map[string]map[string]bool{}
	hasHeading := func(page, anchor string) bool {
		if headings[page] == nil {
			headings[page] = anchors(files[page])
		}
		return headings[page][anchor]
	}
	wrong := func(page, anchor string) string {
		switch {
		case !there[page]:
			return "is not there"
		case anchor != "" && strings.HasSuffix(page, ".md") && !hasHeading(page, anchor):
			return "has no heading with the anchor #" + anchor
		}
		return ""
	}
	var out []problem
	for file, data := range files {
		if strings.HasSuffix(file, ".md") {
			for _, l := range links(data) {
				page, anchor := resolve(file, l.target)
				if why := wrong(page, anchor); why != "" {
					out = append(out, problem{file: file, line: l.line, text: fmt.Sprintf("the link to %s: %s %s", l.target, page, why)})
				}
			}
		}
		if strings.HasPrefix(file, "internal/lint/") {
			continue // its tests name pages of repositories that they make
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			for _, m := range pageForm.FindAll(line, -1) {
				page, anchor, _ := strings.Cut(string(m), "#")
				if why := wrong(page, anchor); why != "" {
					out = append(out, problem{file: file, line: i + 1, text: page + " " + why})
				}
			}
		}
	}
	return out
}

// folders is the set of files and of the folders that they are in.
func folders(files texts) map[string]bool {
	out := map[string]bool{".": true}
	for f := range files {
		for ; f != "."; f = path.Dir(f) {
			out[f] = true
		}
	}
	return out
}

// link is one of a page, with the line it stands on.
type link struct {
	target string
	line   int
}

// links are those of a page that lead into the repository, but for those in
// examples: in fences and in code.
func links(data []byte) []link {
	var out []link
	outside(data, func(n int, line string) {
		for _, m := range linkForm.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, ""), -1) {
			if u, err := url.Parse(m[1]); err == nil && u.Scheme == "" && u.Host == "" {
				out = append(out, link{m[1], n})
			}
		}
	})
	return out
}

// outside calls f with the number and the text of each line that is in no fence.
func outside(data []byte, f func(n int, line string)) {
	fence := ""
	for i, line := range strings.Split(string(data), "\n") {
		switch mark := strings.TrimSpace(line); {
		case fence != "":
			if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		case strings.HasPrefix(mark, "```"), strings.HasPrefix(mark, "~~~"):
			fence = mark[:3]
		default:
			f(i+1, line)
		}
	}
}

// resolve is the file that a link on a page leads to, from the root, and its anchor.
func resolve(file, target string) (page, anchor string) {
	page, anchor, _ = strings.Cut(target, "#")
	if page == "" {
		return file, anchor
	}
	return path.Join(path.Dir(file), page), anchor
}

// anchors are those of a page's headings, as GitHub makes them: lower case,
// letters, digits, - and _, and - for a space; a second one of the same text
// ends with -1.
func anchors(data []byte) map[string]bool {
	out := map[string]bool{}
	outside(data, func(_ int, line string) {
		m := headingForm.FindStringSubmatch(line)
		if m == nil {
			return
		}
		a := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, linkText.ReplaceAllString(m[1], "$1"))
		for i, one := 1, a; ; i, a = i+1, fmt.Sprintf("%s-%d", one, i) {
			if !out[a] {
				out[a] = true
				return
			}
		}
	})
	return out
}

// linkText is a link in a heading, of which the text counts.
var linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
