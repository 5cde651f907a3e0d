package remedy_test

import (
	"fmt"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
)

// The sockets and delivery edit the same nginx.conf: together they are one
// change of it that holds all, and begins from what is there.
func TestTogether(t *testing.T) {
	in, res := remedytest.Plan(t, remedytest.World(nil))
	before := string(in.Snapshot.Files["local"][remedytest.NginxPath].Content)
	var group *remedy.Plan
	for _, p := range remedy.Together(in, res.Plans) {
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
	phase := 0
	for _, c := range group.Changes {
		if c.Kind != change.KindFile {
			continue
		}
		old, twice := files[c.Path]
		if key := fmt.Sprint(c.Path, c.Phase); files[key] != "" {
			t.Errorf("%s is changed twice in phase %d", c.Path, c.Phase)
		} else {
			files[key] = "seen"
		}
		if c.Phase < phase {
			t.Errorf("phase %d comes after phase %d", c.Phase, phase)
		}
		phase = c.Phase
		files[c.Path] = string(c.After.Content)
		if twice && string(c.Before.Content) != old {
			t.Errorf("%s: a change does not begin with what the one before leaves", c.Path)
		}
		if c.Path == remedytest.NginxPath && !twice && string(c.Before.Content) != before {
			t.Error("the change of nginx.conf does not begin from what is there")
		}
	}
	for path, words := range map[string][]string{
		remedytest.NginxPath: {"fastcgi_pass unix:", "sendfile on;"},
		remedytest.FPMPath:   {"listen = /"},
		remedytest.AppPath:   {"unix_socket=/run/mysqld.sock"},
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
	if string(in.Snapshot.Files["local"][remedytest.NginxPath].Content) != before {
		t.Error("planning changed the snapshot")
	}
}

// One small plan alone needs no group.
func TestTogetherLeavesOneAlone(t *testing.T) {
	in, res := remedytest.Plan(t, remedytest.World(nil))
	var one []remedy.Plan
	for _, p := range res.Plans {
		if p.Remedy == "app.db-socket" {
			one = append(one, p)
		}
	}
	if got := remedy.Together(in, one); len(got) != 1 || got[0].ID != one[0].ID {
		t.Errorf("got %v", got)
	}
}

// What the application says with a file, nginx must say too.
func TestStaticKeepsTheApplicationsHeaders(t *testing.T) {
	in := remedytest.World(nil)
	remedytest.Asset(in, "/srv/public", "/css/a.css", "text/css")
	in.Evidence.Load.Assets[0].Headers = []string{"Cache-Control: max-age=60", "X-Frame-Options: DENY"}
	text := remedytest.After(remedytest.Want(t, in, "nginx.static"), remedytest.NginxPath)
	for _, w := range []string{"add_header Cache-Control max-age=60;", "add_header X-Frame-Options DENY;"} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is lost:\n%s", w, text)
		}
	}
	in.Evidence.Load.Assets[0].Headers = []string{"X-Price: 5$"}
	remedytest.WantNone(t, in, "nginx.static", "X-Price")
	in.Evidence.Load.Assets[0].Private = "a stranger gets status 302"
	remedytest.WantNone(t, in, "nginx.static", "")
}

// remedyOf is the entry of the table, nil if there is none.
func remedyOf(id string) *remedy.Remedy {
	for i := range remedy.Table {
		if remedy.Table[i].ID == id {
			return &remedy.Table[i]
		}
	}
	return nil
}
