package diagnose

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// TestHotShardLive: an application that asks two real memcacheds. Its IDs are
// made by two processes that count by two, and happen to be even: their low digit
// sends all of them to one. A hash of the whole ID does not.
func TestHotShardLive(t *testing.T) {
	await.SkipShort(t)
	bin, err := exec.LookPath("memcached")
	if err != nil {
		t.Fatal(err)
	}
	st := &stack.Stack{Services: []stack.Service{{Name: "app", Kind: stack.App, Host: "local", TalksTo: []string{"mc0", "mc1"}}}}
	var shards []*bufio.ReadWriter
	for i := range 2 {
		socket := filepath.Join(t.TempDir(), "m")
		cmd := exec.Command(bin, "-u", "root", "-s", socket, "-m", "8")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
		var conn net.Conn
		await.NoError(t, "memcached", func() (err error) {
			conn, err = net.Dial("unix", socket)
			return err
		})
		t.Cleanup(func() { conn.Close() })
		shards = append(shards, bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn)))
		st.Services = append(st.Services, stack.Service{Name: fmt.Sprintf("mc%d", i), Kind: stack.Memcached, Host: "local", Listen: []string{"unix:" + socket}})
	}
	ask := func(shard int, id int) {
		rw := shards[shard]
		fmt.Fprintf(rw, "get user:%d\r\n", id)
		if err := rw.Flush(); err != nil {
			t.Fatal(err)
		}
		if line, err := rw.ReadString('\n'); err != nil || line != "END\r\n" {
			t.Fatalf("%q %v", line, err)
		}
	}
	for name, c := range map[string]struct {
		shard func(id int) int
		hot   bool
	}{
		"low digit": {func(id int) int { return id % 2 }, true},
		"hash":      {func(id int) int { return int(crc32.ChecksumIEEE(fmt.Append(nil, id)) % 2) }, false},
	} {
		col, err := evidence.NewCollector(t.Context(), st, map[string]host.Host{"local": host.NewLocal()}, evidence.CollectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer col.Close()
		if err := col.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n := range 2000 {
			ask(c.shard(2*n), 2*n)
		}
		ev, err := col.Stop(t.Context(), &load.Result{Workload: 1, Window: time.Second, Requests: 2000, Succeeded: 2000})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Diagnose(Input{Stack: st, Evidence: ev, Snapshot: &evidence.Snapshot{}})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == "topology.hot-shard" })
		switch {
		case !c.hot && i >= 0:
			t.Errorf("%s: %s %s", name, d.Findings[i].Title, d.Findings[i].Text)
		case c.hot && (i < 0 || d.Findings[i].Title != "mc0 is a hot shard" || !strings.Contains(d.Findings[i].Text, "(100 %), mc1 got")):
			t.Errorf("%s: %+v", name, d.Findings)
		}
	}
}
