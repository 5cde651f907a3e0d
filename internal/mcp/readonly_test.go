package mcp

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// asked are arguments with which each tool answers. A tool that is not here
// fails the test: whoever adds one says here how it is asked.
var asked = map[string]in{
	"status": {}, "evidence": {"tables": []string{"routes"}}, "findings": {}, "plan": {}, "patch": {"all": true}, "where": {"statement": "SELECT * FROM users WHERE id = 3"}, "history": {"runs": true}, "show": {"what": "run/1", "all": true},
	"try": {"set": []string{"web.keepalive_timeout=66"}},
}

// Every tool that is not said to read only is absent without leave, asking for
// it is an error, and nobody is asked to change anything. Those that are said
// to, change nothing: neither the store nor the journal's folder.
func TestWhatChangesSomethingNeedsLeave(t *testing.T) {
	tools := func(allow bool) map[string]*sdk.Tool {
		o := shop(t)
		o.AllowTry, o.AllowCommands = allow, allow
		res, err := client(t, o, nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]*sdk.Tool{}
		for _, tool := range res.Tools {
			out[tool.Name] = tool
		}
		return out
	}
	all, least := tools(true), tools(false)
	changing := 0
	for name, tool := range all {
		args, known := asked[name]
		if !known {
			t.Errorf("%s is not asked here: add it to asked", name)
		}
		o := shop(t)
		o.Try = func(context.Context, tune.Proposal, tune.Reporter) (*store.Step, error) {
			t.Errorf("%s: somebody is asked to change the service without leave", name)
			return nil, context.Canceled
		}
		v, err := o.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mark, err := v.Store.Mark()
		if err != nil {
			t.Fatal(err)
		}
		before := filesOf(t, v.Dir)
		_, wrong := call[any](t, client(t, o, nil), name, args)
		if now, err := v.Store.Mark(); err != nil || now != mark {
			t.Errorf("%s has written to the store (%v)", name, err)
		}
		if now := filesOf(t, v.Dir); now != before {
			t.Errorf("%s: .kasoku was\n%s\nand is\n%s", name, before, now)
		}
		v.Close()
		if tool.Annotations.ReadOnlyHint {
			if wrong != "" || least[name] == nil {
				t.Errorf("%s only reads, and yet: %s", name, wrong)
			}
			continue
		}
		changing++
		if least[name] != nil || !strings.Contains(wrong, "unknown tool") {
			t.Errorf("%s changes something and is there without leave: %q", name, wrong)
		}
	}
	if changing == 0 {
		t.Error("no tool changes anything: this test shows nothing")
	}
}

// filesOf are the files of a folder with their bytes, without what SQLite writes
// beside an open database for readers, too.
func filesOf(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "-wal") || strings.HasSuffix(path, "-shm") {
			return err
		}
		if d.IsDir() {
			fmt.Fprintln(&out, path)
			return nil
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %x\n", path, sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
