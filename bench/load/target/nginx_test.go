package target

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"testing"
)

func TestParseStatus(t *testing.T) {
	s, err := ParseStatus([]byte("Active connections: 1 \nserver accepts handled requests\n 195 194 405962 \nReading: 0 Writing: 1 Waiting: 0 \n"))
	if want := (Status{1, 195, 194, 405962}); err != nil || s != want {
		t.Errorf("%+v (%v), want %+v", s, err, want)
	}
	if s, err := ParseStatus([]byte("<html>404")); err == nil {
		t.Errorf("another page is read as %+v", s)
	}
}

// TestNginx starts the real one.
func TestNginx(t *testing.T) {
	n, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	before, err := n.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{Page: PageSize, Tiny: TinySize} {
		resp, err := http.Get(n.URL(name))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || len(body) != size {
			t.Errorf("%s: %s, %d bytes, %v", name, resp.Status, len(body), err)
		}
		if name == Page && bytes.Count(body, []byte(Marker)) != 1 {
			t.Errorf("%s holds the marker %d times", name, bytes.Count(body, []byte(Marker)))
		}
	}
	after, err := n.Status(t.Context())
	if err != nil || Served(before, after) != 2 {
		t.Errorf("nginx counts %d requests, want 2 (%v)", Served(before, after), err)
	}
	n.Stop()
	if _, err := os.Stat(n.dir); !os.IsNotExist(err) {
		t.Errorf("the folder is left over: %v", err)
	}
}
