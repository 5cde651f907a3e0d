package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/store"
)

const artifactStack = `version: 1
name: shop
services:
  - name: cache
    kind: memcached
    listen: ["127.0.0.1:1"]
load: {scenario: scenario.yaml, url: "http://127.0.0.1:1/"}
`

// TestShowArtifact: a run's profile comes out byte for byte.
func TestShowArtifact(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kasoku.yaml"), []byte(artifactStack), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "scenario.yaml"), []byte("version: 1\nname: shop\nworkload: 1\nsessions:\n  - name: visit\n    steps:\n      - request: GET /\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(filepath.Join(dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	r := &store.Run{Kind: store.Diagnostic, Started: time.Now(), Evidence: &evidence.Evidence{Profiles: []evidence.Profile{{Service: "db", Tool: "perf", Data: []byte{0x1f, 0x8b, 0, 255}}}}}
	if err := st.SaveRun(r); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	id := strconv.FormatInt(r.ID, 10)
	t.Chdir(dir)
	var listed, said bytes.Buffer
	if code := run([]string{"show", id, "--artifact", "?", "--json"}, &listed, &said); code != 0 {
		t.Fatal(code, said.String())
	}
	fits(t, "show --artifact ?", listed.String())
	for _, c := range []struct {
		args     []string
		code     int
		out, err string
	}{
		{[]string{"show", id, "--artifact", "?"}, 0, "profile-db-perf.pb.gz\t4 bytes\n", ""},
		{[]string{"show", id, "--artifact", "profile-db-perf.pb.gz"}, 0, "\x1f\x8b\x00\xff", ""},
		{[]string{"show", id, "--artifact", "other"}, 3, "", "--artifact '?' lists them"},
		{[]string{"show", "step/1", "--artifact", "other"}, 2, "", "only runs have artifacts"},
	} {
		var out, stderr bytes.Buffer
		if code := run(c.args, &out, &stderr); code != c.code || out.String() != c.out || !strings.Contains(stderr.String(), c.err) {
			t.Errorf("%v: exit %d, %q, %s", c.args, code, out.String(), stderr.String())
		}
	}
}
