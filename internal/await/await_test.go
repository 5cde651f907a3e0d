package await

import (
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// fails is a test that notes its end.
type fails struct {
	testing.TB
	said bool
}

func (f *fails) Helper()               {}
func (f *fails) Fatalf(string, ...any) { f.said = true; panic(f) }

func TestWaits(t *testing.T) {
	for _, c := range []struct {
		why   string
		ready time.Duration
		fails bool
	}{
		{"at once", 0, false},
		{"just in time", Limit, false},
		{"never", 2 * Limit, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, f := time.Now(), &fails{TB: t}
				is := func() error {
					if time.Since(begun) < c.ready {
						return errors.New("not yet")
					}
					return nil
				}
				for _, wait := range []func(){
					func() { For(f, "it", func() bool { return is() == nil }) },
					func() { NoError(f, "it", is) },
				} {
					begun, f.said = time.Now(), false
					func() {
						defer func() { recover() }()
						wait()
					}()
					if took := time.Since(begun); f.said != c.fails || took < min(c.ready, Limit) || took > Limit+longest {
						t.Errorf("failed: %v after %s", f.said, took)
					}
				}
			})
		})
	}
}

// A process has ended as soon as it is dead, and before its parent asks.
func TestGone(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if Ended(cmd.Process.Pid) {
		t.Error("a process that reads has ended")
	}
	in.Close()
	Gone(t, cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	Gone(t, cmd.Process.Pid)
}

func TestAccepts(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		address := "127.0.0.1:0"
		if network == "unix" {
			address = filepath.Join(t.TempDir(), "s")
		}
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		address = l.Addr().String()
		Accepts(t, address)
		l.Close()
		if Dial(address) == nil {
			t.Errorf("%s accepts after its end", address)
		}
	}
}

// Time in which the thread waits is none that it uses.
func TestCPU(t *testing.T) {
	n := 0
	busy := CPU(t, func() {
		for i := range 200_000_000 {
			n += i % 7
		}
	})
	idle := CPU(t, func() { time.Sleep(100 * time.Millisecond) })
	if busy < 20*time.Millisecond || idle > busy {
		t.Errorf("a loop (%d) took %s, a sleep %s", n, busy, idle)
	}
}

func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, stop := &fails{TB: t}, make(chan struct{})
		for _, c := range []struct {
			fails bool
			do    func()
		}{{false, func() { time.Sleep(Limit - 1) }}, {true, func() { <-stop }}} {
			f.said = false
			func() {
				defer func() { recover() }()
				Ends(f, "it", c.do)
			}()
			if f.said != c.fails {
				t.Errorf("failed: %v, want %v", f.said, c.fails)
			}
		}
		close(stop)
	})
}
