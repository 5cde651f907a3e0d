package report

import (
	"fmt"
	"path"
	"strings"
	"time"

	"kasoku/internal/change"
)

// seriesDir holds the kept commits of source as mails that git am takes.
const seriesDir = "series"

// series writes the commit of a patch as git format-patch does, in the order in which
// they were kept.
func (x *exporter) series(g *change.Git, diff []byte) error {
	subject, body, _ := strings.Cut(g.Message, "\n")
	if subject == "" {
		subject = "Change under test by Kasoku"
	}
	x.mails++
	text := fmt.Sprintf("From %s Mon Sep 17 00:00:00 2001\nFrom: Kasoku <kasoku@localhost>\nDate: %s\nSubject: [PATCH] %s\n\n%s\n---\n\n%s",
		g.After, g.When.Format(time.RFC1123Z), subject, strings.TrimSpace(body), diff)
	return x.write(path.Join(seriesDir, fmt.Sprintf("%04d-%s.patch", x.mails, slug(subject))), text, 0o644)
}

// slug is a subject as git format-patch names files.
func slug(subject string) string {
	words := strings.FieldsFunc(subject, func(r rune) bool {
		return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	out := strings.Join(words, "-")
	return strings.Trim(out[:min(len(out), 52)], "-.")
}
