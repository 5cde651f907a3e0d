package stack

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/host"
)

// started is a host whose processes have this environment.
type started struct {
	host.Host
	environ string
}

func (s started) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if filepath.Base(path) == "environ" {
		return []byte(strings.ReplaceAll(s.environ, " ", "\x00")), nil
	}
	return s.Host.ReadFile(ctx, path)
}

// A program that is started again has the configuration that it had: what chooses it stands
// in front of its command. Of all else only the names are told, and the shell's own not even so.
func TestStartHasTheModeOfTheProgram(t *testing.T) {
	start := []string{"/usr/bin/node", "index.js"}
	for _, c := range []struct {
		environ, says string
		want          []string
	}{
		{"PATH=/bin HOME=/root LC_CTYPE=C SSH_CLIENT=x NODE_ENV=production", "", append([]string{"env", "NODE_ENV=production"}, start...)},
		{"SHLVL=1 RAILS_ENV=production DB_PASSWORD=s3cret API=s3cret2", "API, DB_PASSWORD in its environment", append([]string{"env", "RAILS_ENV=production"}, start...)},
		{"APP_ENV=mysql://u:s3cret@h/db", "APP_ENV in its environment", start},
		{"PWD=/ _=/usr/bin/node", "", start},
		{"A=1 B=1 C=1 D=1 E=1 F=1 G=1 H=1 I=1 J=1", "G, H and 2 more in its environment", start},
	} {
		d := &discovery{h: started{host.NewLocal(), c.environ}}
		app := &instance{master: &process{procStat: procStat{pid: 7, comm: "node"}}, svc: Service{Name: "app", Control: Control{Method: MethodProcess, Start: slices.Clone(start)}}}
		d.startEnvironment(t.Context(), app)
		if !slices.Equal(app.svc.Control.Start, c.want) {
			t.Errorf("%s: started as %q, want %q", c.environ, app.svc.Control.Start, c.want)
		}
		told := strings.Join(d.notes, "\n")
		if (c.says == "") != (told == "") || !strings.Contains(told, c.says) || strings.Contains(told, "s3cret") {
			t.Errorf("%s: told %q, want %q", c.environ, told, c.says)
		}
	}
}
