package main

import (
	"fmt"
	"os"
	"strings"
)

// settings are what config/app.ini says.
type settings struct {
	dsn                        string // in go-sql-driver's form
	redisNetwork, redisAddress string // "tcp" "host:port" or "unix" "/path"
	listen                     string // "127.0.0.1:8080" or "unix:/path"
	debug                      string // where profiles are, "host:port"; "": nowhere
	log                        string // the file of the API log
}

func loadSettings(path string) (settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return settings{}, fmt.Errorf("settings: %w", err)
	}
	values := parseINI(string(text))
	s := settings{values["database.dsn"], values["redis.network"], values["redis.address"], values["server.listen"], values["server.debug"], values["server.log"]}
	if s.dsn == "" || s.redisAddress == "" || s.listen == "" || s.log == "" {
		return settings{}, fmt.Errorf("%s: database.dsn, redis.address, server.listen and server.log must be set", path)
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
