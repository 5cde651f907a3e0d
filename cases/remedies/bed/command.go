package bed

import (
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
)

// Output runs a command and returns what it prints.
func Output(t testing.TB, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = nil
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = io.Writer(&text), io.Writer(&text)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, text.String())
	}
	return text.String()
}

// InstallMariaDB fills data, which is there, with a new server's tables: root
// has no password, and the redo log the size that the case's my.cnf names. user
// owns them, "": who runs the test.
func InstallMariaDB(t testing.TB, data, user, redoLog string) {
	t.Helper()
	if err := hosttest.MariaDBData(data, user, redoLog); err != nil {
		t.Fatal(err)
	}
}

// Shell runs a script on a host and returns what it prints, without blanks
// around it.
func Shell(t testing.TB, h host.Host, script string) string {
	t.Helper()
	r, err := h.Run(t.Context(), host.Command{Argv: []string{"sh", "-ec", script}, Timeout: time.Minute})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%s: %v, %d: %s", script, err, r.ExitCode, r.Stderr)
	}
	return strings.TrimSpace(string(r.Stdout))
}
