package target

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"kasoku/bench/load/proc"
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

// TestSchemes: nginx speaks on each port what its name says, and answers a POST.
func TestSchemes(t *testing.T) {
	processors, err := proc.Processors()
	if err != nil {
		t.Fatal(err)
	}
	n, err := Start(t.Context(), processors[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	for url, major := range map[string]int{n.URL(Page): 1, n.TLS(Page): 1, n.HTTP2(Page): 2} {
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.ProtoMajor != major || len(body) != PageSize {
			t.Errorf("%s: %s, %d bytes (%v), want HTTP/%d", url, resp.Proto, len(body), err, major)
		}
	}
	resp, err := client.Post(n.URL(Post), "application/json", strings.NewReader(Body))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || string(body) != Answer || resp.Header.Get("Content-Type") != "application/json" || !json.Valid(body) || !json.Valid([]byte(Body)) {
		t.Errorf("POST: %s, %s: %q (%v)", resp.Status, resp.Header.Get("Content-Type"), body, err)
	}
	if n.Workers() != 1 {
		t.Errorf("%d workers on one processor", n.Workers())
	}
}
