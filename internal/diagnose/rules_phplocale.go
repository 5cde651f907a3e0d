package diagnose

import (
	"fmt"

	"kasoku/internal/stack"
)

// largeArchive is what a few languages never reach: one takes 1–3 MiB of the C
// library's archive, all of them some 220 MiB (Debian's locales-all).
const largeArchive = 32 << 20

// judgeLocaleArchive: PHP-FPM's main process, and so every child, maps an
// archive of all languages (C20). It is looked into for PHP's own C.UTF-8 as
// PHP starts, which most systems have in a folder as well.
func judgeLocaleArchive(m *model) ([]Finding, string) {
	seen := false
	out, why := m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		n, ok := number(php["process.locale-archive"])
		seen = seen || ok
		if !ok || n < largeArchive {
			return nil
		}
		bound, formula := ceiling{most: 1}, "it saves memory, not time, and memory is not short"
		if len(m.lowMemory(m.at(svc.Name).sys)) > 0 {
			bound, formula = m.boundWait()
		}
		return []Finding{about(svc.Name, svc.Name+" maps a locale archive of all languages",
			fmt.Sprintf("Each process maps %s of the C library's locale-archive because PHP asks for C.UTF-8 when it starts. The pages are shared; what it costs each process is address space and page tables. (Fewer languages in /etc/locale.gen and `locale-gen --purge` make the archive itself small.)", size(int64(n))),
			"/proc/PID/maps of "+svc.Name).bounded(bound, formula)}
	})
	if why == "" && !seen && len(m.in.Stack.OfKind(stack.PHPFPM)) > 0 {
		why = "the memory maps of PHP-FPM's main process could not be read"
	}
	return out, why
}
