package evidence

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/host"
)

// What Kasoku leaves on a host that fills its caches after a boot.
const (
	WarmUpUnit   = "kasoku-warm-up.service"
	WarmUpFile   = "/etc/systemd/system/" + WarmUpUnit
	WarmUpLink   = "/etc/systemd/system/multi-user.target.wants/" + WarmUpUnit
	WarmUpScript = "/usr/local/sbin/kasoku-warm-up"
)

// Boot is what a host has that could ask for pages after a boot.
type Boot struct {
	Systemd bool   `json:"systemd"`          // it was booted by systemd (sd_booted(3))
	Root    bool   `json:"root"`             // Kasoku may write its units
	Client  string `json:"client,omitempty"` // curl or wget; "" neither
	// WarmUp: something lies already where Kasoku's warm-up would.
	WarmUp bool `json:"warm_up,omitempty"`
}

// bootScript prints a word for each that is so.
const bootScript = `[ -d /run/systemd/system ] && echo systemd
[ "$(id -u)" = 0 ] && echo root
command -v curl >/dev/null && echo curl
wget --version 2>/dev/null | grep -q '^GNU Wget' && echo wget
for f in ` + WarmUpFile + ` ` + WarmUpLink + ` ` + WarmUpScript + `; do
	if [ -e "$f" ] || [ -L "$f" ]; then echo warm-up; fi
done
exit 0`

// ReadBoot looks at a host. It is asked only where a warm-up is called for, not
// for every Snapshot.
func ReadBoot(ctx context.Context, h host.Host) (Boot, error) {
	r, err := h.Run(ctx, host.Command{Argv: []string{"sh", "-c", bootScript}, Timeout: 10 * time.Second, Env: []string{"LC_ALL=C"}})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("exit status %d: %s", r.ExitCode, strings.TrimSpace(string(r.Stderr)))
	}
	if err != nil {
		return Boot{}, fmt.Errorf("look what could run after a boot: %w", err)
	}
	var b Boot
	for _, word := range strings.Fields(string(r.Stdout)) {
		switch word {
		case "systemd":
			b.Systemd = true
		case "root":
			b.Root = true
		case "curl":
			b.Client = word
		case "wget":
			if b.Client == "" {
				b.Client = word
			}
		case "warm-up":
			b.WarmUp = true
		}
	}
	return b, nil
}
