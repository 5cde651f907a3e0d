package patterns

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Service is the case, running in a directory of its own.
type Service struct {
	URL   string // of the front door, http://127.0.0.1:PORT
	Stack string // path of kasoku.yaml
	Dir   string
	t     testing.TB
}

// New starts the service in a language (php, go) and a form (bad, clean).
// Spans go to the collector at otel, http://127.0.0.1:PORT; "" for none. It is
// stopped and removed when the test ends.
func New(t testing.TB, lang, form, otel string) *Service {
	t.Helper()
	s := newService(t)
	s.Start(lang, form, otel)
	return s
}

// newService is one that has not been started.
func newService(t testing.TB) *Service {
	t.Helper()
	// Not t.TempDir: other users must be able to enter, and the path of the
	// database's socket must be short (unix(7): 107 bytes).
	dir, err := os.MkdirTemp("", "kp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := look(); err != nil {
		t.Fatal(err)
	}
	s := &Service{Dir: filepath.Join(dir, "c"), t: t}
	s.Stack = filepath.Join(s.Dir, "kasoku.yaml")
	t.Cleanup(func() {
		if out, err := s.Run("purge"); err != nil {
			t.Errorf("the case was not purged: %v\n%s", err, out)
		}
	})
	return s
}

// Start starts it again, or changes what runs to another language or form;
// data and caches are as they were at first.
func (s *Service) Start(lang, form, otel string) {
	s.t.Helper()
	s.URL = strings.TrimSpace(s.must("start", lang, form, "otel="+otel))
}

// Reset puts data and caches back to the first state.
func (s *Service) Reset() {
	s.t.Helper()
	s.must("reset")
}

// Stop stops every server; Start starts them again.
func (s *Service) Stop() {
	s.t.Helper()
	s.must("stop")
}

func (s *Service) must(args ...string) string {
	s.t.Helper()
	out, err := s.Run(args...)
	if err != nil {
		s.t.Fatalf("case.sh %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Run runs a command of case.sh and returns what it printed; of errors, too.
// It waits until nobody holds its output any more: a daemon that keeps it open
// would make this fail.
func (s *Service) Run(args ...string) (string, error) {
	script, err := script()
	if err != nil {
		return "", err
	}
	// Building the Go program for the first time takes most of it.
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, script, args...)
	cmd.Env = append(os.Environ(), "CASE_DIR="+s.Dir)
	// A killed test must not leave case.sh half done: it is told to end, and
	// stops what it has started.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// script is the path of case.sh: tests run in their package's folder.
func script() (string, error) { return filepath.Abs("case.sh") }

// look asks for every file of the case, so that go test knows what its result
// depends on and does not repeat an old one when only a script has changed.
func look() error {
	path, err := script()
	if err != nil {
		return err
	}
	return filepath.WalkDir(filepath.Dir(path), func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == "run" { // what case.sh made
			return filepath.SkipDir
		}
		_, err = os.Stat(name)
		return err
	})
}
