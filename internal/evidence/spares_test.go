package evidence

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kasoku/internal/host"
)

// Code is the same only with the same names, bytes, modes and links.
func TestCompareCode(t *testing.T) {
	dir := t.TempDir()
	folderOf := func(name string, files map[string]string) string {
		for p, text := range files {
			p = filepath.Join(dir, name, p)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return filepath.Join(dir, name)
	}
	h := host.NewLocal()
	ours := folderOf("a", map[string]string{"index.php": "<?php", "lib/a b.php": "x"})
	for name, c := range map[string]struct {
		files map[string]string
		after func(folder string) error
		want  CodeState
	}{
		"same":    {map[string]string{"index.php": "<?php", "lib/a b.php": "x"}, nil, CodeSame},
		"bytes":   {map[string]string{"index.php": "<?php ", "lib/a b.php": "x"}, nil, CodeDifferent},
		"name":    {map[string]string{"index.php": "<?php", "lib/a c.php": "x"}, nil, CodeDifferent},
		"more":    {map[string]string{"index.php": "<?php", "lib/a b.php": "x", "new.php": ""}, nil, CodeDifferent},
		"mode":    {map[string]string{"index.php": "<?php", "lib/a b.php": "x"}, func(f string) error { return os.Chmod(f+"/index.php", 0o755) }, CodeDifferent},
		"link":    {map[string]string{"index.php": "<?php", "lib/a b.php": "x"}, func(f string) error { return os.Symlink("index.php", f+"/other.php") }, CodeDifferent},
		"nothing": {nil, nil, CodeAbsent},
	} {
		folder := folderOf(name, c.files)
		if c.after != nil {
			if err := c.after(folder); err != nil {
				t.Fatal(err)
			}
		}
		got, err := compareFolders(t.Context(), h, ours, h, folder)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}

func TestAbsentPackages(t *testing.T) {
	got := absent([]string{"php8.2-mysql", "php8.2-fpm", "php8.2-cli", "php8.2-gd"}, "php8.2-cli installed\nphp8.2-fpm config-files\n")
	if want := []string{"php8.2-fpm", "php8.2-gd", "php8.2-mysql"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
