package stack

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
)

// A server that is stuck accepts connections and says nothing: a login to it ends by
// itself, and says so. `kasoku init` logs in to every database that it finds.
func TestSilentDatabase(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket) // the kernel accepts for it
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	old := dbSilent
	dbSilent = 50 * time.Millisecond
	defer func() { dbSilent = old }()
	svc := &Service{Name: "db", Kind: MariaDB, Login: &Login{User: "root", Socket: socket}}
	if _, err := OpenDB(t.Context(), host.NewLocal(), svc); err == nil || !strings.Contains(err.Error(), "says nothing for 50ms") {
		t.Errorf("%v", err)
	}
}
