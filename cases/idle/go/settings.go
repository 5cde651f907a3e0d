package main

import (
	"fmt"
	"os"
	"strings"
)

// settings are what config/app.ini says. IDLE_DSN and IDLE_LISTEN in the
// environment win over the file.
type settings struct {
	dsn    string // in go-sql-driver's form
	listen string // "127.0.0.1:8080" or "unix:/path"
}

func loadSettings(path string) (settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return settings{}, fmt.Errorf("settings: %w", err)
	}
	values := parseINI(string(text))
	s := settings{dsn: values["database.dsn"], listen: values["server.listen"]}
	if v := os.Getenv("IDLE_DSN"); v != "" {
		s.dsn = v
	}
	if v := os.Getenv("IDLE_LISTEN"); v != "" {
		s.listen = v
	}
	if s.dsn == "" || s.listen == "" {
		return settings{}, fmt.Errorf("%s: database.dsn and server.listen must be set", path)
	}
	return s, nil
}

// parseINI reads key = "value" lines into section.key; comments begin with ;.
func parseINI(text string) map[string]string {
	values := map[string]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == ';' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		values[section+"."+strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), `"`)
	}
	return values
}
