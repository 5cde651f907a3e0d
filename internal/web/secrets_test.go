package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"kasoku/internal/change"
	"kasoku/internal/change/secrettest"
	"kasoku/internal/store"
)

// words are fields that code compares.
var words = []string{"State", "Session.Command", "Kind", "Tool", "Artifact", "Profile.Service", "Profile.Of", "Level"}

// planted is a project with secrets in every text that the store holds.
func planted(t *testing.T) (*sample, *secrettest.Plants) {
	t.Helper()
	p := newSample(t)
	s := &secrettest.Plants{Skip: words}
	x, err := p.store.Session(p.session)
	must(t, err)
	s.Into(x)
	must(t, p.store.SaveSession(x))
	steps, err := p.store.Steps(p.session)
	must(t, err)
	for i := range steps {
		steps[i].Plan.Changes = []change.Change{{Kind: change.KindVariable, Service: "db", Variable: "x", Apply: []string{"sh"}, Command: "mariadb"}}
		s.Into(&steps[i])
		must(t, p.store.SaveStep(&steps[i]))
	}
	runs, err := p.store.Runs(store.RunFilter{Session: p.session})
	must(t, err)
	for _, r := range runs {
		run, err := p.store.Run(r.ID)
		must(t, err)
		if run.Evidence != nil {
			for i := range run.Evidence.Profiles {
				run.Evidence.Profiles[i].Data = plantedProfile(t, s)
			}
		}
		s.Into(run)
		run.ID = 0
		must(t, p.store.SaveRun(run))
		switch r.ID {
		case p.before:
			p.before = run.ID
		case p.after:
			p.after = run.ID
		}
	}
	x.AsFoundRun, x.FinalRun = p.before, p.after
	must(t, p.store.SaveSession(x))
	return p, s
}

// plantedProfile has secrets in its names and labels.
func plantedProfile(t *testing.T, s *secrettest.Plants) []byte {
	t.Helper()
	prof, err := profile.ParseData(profileBytes(t))
	must(t, err)
	prof.Function[1].Name += s.Text("name of a function")
	prof.Function[2].Filename += s.Text("file of a function")
	prof.Comments = []string{s.Text("comment of a profile")}
	prof.Sample[0].Label = map[string][]string{"token": {"x"}, "request": {s.Text("label of a profile")}}
	var b bytes.Buffer
	must(t, prof.Write(&b))
	return b.Bytes()
}

// TestNothingSecretIsShown: no page, event or file tells a secret, wherever it
// stands in the store.
func TestNothingSecretIsShown(t *testing.T) {
	p, secrets := planted(t)
	if n := secrets.Count(); n < 300 {
		t.Fatalf("only %d secrets were planted", n)
	}
	s := New(Options{Stack: "bookshop", Version: "test", Store: p.store, Dir: p.dir, Token: testToken, OpenReading: true, Undo: p.putBack})
	b := serveHandler(t, s)
	b.logIn()
	look := func(where, text string) {
		t.Helper()
		for _, found := range secrets.Found(text) {
			t.Errorf("%s tells %s", where, found)
		}
		for _, no := range []string{secretValue, testToken} {
			if strings.Contains(text, no) {
				t.Errorf("%s holds %q", where, no)
			}
		}
	}
	base := fmt.Sprintf("/runs/%d", p.after)
	paths := append(p.paths(), fmt.Sprintf("/runs/%d?all=1", p.after), base+"/profiles/profile-php-excimer.pb.gz/flamegraph", base+"/profiles/profile-php-excimer.pb.gz/top",
		base+"/profiles/profile-php-excimer.pb.gz/peek?f=render", "/nothing?password="+secretValue)
	for _, path := range paths {
		_, page := b.get(path)
		if len(page) < 300 {
			t.Errorf("%s: %s", path, page)
		}
		look(path, page)
	}
	if _, page := b.get(base); !strings.Contains(page, "[hidden]") || !strings.Contains(page, "Shop::orders") {
		t.Errorf("%s shows nothing of the run, or not that something is hidden", base)
	}
	for _, path := range []string{base + "/artifacts/profile-php-excimer.pb.gz", base + "/profiles/profile-php-excimer.pb.gz/download"} {
		_, file := b.get(path)
		prof, err := profile.ParseData([]byte(file))
		must(t, err)
		look(path, file+prof.String())
		if !strings.Contains(prof.String(), "[hidden]") {
			t.Errorf("%s does not hold the profile: %s", path, prof)
		}
	}
	live := during(p.session, 1)
	secrets.Skip = append(secrets.Skip, "Side", "Outcome")
	secrets.Into(&live)
	s.Publish(live)
	st := b.stream(t, "")
	look("event", fmt.Sprintf("%+v", st.next()))
	if from, err := stored(p.store, begun); err != nil {
		t.Error(err)
	} else {
		s.Publish(from)
		look("event of a watched store", fmt.Sprintf("%+v", b.stream(t, "").next()))
	}
}

// TestErrorsTellNoSecret: an error of an act is a page, too.
func TestErrorsTellNoSecret(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, func(o *Options) {
		o.Undo = func(context.Context, int64) error {
			return fmt.Errorf("mysql://root:%s@db: %w", secretValue, io.ErrUnexpectedEOF)
		}
	})
	b.logIn()
	res, page := b.do("POST", fmt.Sprintf("/journal/%d/undo", p.kept), map[string][]string{"csrf": {b.csrf(p.kept)}}, nil)
	if res.StatusCode != 500 || strings.Contains(page, secretValue) || !strings.Contains(page, "unexpected EOF") {
		t.Errorf("%d\n%s", res.StatusCode, page)
	}
}
