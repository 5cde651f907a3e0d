package memory

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Corpus reads the real files below dir that its MANIFEST lists, and requires
// that it lists all. A row has so many columns, the file's name first; those
// that are named (0 is the first) are not empty.
func Corpus(t testing.TB, dir string, columns int, named ...int) Files {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(dir, "MANIFEST"))
	if err != nil {
		t.Fatal(err)
	}
	out := Files{}
	for row := range strings.Lines(string(manifest)) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(f) != columns || slices.ContainsFunc(named, func(i int) bool { return f[i] == "" }) {
			t.Fatalf("%s/MANIFEST: %q has not %d columns of which %v are filled", dir, row, columns, named)
		}
		text, err := os.ReadFile(filepath.Join(dir, f[0]))
		if err != nil {
			t.Fatal(err)
		}
		out[f[0]] = string(text)
	}
	files := 0
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files != len(out)+1 {
		t.Fatalf("%s/MANIFEST lists %d files, the folder has %d (%v)", dir, len(out), files-1, err)
	}
	return out
}
