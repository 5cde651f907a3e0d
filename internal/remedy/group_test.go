package remedy

import (
	"strings"
	"testing"

	"kasoku/internal/change"
)

// The sockets and delivery edit the same nginx.conf: together they are one
// change of it that holds all, and begins from what is there.
func TestTogether(t *testing.T) {
	in, res := plan(t, world(nil))
	before := string(in.Snapshot.Files["local"][ngxPath].Content)
	var group *Plan
	for _, p := range Together(in, res.Plans) {
		if p.Remedy == "group" {
			group = &p
			continue
		}
		if r := remedyOf(p.Remedy); r.Small {
			t.Errorf("%s is planned alone too", p.ID)
		}
	}
	if group == nil {
		t.Fatalf("no group among %d plans; skipped %v", len(res.Plans), res.Skipped)
	}
	files := map[string]string{}
	for _, c := range group.Changes {
		if c.Kind != change.KindFile {
			continue
		}
		if _, twice := files[c.Path]; twice {
			t.Errorf("%s is changed twice", c.Path)
		}
		files[c.Path] = string(c.After.Content)
		if c.Path == ngxPath && string(c.Before.Content) != before {
			t.Error("the change of nginx.conf does not begin from what is there")
		}
	}
	for path, words := range map[string][]string{
		ngxPath: {"fastcgi_pass unix:", "sendfile on;"},
		fpmPath: {"listen = /"},
		appPath: {"unix_socket=/run/mysqld.sock"},
	} {
		for _, w := range words {
			if !strings.Contains(files[path], w) {
				t.Errorf("%s does not hold %q:\n%s", path, w, files[path])
			}
		}
	}
	for _, id := range []string{"L03", "C19"} {
		if !strings.Contains(strings.Join(group.Measures, " "), id) {
			t.Errorf("measures %v lack %s", group.Measures, id)
		}
	}
	if string(in.Snapshot.Files["local"][ngxPath].Content) != before {
		t.Error("planning changed the snapshot")
	}
}

// One small plan alone needs no group.
func TestTogetherLeavesOneAlone(t *testing.T) {
	in, res := plan(t, world(nil))
	var one []Plan
	for _, p := range res.Plans {
		if p.Remedy == "app.db-socket" {
			one = append(one, p)
		}
	}
	if got := Together(in, one); len(got) != 1 || got[0].ID != one[0].ID {
		t.Errorf("got %v", got)
	}
}

// What the application says with a file, nginx must say too.
func TestStaticKeepsTheApplicationsHeaders(t *testing.T) {
	in := world(nil)
	in.asset("/srv/public", "/css/a.css", "text/css")
	in.Evidence.Load.Assets[0].Headers = []string{"Cache-Control: max-age=60", "X-Frame-Options: DENY"}
	text := after(want(t, in, "nginx.static"), ngxPath)
	for _, w := range []string{"add_header Cache-Control max-age=60;", "add_header X-Frame-Options DENY;"} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is lost:\n%s", w, text)
		}
	}
	in.Evidence.Load.Assets[0].Headers = []string{"X-Price: 5$"}
	wantNone(t, in, "nginx.static", "X-Price")
	in.Evidence.Load.Assets[0].Private = "a stranger gets status 302"
	wantNone(t, in, "nginx.static", "")
}
