package change

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// TestTwoControllers: the second one is told who works on the host, since when.
func TestTwoControllers(t *testing.T) {
	l := newLab(t)
	g := l.guarded(t)
	x := g.open(t)
	other := g
	other.dir = l.project(t)
	_, err := Open(t.Context(), other.options())
	wantErr(t, err, ErrBusy)
	who, e := os.Hostname()
	must(t, e)
	wantText(t, err, "host local is worked on by", "@"+who, strconv.Itoa(os.Getpid()), g.dir, "since "+strconv.Itoa(time.Now().UTC().Year()))
	must(t, x.Close())
	y, err := Open(t.Context(), other.options())
	must(t, err)
	must(t, y.Close())
}
