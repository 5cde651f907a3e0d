package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// Of more .htaccess files than are read, those nearest to the root are, and the
// snapshot says how many were not.
func TestManyAccessFiles(t *testing.T) {
	await.SkipShort(t)
	root := t.TempDir()
	write := func(folder string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, folder, ".htaccess"), []byte("Options -Indexes\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxAccessFiles {
		write(fmt.Sprintf("a/b/%03d", i))
	}
	write("z")
	look := func(folders ...string) (ApacheBuild, *taker) {
		t.Helper()
		h := host.NewLocal()
		tk := &taker{ctx: t.Context(), snap: &Snapshot{}}
		var b ApacheBuild
		r := &fileReader{ctx: t.Context(), h: h, files: map[string]File{}}
		if err := tk.accessFiles(h, &stack.Service{Name: "web"}, folders, r, &b); err != nil {
			t.Fatal(err)
		}
		if len(r.files) != len(b.AccessFiles) {
			t.Errorf("%d files were read, %d are named", len(r.files), len(b.AccessFiles))
		}
		return b, tk
	}
	b, tk := look(root, filepath.Join(root, "a"))
	if len(b.AccessFiles) != maxAccessFiles || b.AccessFilesLeft != 1 || b.AccessFiles[maxAccessFiles-1] != filepath.Join(root, "z/.htaccess") {
		t.Errorf("%d are named, %d left, the last is %s", len(b.AccessFiles), b.AccessFilesLeft, b.AccessFiles[len(b.AccessFiles)-1])
	}
	if len(tk.snap.Health) != 1 || tk.snap.Health[0].OK || !strings.Contains(tk.snap.Health[0].Text, "1 deeper ones were not") {
		t.Errorf("the snapshot says %+v", tk.snap.Health)
	}
	if b, tk := look(filepath.Join(root, "a"), filepath.Join(root, "a/b")); len(b.AccessFiles) != maxAccessFiles || b.AccessFilesLeft != 0 || len(tk.snap.Health) != 0 {
		t.Errorf("%d are named, %d left, the snapshot says %+v", len(b.AccessFiles), b.AccessFilesLeft, tk.snap.Health)
	}
}
