package web

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
)

// TestPHPSocketUnderLoad moves the connection between nginx and PHP-FPM to a
// unix socket and back while clients ask for a page; not one request fails.
func TestPHPSocketUnderLoad(t *testing.T) {
	x := startSite(t, setup{fpm: "process_control_timeout = 3s"})
	p := bed.Want(t, x.bed.Plans(t), "nginx.php-socket")
	before := x.bed.Hash(t)
	stop := x.visit(t)
	tx := x.bed.Apply(t, p)
	if c, err := net.Dial("tcp", x.fpm); err == nil {
		c.Close()
		t.Error("the port is still open")
	}
	stop()
	x.bed.Answers(t, "on the socket")
	for _, again := range x.bed.Plans(t).Plans {
		if again.Remedy == p.Remedy {
			t.Errorf("%s is planned again although it is in force: %s", p.ID, again.Why)
		}
	}
	stop = x.visit(t)
	x.bed.Revert(t, tx)
	stop()
	if x.bed.Hash(t) != before {
		t.Error("the target is not as before")
	}
	bed.Await(t, x.fpm)
}

// TestPHPSocketKept moves it where nginx keeps connections without an idle
// time: each process of PHP-FPM ends when it is asked, none waits on a kept
// connection until process_control_timeout has it killed.
func TestPHPSocketKept(t *testing.T) {
	x := startSite(t, setup{fpm: "process_control_timeout = 8s\nlog_level = debug", keep: true})
	p := bed.Want(t, x.bed.Plans(t), "nginx.php-socket")
	before := x.bed.Hash(t)
	x.get(t, "/")
	tx := x.bed.Apply(t, p)
	x.get(t, "/")
	x.bed.Revert(t, tx)
	if x.bed.Hash(t) != before {
		t.Error("the target is not as before")
	}
	log := x.file(t, "fpm.log")
	if n := strings.Count(log, "Reloading in progress"); n < 4 {
		t.Errorf("PHP-FPM was reloaded %d times, want two there and two back", n)
	}
	if n := strings.Count(log, "exited on signal 15"); n > 0 {
		t.Errorf("%d processes had to be killed", n)
	}
	if t.Failed() {
		t.Log(log)
	}
}

// visit asks for a page, four clients at once, until stop.
func (x site) visit(t *testing.T) (stop func()) {
	t.Helper()
	var sent, failed atomic.Int64
	var first atomic.Value
	end := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			client := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			for {
				select {
				case <-end:
					return
				default:
				}
				sent.Add(1)
				res, err := client.Get("http://" + x.address + "/")
				if err == nil {
					res.Body.Close()
					if res.StatusCode != http.StatusOK {
						failed.Add(1)
						first.CompareAndSwap(nil, res.Status)
					}
					continue
				}
				failed.Add(1)
				first.CompareAndSwap(nil, err.Error())
			}
		})
	}
	await.For(t, "visitors to be served", func() bool { return sent.Load() > 20 })
	return func() {
		t.Helper()
		close(end)
		all.Wait()
		t.Logf("%d requests", sent.Load())
		if failed.Load() > 0 || sent.Load() == 0 {
			t.Errorf("%d of %d requests failed, the first: %v; %s", failed.Load(), sent.Load(), first.Load(), lastLines(x.file(t, "nginx-error.log")))
		}
	}
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
