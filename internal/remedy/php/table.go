package php

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// undoFile is what taking back a plan of files alone does.
const undoFile = "the files' bytes, modes, owners and times come back, and PHP-FPM is restarted"

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "php.opcache", Title: "OPcache", Measures: []string{"W03"}, Rules: []string{"php.opcache-off"},
		Reason: "Without it every request parses and compiles all scripts that it uses. Comments stay in the compiled code: opcache.save_comments = 0 saves nothing but memory, and applications that read annotations (Doctrine, PHPUnit) break without them.",
		Source: "PHP manual, \"OPcache\"",
		Reach:  0.5, Plan: planOPcache, Test: "TestRemedyOPcache",
		Command: "`opcache.enable = 1` in php.ini, then `systemctl restart php8.2-fpm`", Undo: undoFile,
		Effect: "×1.43 on cases/login, that alone wrong (`make bench-bounds`)",
	},
	{
		ID: "php.opcache-room", Title: "OPcache with room for all scripts", Measures: []string{"W03"}, Rules: []string{"php.opcache-full"},
		Reason: "What does not fit is compiled at each request; when keys run out or memory is wasted, OPcache empties itself and begins anew. Strings beyond the buffer are kept by every process for itself.",
		Source: "PHP manual, \"OPcache configuration\": opcache.memory_consumption, opcache.max_accelerated_files, opcache.interned_strings_buffer",
		Reach:  0.5, Plan: planOPcacheRoom, Test: "TestPHPRemedies",
		Command: "`opcache.memory_consumption = 256` (MiB), `opcache.max_accelerated_files = 20000` in php.ini, then `systemctl restart php8.2-fpm`", Undo: undoFile,
	},
	{
		ID: "php.timestamps", Title: "Compiled scripts trusted until a reload", Measures: []string{"W03"}, Rules: []string{"php.timestamps"},
		Reason: "With timestamps checked, every script is asked for by stat(2) again when revalidate_freq has passed.",
		Source: "PHP manual, \"OPcache configuration\": opcache.validate_timestamps, opcache.revalidate_freq",
		Trades: []regulation.Trade{regulation.Staleness}, Reach: 0.2, Plan: planTimestamps, Test: "TestPHPRemedies",
		Command: "`opcache.validate_timestamps = 0` in php.ini, then `systemctl restart php8.2-fpm`; each deployment ends with `systemctl reload php8.2-fpm`", Undo: undoFile,
		Effect: "no effect shown on cases/wiki (`make case-wiki`, docs/measured/wiki.md), put back",
	},
	{
		ID: "php.realpath", Title: "Cache of resolved paths", Measures: []string{"W03"}, Rules: []string{"php.realpath"},
		Reason: "A path that is not in the cache is resolved by an lstat(2) for each of its parts, at each include.",
		Source: "PHP manual, \"Core php.ini directives\": realpath_cache_size",
		Reach:  0.2, Small: true, Plan: planRealpath, Test: "TestPHPRemedies",
		Command: "`realpath_cache_size = 4096K` in php.ini, then `systemctl restart php8.2-fpm`", Undo: undoFile,
	},
	{
		ID: "php.preload", Title: "An application's classes loaded when PHP starts", Measures: []string{"W03"}, Rules: []string{"php.preload"},
		Reason: "OPcache keeps compiled files, but each request looks for them and links classes to their parents and interfaces anew. Preloaded ones are there from the start, linked. Only the list that the application itself brings for this is taken (Symfony's config/preload.php), and only where it is the one application in this PHP-FPM: which files of another may be loaded together, in which order, without running anything, is not known from outside.",
		Source: "PHP manual, \"Preloading\", \"OPcache configuration\": opcache.preload, opcache.preload_user; symfony.com/doc, Performance",
		Trades: []regulation.Trade{regulation.Staleness}, Reach: 0.2, Plan: planPreload, Test: "cases/remedies/php/preload_test.go:TestPreload",
		Command: "`opcache.preload = /srv/app/config/preload.php`, `opcache.preload_user = www-data` in php.ini, then `systemctl restart php8.2-fpm`; each deployment ends with `systemctl reload php8.2-fpm`", Undo: undoFile,
		Effect: "200 classes, each in its file and the child of another: 999 right answers in 0.5 s, 2,407 with it (one run each, on 2 CPUs that other work shared): `go test ./cases/remedies/php -run TestPreload -v`",
	},
	{
		ID: "php.debugger", Title: "Debuggers, tracers and coverage drivers off", Measures: []string{"W14"}, Rules: []string{"php.debugger"},
		Reason: "They hook every function call and statement, whether somebody debugs or not. Which other extensions are unused cannot be known from outside, so those stay.",
		Source: "Xdebug documentation, \"xdebug.mode\"; pcov's README, \"pcov.enabled\"",
		Trades: []regulation.Trade{regulation.Observability}, Reach: 0.5, Plan: planDebugger, Test: "TestPHPRemedies",
		Command: "`xdebug.mode = off` in php.ini, then `systemctl restart php8.2-fpm`", Undo: undoFile,
	},
	{
		ID: "php.jit", Title: "JIT", Measures: []string{"I16"}, Rules: []string{"php.jit-off"},
		Reason: "Hot code runs as machine code; it pays only where the interpreter itself binds.",
		Source: "PHP manual, \"opcache.jit\"",
		Reach:  0.03, Plan: planJIT, Test: "TestRemedyJIT",
		Command: "`opcache.jit = tracing`, `opcache.jit_buffer_size = 64M` in php.ini, then `systemctl restart php8.2-fpm`", Undo: undoFile,
		Effect: "no effect shown on cases/login, tuned by hand (`make bench-tuners`), put back",
	},
	{
		ID: "php.workers", Title: "Number of PHP-FPM processes", Measures: []string{"C18", "I17"}, Rules: []string{"php.workers"},
		Reason: "Too few leave CPU idle, too many make it switch; the best number is found by trying, with all of them kept alive (php.mode tries that at the present number). No time limit is set beside it (request_terminate_timeout): it ends requests that are slow, so it loses work, and no run tells which may be lost.",
		Source: "PHP manual, \"FPM configuration\": pm, pm.max_children",
		Reach:  workersReach, Plan: planWorkers, Test: "TestRemedyWorkers",
		Command: "`pm = static`, `pm.max_children = 8` in the pool's file, then `systemctl restart php8.2-fpm`; measure; try the next number", Undo: undoFile,
		Effect: "×2.44 on cases/login with one process (`make bench-bounds`)",
	},
	{
		ID: "php.mode", Title: "PHP-FPM processes that are all kept alive", Measures: []string{"C18"}, Rules: []string{"php.mode"},
		Reason: "PHP-FPM looks once a second whether a dynamic pool has too few processes, and starts one, then two, then four; an ondemand pool starts one when a request waits already. As many as the pool may have stay alive instead, where memory has room for all of them.",
		Source: "PHP manual, \"FPM configuration\": pm; PHP source, fpm_process_ctl.c (fpm_pctl_perform_idle_server_maintenance)",
		Reach:  0.05, Plan: planMode, Test: "cases/remedies/php/mode_test.go:TestMode",
		Command: "`pm = static` in the pool's file, then `systemctl restart php8.2-fpm`", Undo: undoFile,
	},
	{
		ID: "php.max-requests", Title: "Processes that live longer", Measures: []string{"C18"}, Rules: []string{"php.max-requests"},
		Reason: "A process that ends after few requests is started anew all the time, with its connections and caches empty.",
		Source: "PHP manual, \"FPM configuration\": pm.max_requests",
		Reach:  0.5, Plan: planLongLives, Test: "TestPHPRemedies",
		Command: "`pm.max_requests = 2000` in the pool's file, then `systemctl restart php8.2-fpm`", Undo: undoFile,
	},
	{
		ID: "php.fewer", Title: "No more processes than memory has room for", Measures: []string{"C18"}, Rules: []string{"php.too-many"},
		Reason: "When a crowd comes, processes that do not fit make the machine swap or end the database; a queue costs less. The number is lowered, and not the mode changed, in a static pool too: dynamic and ondemand give memory back only until the crowd comes, and start processes just then.",
		Source: "PHP manual, \"FPM configuration\": pm.max_children",
		Reach:  0.1, Plan: planFewer, Test: "TestPHPRemedies",
		Command: "`pm.max_children = 40` in the pool's file, then `systemctl restart php8.2-fpm`", Undo: undoFile,
	},
	{
		ID: "php.locale", Title: "PHP-FPM without the archive of all languages", Measures: []string{"C20"}, Rules: []string{"php.locale-archive"},
		Reason: "PHP asks for C.UTF-8 when it starts; the C library looks for it in its archive first and maps all of that, in the main process and in every worker. With LOCPATH the main process takes it from its folder. Workers start without that variable, so setlocale() in a script finds every language that it found before; it maps the archive in its own worker only. Not where a pool hands the environment on (clear_env = no), and not before PHP 8.0.",
		Source: "locale(7), LOCPATH; PHP source, zend_reset_lc_ctype_locale; PHP manual, \"FPM configuration\": clear_env",
		Reach:  0.1, Plan: planLocale, Test: "cases/remedies/locale/locale_test.go:TestLocaleArchive",
		Command: "`systemctl edit php8.2-fpm` → `[Service]`, `Environment=LOCPATH=/usr/lib/locale`, then `systemctl restart php8.2-fpm`",
		Undo:    "the drop-in goes, with its folder if Kasoku made it (or the environment file's bytes come back), and PHP-FPM is restarted",
	},
	{
		ID: "php.session-memory", Title: "Session files in memory", Measures: []string{"L11"}, Rules: []string{"php.session-files"},
		Reason: "A session that never reaches a disk costs less; a reboot ends all sessions.",
		Source: "PHP manual, \"session.save_path\"; tmpfs(5)",
		Trades: []regulation.Trade{regulation.SessionDurability}, Reach: 0.1, Plan: planSessions, Test: "TestRemedySessions",
		Command: "`install -d -m 700 -o www-data -g www-data /dev/shm/kasoku-sessions-php`, `session.save_path = /dev/shm/kasoku-sessions-php` in php.ini, then `systemctl restart php8.2-fpm`",
		Undo:    "the files' bytes, modes, owners and times come back, PHP-FPM is restarted, and the folder is removed",
	},
	{
		ID: "php.session-store", Title: "Sessions in the memcached or Redis that is there", Measures: []string{"L11", "W05"}, Rules: []string{"php.session-files"},
		Reason: "A cache that the stack already has holds sessions without a disk, and for several web servers at once. The lock that files have is kept: a request waits for another of the same session. An application's own object cache is a matter of that application.",
		Source: "PHP manual, \"Memcached: sessions support\"; phpredis's README, \"PHP Session handler\"",
		Trades: []regulation.Trade{regulation.SessionDurability}, Reach: 0.1, Plan: planSessionStore, Test: "TestCaches",
		Command: "`session.save_handler = memcached`, `session.save_path = 127.0.0.1:11211`, `memcached.sess_persistent = 1` in php.ini, then `systemctl restart php8.2-fpm`", Undo: undoFile,
	},
	{
		ID: "php.session-persistent", Title: "Kept connections to the session store", Measures: []string{"C13"}, Rules: []string{"php.session-connect"},
		Reason: "A connection for each request costs a round trip, a port, and now and then a time-out. Kept ones are one for each process, so their number is checked against the store's limit.",
		Source: "PHP manual, \"Memcached: runtime configuration\": memcached.sess_persistent; phpredis's README, \"PHP Session handler\": persistent",
		Reach:  0.5, Plan: planKeepSessionStore, Test: "TestCaches",
		Command: "`memcached.sess_persistent = 1`, or `?persistent=1` behind the address in session.save_path, in php.ini, then `systemctl restart php8.2-fpm`", Undo: undoFile,
	},
	{
		ID: "app.cache-persistent", Title: "Connections to memcached kept from request to request", Measures: []string{"C13"}, Rules: []string{"app.cache-persistent"},
		Reason: "PHP's client keeps a connection only under a name. Where the application's environment may give it one (MEMCACHED_PERSISTENT_ID, which Laravel reads and others have without a value), it does. One for each process must fit into memcached's limit. Where only the source names it, it stays with the source (cache.connect-per-request).",
		Source: "PHP manual, Memcached::__construct: persistent_id; Laravel, config/cache.php",
		Reach:  0.5, Plan: planKeepCache, Test: "cases/remedies/caches/persistent_test.go:TestPersistent",
		Command: "`MEMCACHED_PERSISTENT_ID=kasoku` in .env (then `php artisan config:cache` where that is used), `systemctl reload php8.2-fpm`", Undo: "the file's saved bytes come back, and the reload closes what was kept",
	},
}
