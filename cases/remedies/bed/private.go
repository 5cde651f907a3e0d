package bed

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"kasoku/internal/remedy"
	"kasoku/internal/tune"
)

// privately is set in the process that runs in a machine of its own.
const privately = "KASOKU_TEST_PRIVATE"

// enter makes a machine of its own out of two namespaces: a network with only
// loopback, and this machine's files below a folder in memory that takes what
// is written. Arguments: the folder, the network's loopback or "" to keep this
// machine's network, the test program and its arguments.
const enter = `
d=$1 lo=$2; shift 2
{ mount -t overlay overlay -o "lowerdir=/,upperdir=$d/up,workdir=$d/work" "$d/root" &&
  mount -t proc proc "$d/root/proc" && mount --rbind /sys "$d/root/sys" && mount --rbind /dev "$d/root/dev" &&
  { [ -z "$lo" ] || ip link set "$lo" up; }; } || exit 77
exec chroot "$d/root" env -C "$PWD" "$@"
`

// Private runs a package's tests in a machine of their own: what they write to
// /etc, what they install and the net.* settings that they make are gone with
// it. Settings of the whole machine (vm.*, /sys) are the machine's. Call it
// from TestMain with os.Exit. Without root or the right to make namespaces, and
// for short tests, they run as they are; see NeedPrivate.
func Private(m *testing.M) int { return private(m, "lo") }

// PrivateFiles is Private with this machine's own network, for settings that no
// other has: what a test sets there is to be put back at once.
func PrivateFiles(m *testing.M) int { return private(m, "") }

func private(m *testing.M, loopback string) int {
	flag.Parse()
	if os.Getenv(privately) != "" || os.Geteuid() != 0 || testing.Short() || !mayUnshare() {
		return m.Run()
	}
	code, err := runPrivately(loopback)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "run the tests in a machine of their own:", err)
		return 1
	case code == notPossible:
		return m.Run()
	}
	return code
}

// notPossible is the exit status of enter where namespaces cannot be made, and
// unshare's own is 1 like that of a failed test, so it is asked first.
const notPossible = 77

// mayUnshare asks whether this machine gives namespaces at all.
func mayUnshare() bool { return exec.Command("unshare", "--net", "--mount", "true").Run() == nil }

func runPrivately(loopback string) (int, error) {
	dir, err := os.MkdirTemp("/dev/shm", "kpr")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	for _, d := range []string{"up", "work", "root"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			return 0, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	spaces := []string{"--mount", "--propagation", "private"}
	if loopback != "" {
		spaces = append(spaces, "--net")
	}
	cmd := exec.Command("unshare", slices.Concat(spaces, []string{"sh", "-ec", enter, "sh", dir, loopback, self}, os.Args[1:])...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), privately+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}

// NeedPrivate skips a test that would change the machine itself.
func NeedPrivate(t testing.TB) {
	t.Helper()
	if os.Getenv(privately) == "" {
		t.Skip("needs root, and a network and files of its own; short tests have none")
	}
}

// Seen observes the stack once, and returns what planning would get with every
// trade and package allowed.
func (b *Bed) Seen(t testing.TB) remedy.Input {
	t.Helper()
	bench := *b.Bench
	run, snap, err := tune.Observe(t.Context(), b.Exec, &bench, 0, t.Name(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	st := *b.Stack
	st.Regulation = Relaxed()
	return remedy.Input{Stack: &st, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis}
}
