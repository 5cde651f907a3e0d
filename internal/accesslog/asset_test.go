package accesslog

import "testing"

func TestIsAsset(t *testing.T) {
	for target, want := range map[string]bool{"/a.css": true, "/image/:id.PNG?v=3": true, "/": false, "/post.php": false, "/users/:id": false, "/feed.xml": false} {
		if IsAsset(target) != want {
			t.Errorf("%s: %v", target, !want)
		}
	}
}
