// Package confedit_test runs every editor over real configuration files of
// Debian packages: those in testdata/corpus (scripts/confedit-corpus.sh
// collects them) and those of the machine.
package confedit_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// file is one file of the corpus.
type file struct {
	kind, name string
	data       []byte
}

// corpus reads the archive and holds it against its manifest.
func corpus(t *testing.T) []file {
	t.Helper()
	manifest, err := os.ReadFile("testdata/corpus/MANIFEST.tsv")
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for i, l := range strings.Split(strings.TrimSpace(string(manifest)), "\n") {
		f := strings.Split(l, "\t")
		if len(f) != 5 || f[2] == "" {
			t.Fatalf("MANIFEST.tsv:%d: want kind, package, version, path, SHA-256", i+1)
		}
		sums[f[0]+"/"+f[1]+f[3]] = f[4]
	}
	in, err := os.Open("testdata/corpus/packages.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	var out []file
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(h.Name, "./")
		sum := sha256.Sum256(data)
		if sums[name] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s is not what MANIFEST.tsv says", name)
		}
		delete(sums, name)
		kind, rest, _ := strings.Cut(name, "/")
		out = append(out, file{kind, rest, data})
	}
	for name := range sums {
		t.Errorf("MANIFEST.tsv has %s, the archive does not", name)
	}
	return out
}

// TestCorpus reads every file, requires that it prints as it is, edits
// everything in it one by one, and requires that each edit changes one span
// and reads back.
func TestCorpus(t *testing.T) {
	await.SkipShort(t)
	files := corpus(t)
	distinct := map[[32]byte]bool{}
	count := map[string]int{}
	edits := map[string]int{}
	for _, f := range files {
		distinct[sha256.Sum256(f.data)] = true
		count[f.kind]++
		edits[f.kind] += check(t, f)
	}
	if len(distinct) < 220 {
		t.Errorf("the corpus has %d distinct files, want at least 220", len(distinct))
	}
	for kind, least := range map[string]int{"env": 5, "fpm": 2, "haproxy": 7, "memcached": 1, "mysql": 8, "nginx": 10, "php": 20, "redis": 2, "supervisor": 1, "sysctl": 3, "unit": 100} {
		if count[kind] < least || edits[kind] < least {
			t.Errorf("%s: %d files and %d edits, want at least %d", kind, count[kind], edits[kind], least)
		}
	}
	t.Logf("%d distinct files, edits by kind: %v", len(distinct), edits)
}

// TestMachine does the same, without a count, with what is installed here.
func TestMachine(t *testing.T) {
	await.SkipShort(t)
	patterns := map[string][]string{
		"unit":       {"/lib/systemd/system/*.service", "/lib/systemd/system/*.socket", "/lib/systemd/system/*.timer", "/etc/systemd/system/*.service", "/etc/systemd/*.conf"},
		"sysctl":     {"/etc/sysctl.conf", "/etc/sysctl.d/*.conf", "/usr/lib/sysctl.d/*.conf"},
		"redis":      {"/etc/redis/*.conf"},
		"memcached":  {"/etc/memcached*.conf"},
		"supervisor": {"/etc/supervisor/*.conf", "/etc/supervisor/conf.d/*.conf"},
		"mysql":      {"/etc/mysql/*.cnf", "/etc/mysql/*/*.cnf"},
		"php":        {"/etc/php/*/*/php.ini", "/etc/php/*/mods-available/*.ini"},
		"fpm":        {"/etc/php/*/fpm/php-fpm.conf", "/etc/php/*/fpm/pool.d/*.conf"},
		"nginx":      {"/etc/nginx/*.conf", "/etc/nginx/*_params", "/etc/nginx/sites-available/*", "/etc/nginx/snippets/*"},
		"env":        {"/etc/default/*"},
		"haproxy":    {"/etc/haproxy/*.cfg", "/usr/share/doc/haproxy/examples/*.cfg"},
	}
	n, edits := 0, 0
	for kind, all := range patterns {
		for _, p := range all {
			found, err := filepath.Glob(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range found {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				n++
				edits += check(t, file{kind, name, data})
			}
		}
	}
	t.Logf("%d files of this machine, %d edits", n, edits)
}

// mostEdits bounds how many settings of one file are edited.
const mostEdits = 40

// check tests one file and returns how many edits were made.
func check(t *testing.T, f file) int {
	t.Helper()
	printed, tries, err := editors[f.kind](f)
	if err != nil {
		t.Errorf("%s: %v", f.name, err)
		return 0
	}
	if !bytes.Equal(printed, f.data) {
		t.Errorf("%s: printed differently from what was read", f.name)
		return 0
	}
	made := 0
	for i, try := range tries {
		if i == mostEdits {
			break
		}
		now, err := try()
		if err == nil {
			err = oneSpan(f.data, now)
		}
		if err != nil {
			t.Errorf("%s: edit %d: %v", f.name, i, err)
			continue
		}
		made++
	}
	return made
}

// oneSpan requires that now differs from was, and in one stretch of at most a
// value's length.
func oneSpan(was, now []byte) error {
	a, b := 0, 0
	for a < min(len(was), len(now)) && was[a] == now[a] {
		a++
	}
	for b < min(len(was), len(now))-a && was[len(was)-1-b] == now[len(now)-1-b] {
		b++
	}
	if bytes.Equal(was, now) {
		return errors.New("it changed nothing")
	}
	if fresh := now[a : len(now)-b]; len(fresh) > 80 || bytes.Count(fresh, []byte("\n")) > 1 {
		return fmt.Errorf("it changed more than a value: %q", fresh)
	}
	return nil
}
