package knownapp

import (
	"fmt"
	"io"
	"strings"
)

const head = `# Known applications

For whoever runs one of these applications and wants to know which of its settings Kasoku looks at.

Made from the table in ` + "`internal/knownapp`" + ` by ` + "`go generate ./internal/knownapp`" + `; do not edit.

` + "`kasoku init`" + ` tells these applications by files in their folders, and then takes
only the files listed here as their settings. A diagnosis looks whether a setting
is not as documented for production. Settings with a remedy are changed, measured and
kept or put back like everything else, if ` + "`regulation.application_settings`" + ` permits it; a
setting without one is told, with its source, and tried by hand:

    kasoku try --patch cache.diff

What is proposed is what the application's own documentation says. Whether it pays
here, only the experiment tells. Settings that another file includes, or that the
environment sets, are not seen.

A sign is looked for in the text of the file named, without comments; it does not
run it. The remedies of MediaWiki read and edit LocalSettings.php with an editor that
knows PHP, and refuse what is set in a block, in parts, by reference, or before an
include that may set it again.
`

// WriteDocument writes docs/reference/applications.md.
func WriteDocument(w io.Writer) error {
	var b strings.Builder
	b.WriteString(head)
	for _, a := range Applications {
		writeApplication(&b, &a)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeApplication(b *strings.Builder, a *Application) {
	fmt.Fprintf(b, "\n## %s\n\n", a.Name)
	var marks []string
	for _, m := range a.Marks {
		text := code(m.Files, " or ")
		if m.Holds != "" {
			text += " with `" + m.Holds + "`"
		}
		marks = append(marks, text)
	}
	fmt.Fprintf(b, "- told by: %s\n- settings: %s\n", strings.Join(marks, "; "), code(a.Settings, ", "))
	if len(a.CacheTables) > 0 {
		fmt.Fprintf(b, "- tables that are caches: %s\n", code(a.CacheTables, ", "))
	}
	if p := a.Preload; p != nil {
		fmt.Fprintf(b, "- classes that PHP may load when it starts: `%s`, if `%s` is there; remedy: [php.preload](catalogue/php.md#phppreload); source: %s\n", p.File, p.Needs, p.Source)
	}
	for _, area := range Areas {
		for _, k := range a.Knobs {
			if k.Area != area {
				continue
			}
			writeKnob(b, &k)
		}
	}
}

func writeKnob(b *strings.Builder, k *Knob) {
	fmt.Fprintf(b, "\n### %s (%s)\n\n%s\n\n- in: `%s`; by default: %s\n- proposed: %s\n", k.Name, k.Area, k.Why, k.In, k.Default, k.Propose)
	if k.Trade != "" {
		fmt.Fprintf(b, "- trades: %s\n", k.Trade)
	}
	if k.Front != Any {
		fmt.Fprintf(b, "- for: an application %s\n", k.Front)
	}
	if k.Note != "" {
		fmt.Fprintf(b, "- mind: %s\n", k.Note)
	}
	if k.Remedy != "" {
		fmt.Fprintf(b, "- remedy: [%s](catalogue/%s.md#%s)\n", k.Remedy, family(k.Remedy), strings.ReplaceAll(k.Remedy, ".", ""))
	}
	fmt.Fprintf(b, "- called for if: %s\n- source: %s\n", k.Sign.words(), k.Source)
}

func (s Sign) words() string {
	files := code(s.Files, " or ")
	switch {
	case s.Absent:
		return files + " is not there"
	case s.Holds != "" && s.Lacks != "":
		return fmt.Sprintf("%s matches `%s` and not `%s`", files, s.Holds, s.Lacks)
	case s.Holds != "":
		return fmt.Sprintf("%s matches `%s`", files, s.Holds)
	}
	return fmt.Sprintf("%s does not match `%s`", files, s.Lacks)
}

// code lists paths; those of a package's folder three levels down are written whole.
func code(all []string, joint string) string {
	return strings.ReplaceAll("`"+strings.Join(all, "`"+joint+"`")+"`", "`../../../", "`/")
}

// family is what a remedy's ID begins with, and the name of its page.
func family(remedy string) string {
	name, _, _ := strings.Cut(remedy, ".")
	return name
}
