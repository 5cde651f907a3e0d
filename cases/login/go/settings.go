package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// settings are what config/app.ini says. LOGIN_DSN and LOGIN_LISTEN in the
// environment win over the file.
type settings struct {
	dsn               string // in go-sql-driver's form
	listen            string // "127.0.0.1:8080" or "unix:/path"
	userLockThreshold int    // failures
	ipBanThreshold    int    // failures
}

func loadSettings(path string) (settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return settings{}, fmt.Errorf("settings: %w", err)
	}
	values := parseINI(string(text))
	s := settings{
		dsn:    first(os.Getenv("LOGIN_DSN"), values["database.dsn"]),
		listen: first(os.Getenv("LOGIN_LISTEN"), values["server.listen"]),
	}
	if s.dsn == "" || s.listen == "" {
		return settings{}, fmt.Errorf("%s: database.dsn and server.listen must be set", path)
	}
	if s.userLockThreshold, err = strconv.Atoi(values["login.user_lock_threshold"]); err != nil {
		return settings{}, fmt.Errorf("%s: login.user_lock_threshold: %w", path, err)
	}
	if s.ipBanThreshold, err = strconv.Atoi(values["login.ip_ban_threshold"]); err != nil {
		return settings{}, fmt.Errorf("%s: login.ip_ban_threshold: %w", path, err)
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

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
