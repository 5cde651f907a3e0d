package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"kasoku/internal/change"
)

// profileViews of pprof's own pages that are mounted. Source and disassembly
// would read files of this machine by names that stand in the profile, the
// graph would start another program, and saved settings would write into the
// home folder.
var profileViews = map[string]bool{"flamegraph": true, "top": true, "peek": true, "download": true}

// profilePolicy is for pprof's pages, which have inline scripts. They may talk
// to nobody, open nothing, post nothing and frame nothing: what a script there
// could do is draw.
const profilePolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'; form-action 'none'; frame-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-same-origin"

// mostProfiles are kept parsed.
const mostProfiles = 4

// profiles are pprof's handlers by run and artifact, the newest last.
type profiles struct {
	mu   sync.Mutex // pprof's driver has process-wide state while it starts
	keys []string
	made map[string]map[string]http.Handler
}

// profile serves one view of pprof's own UI.
func (s *Server) profile(w http.ResponseWriter, r *http.Request) {
	id, ok := s.number(w, r, r.PathValue("id"))
	if !ok {
		return
	}
	name, view := r.PathValue("name"), r.PathValue("view")
	if view == "" {
		http.Redirect(w, r, "flamegraph", http.StatusSeeOther)
		return
	}
	if !profileViews[view] {
		s.fail(w, r, http.StatusNotFound, "That view is not offered here.",
			fmt.Sprintf("It would open files of this machine that the profile names. By hand: kasoku show %d --artifact %s > profile.pb.gz; go tool pprof -http : profile.pb.gz", id, name))
		return
	}
	handlers, err := s.profileHandlers(id, name)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Security-Policy", profilePolicy)
	handlers["/"+view].ServeHTTP(w, r)
}

func (s *Server) profileHandlers(id int64, name string) (map[string]http.Handler, error) {
	key := fmt.Sprint(id, "/", name)
	p := &s.profiles
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.made[key]; h != nil {
		return h, nil
	}
	data, err := s.o.Store.Artifact(id, name)
	if err != nil {
		return nil, err
	}
	prof, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("artifact %s of run %d is no profile: %w", name, id, err)
	}
	maskProfile(prof)
	h, err := pprofHandlers(prof)
	if err != nil {
		return nil, fmt.Errorf("show profile %s of run %d: %w", name, id, err)
	}
	if p.made == nil {
		p.made = map[string]map[string]http.Handler{}
	}
	if len(p.keys) >= mostProfiles {
		delete(p.made, p.keys[0])
		p.keys = p.keys[1:]
	}
	p.made[key], p.keys = h, append(p.keys, key)
	return h, nil
}

// maskProfile hides what looks like a secret in the names and labels of a
// profile; it reports whether there was anything. Labels are what an
// application says of its own requests.
func maskProfile(p *profile.Profile) (found bool) {
	put := func(s *string) {
		if masked := change.Redact(*s); masked != *s {
			*s, found = masked, true
		}
	}
	for _, f := range p.Function {
		put(&f.Name)
		put(&f.SystemName)
		put(&f.Filename)
	}
	for _, m := range p.Mapping {
		put(&m.File)
	}
	for i := range p.Comments {
		put(&p.Comments[i])
	}
	for _, s := range p.Sample {
		before := fmt.Sprint(s.Label)
		change.RedactAll(&s.Label)
		found = found || fmt.Sprint(s.Label) != before
	}
	return found
}

// maskedProfile is the file of a profile, as it is stored unless it holds
// something to hide.
func maskedProfile(data []byte) ([]byte, error) {
	p, err := profile.ParseData(data)
	if err != nil || !maskProfile(p) {
		return data, nil // no profile: a file of the run as it is
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return nil, fmt.Errorf("write profile: %w", err)
	}
	return b.Bytes(), nil
}

// pprofHandlers starts pprof's driver up to where it would listen.
func pprofHandlers(prof *profile.Profile) (map[string]http.Handler, error) {
	var out map[string]http.Handler
	err := driver.PProf(&driver.Options{
		Flagset: &pprofFlags{}, Fetch: given{prof}, Sym: given{prof}, Obj: noFiles{}, UI: quiet{},
		HTTPServer: func(a *driver.HTTPServerArgs) error {
			out = a.Handlers
			return nil
		}})
	if err == nil && out == nil {
		err = errors.New("pprof gave no pages")
	}
	return out, err
}

// given is the one profile, in the place of what fetches and symbolizes.
type given struct{ p *profile.Profile }

func (g given) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return g.p, "", nil
}

func (given) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }

// noFiles opens no program of this machine.
type noFiles struct{}

var errNoFiles = errors.New("programs are not opened here")

func (noFiles) Open(string, uint64, uint64, uint64, string) (driver.ObjFile, error) {
	return nil, errNoFiles
}

func (noFiles) Disasm(string, uint64, uint64, bool) ([]driver.Inst, error) { return nil, errNoFiles }

// quiet has nobody to talk to.
type quiet struct{}

func (quiet) ReadLine(string) (string, error)     { return "", io.EOF }
func (quiet) Print(...any)                        {}
func (quiet) PrintErr(...any)                     {}
func (quiet) IsTerminal() bool                    { return false }
func (quiet) WantBrowser() bool                   { return false }
func (quiet) SetAutoComplete(func(string) string) {}

// pprofFlags are the command line "-http=… -no_browser profile".
type pprofFlags struct{}

func (*pprofFlags) Bool(name string, def bool, _ string) *bool {
	v := def || name == "no_browser"
	return &v
}
func (*pprofFlags) Int(_ string, def int, _ string) *int             { return &def }
func (*pprofFlags) Float64(_ string, def float64, _ string) *float64 { return &def }
func (*pprofFlags) String(name, def, _ string) *string {
	if name == "http" {
		def = "localhost:1" // it is not listened on
	}
	return &def
}
func (*pprofFlags) StringList(_, def, _ string) *[]*string { return &[]*string{} }
func (*pprofFlags) ExtraUsage() string                     { return "" }
func (*pprofFlags) AddExtraUsage(string)                   {}
func (*pprofFlags) Parse(func()) []string                  { return []string{"profile"} }
