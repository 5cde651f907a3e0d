package diagnose

import (
	"fmt"

	"kasoku/internal/stack"
)

// largeArchive is what a few languages never reach: one takes 1–3 MiB of the C
// library's archive, all of them some 220 MiB (Debian's locales-all).
const largeArchive = 32 << 20

// judgeLocaleArchive: PHP-FPM's main process, and so every child, maps an
// archive of all languages (C20). It is a file of the whole machine that
// localedef rewrites in place under those who map it, so it is told and not done.
func judgeLocaleArchive(m *model) ([]Finding, string) {
	seen := false
	out, why := m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		n, ok := number(php["process.locale-archive"])
		seen = seen || ok
		if !ok || n < largeArchive {
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+" maps a locale archive of all languages",
			fmt.Sprintf("Each process maps %s of /usr/lib/locale/locale-archive. Its pages are shared, but page tables and what setlocale() touches are not. Keep the languages that are used in /etc/locale.gen, then `locale-gen --purge`, and restart %s.", size(int64(n)), svc.Name),
			"/proc/PID/maps of "+svc.Name).bounded(1, "it saves memory, not time")}
	})
	if why == "" && !seen && len(m.in.Stack.OfKind(stack.PHPFPM)) > 0 {
		why = "the memory maps of PHP-FPM's main process could not be read"
	}
	return out, why
}
