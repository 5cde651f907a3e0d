package stack

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// programs are the names under which a kind's program runs. Only kinds that
// discovery can tell by name are here.
// redisCheck is what Debian's redis-server is a link to: which of them runs, it
// knows from its name.
const redisCheck = "redis-check-rdb"

var programs = []struct {
	kind    Kind
	pattern *regexp.Regexp
	// defaults to look up when kasoku.yaml names no binary.
	defaults []string
}{
	{Nginx, regexp.MustCompile(`^(nginx|openresty|nginx-debug)$`), []string{"nginx"}},
	{Apache, regexp.MustCompile(`^(apache2|httpd)$`), []string{"apache2", "httpd"}},
	{PHPFPM, regexp.MustCompile(`^php-fpm[0-9.]*$`), []string{"php-fpm", "php-fpm8.4", "php-fpm8.3", "php-fpm8.2", "php-fpm8.1", "php-fpm7.4"}},
	{MariaDB, regexp.MustCompile(`^(mariadbd|mysqld)$`), []string{"mariadbd", "mysqld"}},
	{MySQL, regexp.MustCompile(`^mysqld$`), []string{"mysqld"}},
	{Memcached, regexp.MustCompile(`^memcached$`), []string{"memcached"}},
	{Redis, regexp.MustCompile(`^(redis-server|redis-check-rdb|valkey-server)$`), []string{"redis-server", "valkey-server"}},
	{Varnish, regexp.MustCompile(`^varnishd$`), []string{"varnishd"}},
}

// names of a process: its command name, executable and first two arguments
// (an interpreter runs a script).
func names(ctx context.Context, h host.Host, p *process) []string {
	out := []string{p.comm, filepath.Base(program(ctx, h, p))}
	for i, arg := range p.cmdline {
		if i == 2 {
			break
		}
		first, _, _ := strings.Cut(arg, " ")
		out = append(out, filepath.Base(strings.TrimSuffix(first, ":")))
	}
	return out
}

// runs reports whether the process runs the service's program. It is asked
// before every signal, so that a stale PID file never hits a stranger.
func (s *Service) runs(ctx context.Context, h host.Host, p *process) bool {
	for _, e := range programs {
		if e.kind == s.Kind {
			// The executable may be unreadable (another user's process).
			return e.pattern.MatchString(filepath.Base(program(ctx, h, p))) || e.pattern.MatchString(p.comm)
		}
	}
	if s.IsHAProxy() {
		return filepath.Base(program(ctx, h, p)) == haproxyProgram || p.comm == haproxyProgram
	}
	own := names(ctx, h, p)
	if s.Binary != "" {
		return slices.Contains(own, filepath.Base(s.Binary))
	}
	for _, arg := range s.Control.Start {
		if !strings.HasPrefix(arg, "-") && slices.Contains(own, filepath.Base(arg)) {
			return true
		}
	}
	return false
}

// lookUp finds a program on the host's PATH and in the sbin folders, which a
// plain user's PATH often lacks; "" if there is none.
func lookUp(ctx context.Context, h host.Host, names ...string) string {
	const script = `PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; for n; do command -v "$n" && exit 0; done; exit 1`
	res, err := h.Run(ctx, host.Command{Argv: append([]string{"sh", "-c", script, "sh"}, names...)})
	if err != nil || res.ExitCode != 0 {
		return ""
	}
	return strings.TrimSpace(string(res.Stdout))
}
