package evidence

import (
	"os"
	"path/filepath"
	"testing"

	"kasoku/internal/host"
	"kasoku/internal/load"
)

// A file that sets a cookie only for whoever has none is a copy of what lies on the host; one
// that sets it for everybody is the application's own.
func TestFindStaticBesideCookies(t *testing.T) {
	root := t.TempDir()
	data := []byte("a{}")
	if err := os.WriteFile(filepath.Join(root, "a.css"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, once := range []bool{true, false} {
		found, _, err := FindStatic(t.Context(), host.NewLocal(), []string{root}, ProcessUser{}, []load.StaticSample{
			{Path: "/a.css", Status: 200, ContentType: "text/css", SHA256: string(host.HashOf(data)), Size: int64(len(data)), SetsCookie: true, CookieOnce: once}})
		if err != nil {
			t.Fatal(err)
		}
		if _, is := found["/a.css"]; is != once {
			t.Errorf("only for whoever has none: %v; found: %v", once, found)
		}
	}
}
