package stack

import (
	"os"
	"testing"

	"kasoku/internal/host/hosttest"
)

func TestMain(m *testing.M) { os.Exit(hosttest.Supervisorctl(m.Run)) }
