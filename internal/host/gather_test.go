package host_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"kasoku/internal/host"
)

// far is this machine some way off: every call is a round trip.
type far struct {
	*host.Local
	calls atomic.Int64
}

func (f *far) wait() { f.calls.Add(1) }

func (f *far) ReadFile(ctx context.Context, p string) ([]byte, error) {
	f.wait()
	return f.Local.ReadFile(ctx, p)
}

func (f *far) List(ctx context.Context, dir string) ([]host.FileInfo, error) {
	f.wait()
	return f.Local.List(ctx, dir)
}

func (f *far) Run(ctx context.Context, c host.Command) (host.Result, error) {
	f.wait()
	return f.Local.Run(ctx, c)
}

// What is gathered is what the files hold, in one round trip.
func TestGather(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	write := func(name, text string) string {
		p := path.Join(dir, name)
		if err := os.MkdirAll(path.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := write("1/stat", "1 (a\n"+dir+"/2/stat: b) S 0\n") // as a process may call itself
	two := write("2/stat", "2 (c) R 1\n\nx")
	write("none/stat", "no number")
	cmd := write("2/cmdline", "prog\x00-o\x00line\nnext\x00")
	empty := write("3/stat", "")
	long := write("4/stat", strings.Repeat("word ", 40000)+"\n")
	h := &far{Local: host.NewLocal()}
	g := host.Gather(ctx, h, dir+"/[0-9]*/stat", dir+"/[0-9]*/cmdline", dir+"/gone")
	for p, want := range map[string]string{one: "1 (a\n" + dir + "/2/stat: b) S 0\n", two: "2 (c) R 1\n\nx\n",
		cmd: "prog\x00-o\x00line\nnext\x00", long: strings.Repeat("word ", 40000) + "\n"} {
		got, err := g.ReadFile(ctx, p)
		if err != nil || string(got) != want {
			t.Errorf("%s: %.60q, %v, want %.60q", p, got, err, want)
		}
	}
	for _, p := range []string{empty, dir + "/gone", dir + "/9/stat"} {
		if _, err := g.ReadFile(ctx, p); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want fs.ErrNotExist", p, err)
		}
	}
	list, err := g.List(ctx, dir)
	var names []string
	for _, e := range list {
		names = append(names, path.Base(e.Path))
	}
	if err != nil || !slices.Equal(names, []string{"1", "2", "4"}) {
		t.Errorf("entries %v, %v", names, err)
	}
	if n := h.calls.Load(); n != 1 {
		t.Errorf("%d round trips, want 1", n)
	}
	if got, err := g.ReadFile(ctx, dir+"/none/stat"); err != nil || string(got) != "no number" || h.calls.Load() != 2 {
		t.Errorf("a file that was not asked for: %q, %v", got, err)
	}
}

// A host without the tools answers file by file.
func TestGatherWithout(t *testing.T) {
	h := &noTools{Local: host.NewLocal()}
	if g := host.Gather(context.Background(), h, "/proc/[0-9]*/stat"); g != host.Host(h) {
		t.Errorf("got %T", g)
	}
	if l := host.NewLocal(); host.Gather(context.Background(), l, "/proc/stat") != host.Host(l) {
		t.Error("on this machine nothing is gained")
	}
}

type noTools struct{ *host.Local }

func (*noTools) Run(context.Context, host.Command) (host.Result, error) {
	return host.Result{}, exec.ErrNotFound
}

// A far machine's real process table holds this very process and its child.
func TestGatherProcesses(t *testing.T) {
	ctx := context.Background()
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	h := &far{Local: host.NewLocal()}
	g := host.Gather(ctx, h, "/proc/[0-9]*/stat", "/proc/[0-9]*/cmdline", "/proc/stat")
	for _, pid := range []int{os.Getpid(), child.Process.Pid} {
		for _, name := range []string{"stat", "cmdline"} {
			p := fmt.Sprintf("/proc/%d/%s", pid, name)
			got, err := g.ReadFile(ctx, p)
			want, werr := os.ReadFile(p)
			if err != nil || werr != nil || name == "cmdline" && string(got) != string(want) || !strings.HasPrefix(string(got), strings.Fields(string(want))[0]) {
				t.Errorf("%s: %q, %v, want %q, %v", p, got, err, want, werr)
			}
		}
	}
	list, err := g.List(ctx, "/proc")
	if err != nil || !slices.ContainsFunc(list, func(e host.FileInfo) bool { return path.Base(e.Path) == strconv.Itoa(child.Process.Pid) }) {
		t.Errorf("the child is not in the list: %v", err)
	}
	if n := h.calls.Load(); n != 1 {
		t.Errorf("%d round trips, want 1", n)
	}
	t.Logf("%d processes", len(list))
}
