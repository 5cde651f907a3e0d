package load

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What a log says was asked for is known as a run of Kasoku's own load knows it: files
// with their bytes, counts over all queries; pages, errors and what gets no answer not.
func TestFilesOfALog(t *testing.T) {
	asked := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		switch r.URL.Path {
		case "/app.css":
			w.Header().Set("Content-Type", "text/css; charset=utf-8")
			io.WriteString(w, "a{}")
		case "/me.png":
			w.Header().Set("Content-Type", "image/png")
			http.SetCookie(w, &http.Cookie{Name: "s", Value: "1"})
			io.WriteString(w, "png")
		case "/gone.js":
			w.Header().Set("Content-Type", "text/javascript")
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>")
		}
	}))
	defer srv.Close()
	files, unasked, err := FilesOf(t.Context(), Options{URL: srv.URL}, []Asked{{"/", 9, time.Second}, {"/app.css?v=1", 5, time.Second}, {"/app.css?v=2", 2, time.Second},
		{"/me.png", 3, 0}, {"/gone.js", 1, 0}, {"/?page=2", 1, 0}, {"/logout", 1, 0}, {"/initialize.php", 1, 0}})
	if err != nil || unasked != "" {
		t.Fatal(err, unasked)
	}
	if len(files) != 2 || files[0].Path != "/app.css" || files[0].Count != 7 || files[0].Total != 2*time.Second || files[0].Size != 3 || files[0].SHA256 != digest("a{}") ||
		!strings.HasPrefix(files[0].ContentType, "text/css") || files[0].SetsCookie || !files[1].SetsCookie || files[1].Count != 3 {
		t.Errorf("%+v", files)
	}
	if asked["/app.css"] != 1 || asked["/"]+asked["/logout"]+asked["/initialize.php"] > 0 {
		t.Errorf("asked %v, want one request for each file, and none for what may do something", asked)
	}
	srv.Close()
	if files, unasked, err = FilesOf(t.Context(), Options{URL: srv.URL}, []Asked{{"/app.css", 1, 0}}); err != nil || len(files) > 0 || unasked == "" {
		t.Errorf("without a server: %v, %q, %v", files, unasked, err)
	}
}
