package web

import (
	"regexp"
	"testing"
)

func TestStaticPatternIsNarrow(t *testing.T) {
	re := regexp.MustCompile(staticPattern([]string{"/favicon.ico", "/img/a.png", "/img/b.jpg", "/a+b/x.css"}))
	for path, want := range map[string]bool{"/favicon.ico": true, "/other.ico": true, "/img/z.jpg": true, "/a+b/y.css": true,
		"/x.png": false, "/img/x.ico": false, "/img/.git.png": false, "/img/sub/x.png": false, "/.env": false, "/img/x.php": false,
		"/img/xpng": false, "/aab/y.css": false, "/img/": false, "/img/a.png/x.php": false} {
		if re.MatchString(path) != want {
			t.Errorf("%s: matches %v, want %v (%s)", path, !want, want, re)
		}
	}
}
