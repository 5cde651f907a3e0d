package stack

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path"
	"strings"
)

// supervisorSection is one section of supervisord's configuration.
type supervisorSection struct {
	kind, name string // "program", "web"
	keys       map[string]string
}

// supervisorDefaults are where supervisorctl looks without -c, besides the
// folder that it is called in (supervisor's manual, "Configuration File").
var supervisorDefaults = []string{"/etc/supervisord.conf", "/etc/supervisor/supervisord.conf"}

// supervisorSections reads supervisord's configuration with the files that it
// includes; nil if it cannot be read.
func (c *Controller) supervisorSections(ctx context.Context) []supervisorSection {
	file, err := c.supervisorConfig(ctx)
	if err != nil {
		return nil
	}
	data, err := c.h.ReadFile(ctx, file)
	if err != nil {
		return nil
	}
	all := parseSupervisorConf(bytes.NewReader(data))
	for _, s := range all {
		if s.kind != "include" {
			continue
		}
		for pattern := range strings.FieldsSeq(s.keys["files"]) {
			if !path.IsAbs(pattern) {
				pattern = path.Join(path.Dir(file), pattern)
			}
			found, err := hostGlob(ctx, c.h)(pattern)
			if err != nil {
				continue
			}
			for _, f := range found {
				if data, err := c.h.ReadFile(ctx, f); err == nil {
					all = append(all, parseSupervisorConf(bytes.NewReader(data))...)
				}
			}
		}
	}
	return all
}

// supervisorConfig is the file that supervisorctl reads.
func (c *Controller) supervisorConfig(ctx context.Context) (string, error) {
	if f := c.svc.Control.Config; f != "" {
		return f, nil
	}
	for _, f := range supervisorDefaults {
		if exists(ctx, c.h, f) {
			return f, nil
		}
	}
	return "", errNoSupervisorConfig
}

// parseSupervisorConf reads the sections of one file as Python's configparser
// does for supervisord: " ;" begins a comment, a line that begins with a blank
// goes on with the value before it. Expansions (%(…)s) stay as written.
func parseSupervisorConf(r io.Reader) []supervisorSection {
	var out []supervisorSection
	last := ""
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		raw := lines.Text()
		text := strings.TrimSpace(raw)
		if text == "" || strings.HasPrefix(text, ";") || strings.HasPrefix(raw, "#") {
			continue
		}
		if before, _, ok := strings.Cut(text, " ;"); ok {
			text = strings.TrimSpace(before)
		}
		if strings.HasPrefix(raw, "[") {
			kind, name, _ := strings.Cut(strings.Trim(text, "[]"), ":")
			out = append(out, supervisorSection{kind: kind, name: name, keys: map[string]string{}})
			last = ""
			continue
		}
		if len(out) == 0 {
			continue
		}
		keys := out[len(out)-1].keys
		if (raw[0] == ' ' || raw[0] == '\t') && last != "" {
			keys[last] += " " + text
			continue
		}
		if i := strings.IndexAny(text, "=:"); i > 0 {
			last = strings.ToLower(strings.TrimSpace(text[:i]))
			keys[last] = strings.TrimSpace(text[i+1:])
		}
	}
	return out
}
