package evidence

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// answerFastCGI answers one connection after another with these bodies.
func answerFastCGI(t *testing.T, bodies ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for _, body := range bodies {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 4096))
			c.Write([]byte(record(fcgiStdout, "Content-type: application/json\r\n\r\n"+body, 0) + record(fcgiEnd, "\x00\x00\x00\x00\x00\x00\x00\x00", 0)))
			c.Close()
		}
	}()
	return path
}

// Old versions do not escape a request's address; the short page has none.
func TestFPMFullPageIsBroken(t *testing.T) {
	pool := fpmPool{Name: "www", StatusPath: "/status", Listen: answerFastCGI(t,
		`{"pool":"www","accepted conn":7,"processes":[{"state":"Idle","request uri":"/a"b"}]}`, `{"pool":"www","accepted conn":8}`)}
	got, _, err := fpmStatus(t.Context(), host.NewLocal(), []fpmPool{pool})
	if err != nil || got["www.accepted_conn"] != "8" {
		t.Errorf("%v %v", got, err)
	}
}

// The pool's processes end after seven requests, and a new one has served
// nothing yet, so it may take some until two have.
func TestFPMFullPageLive(t *testing.T) {
	l := startLive(t)
	pool := fpmPool{Name: "www", StatusPath: "/status", Listen: l.dir + "/php.sock"}
	if err := within("a process has served a request", func() error {
		if _, err := l.get("/?n=1"); err != nil {
			return err
		}
		got, err := pool.ask(t.Context(), host.NewLocal())
		if err == nil && (got["request_usec_max"] == "" || got["longest_request"] != "GET /" || got["request_memory_max"] == "" || got["state_idle"] == "") {
			err = fmt.Errorf("%v", got)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestFPMIsBusy(t *testing.T) {
	await.SkipShort(t)
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, _, err = fpmStatus(t.Context(), host.NewLocal(), []fpmPool{{Name: "www", StatusPath: "/status", Listen: l.Addr().String()}})
	if err == nil || !strings.Contains(err.Error(), "pm.status_listen") {
		t.Errorf("%v", err)
	}
}
