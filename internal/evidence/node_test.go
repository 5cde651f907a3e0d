package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/host"
)

func TestNodeChoices(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".env", ".env.example", ".env.production.local", "server.js", "production.js", "knexfile.mjs", "config/default.json",
		"config/Development.yaml", "config/config.json", "config/environments/x.js", "lib/config/production.json"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := nodeChoices(t.Context(), host.NewLocal(), dir, "", dir+"/none", dir)
	if err != nil {
		t.Fatal(err)
	}
	want := ".env .env.production.local config/Development.yaml config/config.json config/environments knexfile.mjs"
	if text := strings.ReplaceAll(strings.Join(got, " "), dir+"/", ""); text != want {
		t.Errorf("%s, want %s", text, want)
	}
	at := nodeFolders(AppProcess{Dir: "/", Argv: []string{"node", "--inspect", "/srv/app/dist/server.js"}})
	if text := strings.Join(at, " "); text != "/ /srv/app/dist /srv/app" {
		t.Errorf("folders %s", text)
	}
}
