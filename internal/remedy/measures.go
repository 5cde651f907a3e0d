package remedy

//go:generate go run ./gen

// Status says what Kasoku does about a measure.
type Status string

const (
	Applies Status = "applies"      // plans, applies, proves and undoes it
	Advises Status = "advises"      // a finding with evidence, or the exact command
	InLoop  Status = "in the loop"  // part of how it works
	Beyond  Status = "out of reach" // nothing, and that will stay so
	NotYet  Status = "not yet"
)

// Kind of a measure: what is touched.
type Kind string

const (
	KindConfig   Kind = "config"
	KindIndex    Kind = "index"
	KindKernel   Kind = "kernel"
	KindRuntime  Kind = "runtime"
	KindBuild    Kind = "build"
	KindPackage  Kind = "package"
	KindCache    Kind = "cache"
	KindSearch   Kind = "search"
	KindTopology Kind = "topology"
	KindSource   Kind = "source"
	KindWork     Kind = "way of working"
	KindProof    Kind = "evidence"
	KindCheck    Kind = "check"
	KindLoad     Kind = "load"
	KindHardware Kind = "hardware"
)

// Measure is one thing that an engineer did, and the sign that called for it.
type Measure struct {
	ID, Sign, Done string
	Kind           Kind
	// Trade that it makes, "" if none.
	Trade string
	// Effect as published, "" if none was.
	Effect string
	// How Kasoku advises it or does it in the loop; the zero How is not yet.
	// What a remedy of Table applies is not said here.
	How How
	// Left is what of it Kasoku does not plan, and why; "" if nothing is.
	Left string
	// Tried says where the project tried it, and what came of it; "" if nowhere.
	Tried string
	// OutOfReach says why nothing is done about it, if that will stay so.
	OutOfReach string
}

// How names the mechanism of a measure that no remedy applies.
type How struct {
	Status    Status // Advises or InLoop
	Mechanism string
	Test      string // "internal/x/y_test.go:TestName"
}

var pairedRuns = How{InLoop, "baseline and candidate alternate in paired runs until the verdict is sure (internal/experiment)", "internal/experiment/experiment_test.go:TestVerdicts"}

var binding = How{InLoop, "every diagnosis names the resource that binds, or says that none does (internal/diagnose)", "internal/diagnose/model_test.go:TestBinds"}

// Measures holds every measure, journey by journey.
var Measures = []Measure{
	{ID: "C01", Sign: "which URL is slow, and why", Done: "per-URL monitoring: methods, statements with counts, errors; Apdex with T = 0.1 s (server), 1 s (browser)", Kind: KindWork, Effect: "found all that follows",
		How:   How{InLoop, "every run lists routes and statements by their share of the time (kasoku run)", "cmd/kasoku/e2e_test.go:TestWholeStory"},
		Tried: "cases/cards: its session named GET /decks with 4,375 calls a request"},
	{ID: "C02", Sign: "many sockets in TIME_WAIT", Done: "counted them during load", Kind: KindProof, Effect: "20–28 thousand per server at peak",
		How:   How{InLoop, "sockets in TIME_WAIT are counted at the end of each run and cited where TCP on one host is found (internal/evidence, internal/diagnose)", "internal/evidence/procfs_test.go:TestParseSystemFiles"},
		Tried: "cases/cards: 2,070 sockets in TIME_WAIT after a run as found"},
	{ID: "C03", Sign: "a guess about a setting", Done: "a load of many concurrencies before and after", Kind: KindWork, How: pairedRuns},
	{ID: "C04", Sign: "old versions of nginx, memcached, libevent", Done: "upgraded", Kind: KindPackage, Effect: "slightly better"},
	{ID: "C05", Sign: "big machines hide the bottleneck", Done: "small development machines on purpose", Kind: KindWork, Effect: "bottlenecks show early",
		How: How{InLoop, "each resource's service demand is measured, full or not, and what would be the bottleneck next is listed with the throughput that it allows; hosts and containers with few CPUs are tuned as any others, and a quota that holds a service back is found", "internal/diagnose/model_test.go:TestDemandsAreUTimesTOverX"}},
	{ID: "C06", Sign: "local memcached over TCP", Done: "unix socket, no CAS, no UDP, longer backlog, less memory; old and new side by side while switching", Kind: KindConfig, Effect: "those TIME_WAITs gone",
		Left: "no CAS (-C): it spares 8 bytes of an item, which -m gives as well, and from then on every `cas` is answered EXISTS; that no client sent one in a run says nothing of its next release. " +
			"No UDP (-U 0): it is off by default in present versions, and where it is on, a port that nobody asks takes no time from answers. " +
			"Less memory: memcached takes it only as entries come, and those that no longer fit are made again; where a host is short of it, system.memory and system.swapping tell " +
			"(`go test ./cases/remedies/caches -run OptionsLeftAlone`)",
		Tried: "cases/cards: kept by hand; planned by Kasoku with six others"},
	{ID: "C07", Sign: "memcached latency grows with time since the flush", Done: "every entry expires within an hour", Kind: KindSource, Effect: "200–400 ms → at most 50 ms",
		Left:  "when an entry expires is said by the program that stores it; memcached and Redis have no setting for entries that say nothing",
		Tried: "cases/cards, in cases/cards/hand/src: each entry for an hour"},
	{ID: "C08", Sign: "one key read many times in a request", Done: "kept in a per-request map", Kind: KindSource, Effect: "a certain gain",
		Tried: "cases/cards, in cases/cards/hand/src: a map for each request; found by Kasoku (592 reads where 151 would do)"},
	{ID: "C09", Sign: "a cache entry rewritten with the same value", Done: "add instead of set", Kind: KindSource, Effect: "uncovered a bug too",
		Tried: "cases/cards, in cases/cards/hand/src: lists are not written to the cache again"},
	{ID: "C10", Sign: "N single gets in a row", Done: "one multi-get of warmed keys", Kind: KindSource, Effect: "efficient",
		Tried: "cases/cards, in cases/cards/hand/src: one question instead of one for each card; found by Kasoku"},
	{ID: "C11", Sign: "a whole deck assembled at each view", Done: "one compressed entry per deck, deleted on edit", Kind: KindSource, Trade: "staleness if an edit is missed", Effect: "much faster from the second view on",
		Tried: "cases/cards, in cases/cards/hand/src: each deck in Redis, compressed, until it is edited"},
	{ID: "C12", Sign: "two gets per read, two sets per write in the cache class", Done: "one each; persistent connections, binary protocol, consistent hashing", Kind: KindSource,
		How:   How{Advises, "a connection for each request is a finding with its count and bound (internal/diagnose)", "internal/diagnose/connects_test.go:TestJudgeConnects"},
		Left:  "gets and sets are the program's; connections are kept by app.cache-persistent where a setting has them. The binary protocol is deprecated since memcached 1.6.0 (its release notes). Another hashing asks for nearly every key at another server, so that one release begins with a cold cache",
		Tried: "cases/cards, in cases/cards/hand/src: one get, one set; connections kept by a setting (hand/)"},
	{ID: "C13", Sign: "the session store is connected to in each request", Done: "persistent connections, within the server's connection limit", Kind: KindConfig, Effect: "1.5–2× response, time-outs gone",
		Tried: "cases/cards: kept by hand; planned by Kasoku with six others"},
	{ID: "C14", Sign: "user-agent parsing leads a profile", Done: "a local library instead of a remote cache", Kind: KindSource, Effect: "fast even uncached",
		Tried: "cases/cards, in cases/cards/hand/src: a pattern is only tried where the agent has its word"},
	{ID: "C15", Sign: "10–30 single-row INSERTs in a request", Done: "one bulk INSERT, rows in index order against deadlocks", Kind: KindSource, Effect: "much faster",
		Tried: "cases/cards, in cases/cards/hand/src: one INSERT for a draw, a deck, an attack"},
	{ID: "C16", Sign: "ports run out, TIME_WAIT", Done: "wider port range, shorter FIN time-out, larger socket buffers, no swapping", Kind: KindKernel, Effect: "TIME_WAIT halved"},
	{ID: "C17", Sign: "the balancer's health check asks for a heavy page", Done: "a location that answers an empty image, unlogged", Kind: KindConfig, Trade: "observability", Effect: "grows with the number of servers",
		Tried: "cases/cards: by hand; a balancer that asks for a page which visitors ask for, too, is not found"},
	{ID: "C18", Sign: "12 PHP-FPM processes, CPU below 10 %", Done: "50 tried, 20 kept; more requests per process, a time limit", Kind: KindSearch,
		Left:  "no time limit is set (request_terminate_timeout): it ends requests that are slow, and so loses work",
		Tried: "cases/cards: 8 by hand instead of 12; a search is planned, and was not reached within 10 minutes"},
	{ID: "C19", Sign: "500–1,000 req/s on a light page", Done: "nginx: open_file_cache, accept_mutex_delay, sendfile_max_chunk", Kind: KindConfig, Trade: "staleness of replaced files", Effect: "about 4,000 req/s"},
	{ID: "C20", Sign: "the PHP-FPM master maps a large locale archive", Done: "locales trimmed", Kind: KindConfig, Effect: "saves memory"},
	{ID: "C21", Sign: "a 6 GB buffer pool on 30 GB", Done: "20 GB, larger log, pool instances, flushing and binlog settings, READ COMMITTED", Kind: KindConfig, Trade: "isolation",
		Tried: "cases/cards: by hand; a buffer pool of 384 MiB planned by Kasoku with six others"},
	{ID: "C22", Sign: "connections and open tables at their caps", Done: "thread and table caches up, their instances down", Kind: KindConfig},
	{ID: "C23", Sign: "the binlog cache spills to disk", Done: "binlog_cache_size raised while watching", Kind: KindConfig, Effect: "stops rising",
		Tried: "cases/cards: by hand"},
	{ID: "C24", Sign: "aborted connects rise", Done: "thread cache as large as the connection limit, wait_timeout longer", Kind: KindConfig, Effect: "nearly stops"},
	{ID: "C25", Sign: "temporary tables on disk, sort merges", Done: "larger read, sort, join and temporary-table memory", Kind: KindConfig, Trade: "memory per connection"},
	{ID: "C26", Sign: "fast disks, default I/O settings", Done: "innodb_io_capacity, lru_scan_depth", Kind: KindConfig,
		Tried: "cases/cards: by hand"},
	{ID: "C27", Sign: "CSS and JavaScript sent uncompressed", Done: "gzip on, caches purged", Kind: KindConfig, Effect: "far fewer bytes",
		Tried: "cases/cards: by hand; the scenario does not ask for compressed files"},
	{ID: "C28", Sign: "how many servers are needed", Done: "tuned first, then counted", Kind: KindWork, Effect: "less than half",
		How: How{InLoop, "`kasoku capacity` counts hosts for a load from measured levels (Universal Scalability Law) and from what a request costs each host, with an interval: docs/how-to/count-hosts.md", "internal/capacity/plan_test.go:TestHostsNeeded"}},

	{ID: "W01", Sign: "before anything", Done: "copies of all configuration, list of packages, graphs", Kind: KindWork,
		How: How{InLoop, "the journal keeps the bytes of every file before it is changed; kasoku undo --all puts them back", "cmd/kasoku/e2e_test.go:TestWholeStory"}},
	{ID: "W02", Sign: "each connection holds an Apache process with PHP", Done: "nginx with PHP-FPM", Kind: KindTopology, Effect: "18 req/s on the main page"},
	{ID: "W03", Sign: "old PHP without a bytecode cache", Done: "newer PHP, OPcache, no timestamp checks", Kind: KindRuntime},
	{ID: "W04", Sign: "the official benchmark is slow", Done: "an own one; the official requests read from the access log", Kind: KindWork, How: pairedRuns},
	{ID: "W05", Sign: "the application supports memcached, unused", Done: "installed and configured", Kind: KindCache},
	{ID: "W06", Sign: "a page times out: GROUP BY, temporary table, filesort", Done: "sort buffers and a newer server did nothing; left", Kind: KindProof},
	{ID: "W07", Sign: "my.cnf almost empty", Done: "a known-good one; log flushed once a second; query cache", Kind: KindConfig, Trade: "durability"},
	{ID: "W08", Sign: "server upgraded, its configuration not", Done: "noticed afterwards", Kind: KindCheck},
	{ID: "W09", Sign: "the query cannot be changed", Done: "a rewriting proxy considered", Kind: KindCache},
	{ID: "W10", Sign: "anonymous pages rendered each time", Done: "Varnish in front, purged on edit", Kind: KindCache, Trade: "staleness", Effect: "ten times"},
	{ID: "W11", Sign: "which URLs are still slow", Done: "cache log by time to first byte and hit or miss; storage in memory", Kind: KindProof},
	{ID: "W12", Sign: "PHP binds on one host", Done: "PHP on more hosts, fewer workers beside the database", Kind: KindTopology, Effect: "slightly slower: nothing was saturated"},
	{ID: "W13", Sign: "nothing is saturated, yet no faster", Done: "not found in time", Kind: KindProof, How: binding},
	{ID: "W14", Sign: "end of the contest", Done: "monitoring, logs, unused PHP extensions off", Kind: KindConfig, Trade: "observability", Effect: "small",
		Left: "which other PHP extensions are unused cannot be known from outside: a script may load a class by a name that it computes"},
	{ID: "W15", Sign: "a reboot at the end", Done: "rehearsed; a service not enabled at boot was found", Kind: KindCheck,
		How: How{InLoop, "hosts that may be are rebooted at the end of a session; what does not come back by itself is named, and the score must be 0.95 of before (checks.reboot, kasoku prove)", "cases/checks/reboot_test.go:TestReboot"}},
	{ID: "W16", Sign: "caches cold after the reboot", Done: "data files and main pages read at boot", Kind: KindCache},
	{ID: "W17", Sign: "0.1 % of answers differ", Done: "not found in time", Kind: KindCheck,
		How: How{InLoop, "answers are compared with those of the service as found, under load, and what differs is attributed to a cache or host (kasoku prove)", "cases/checks/checks_test.go:TestCaches"}},

	{ID: "I01", Sign: "the database is saturated", Done: "winners' nginx and MySQL settings copied", Kind: KindConfig, Effect: "score 644"},
	{ID: "I02", Sign: "full scans", Done: "index on the history of received presents", Kind: KindIndex, Effect: "score 24,439"},
	{ID: "I03", Sign: "an ID table updated for each ID", Done: "IDs made in the application", Kind: KindSource, Effect: "score 30,858",
		Left: "a sequence of the server's own takes another statement than UPDATE, so it is left to the source"},
	{ID: "I04", Sign: "one statement per list item", Done: "IN (…)", Kind: KindSource, Effect: "score 33,922"},
	{ID: "I05", Sign: "application and database on one host", Done: "database on its own host", Kind: KindTopology, Effect: "score 45,687"},
	{ID: "I06", Sign: "prepare and execute are two round trips", Done: "prepares emulated by the driver", Kind: KindConfig, Effect: "without it score 36,897",
		Left: "PDO's emulated prepares are an argument in the source: a finding says where statements are prepared to be used once (request.prepare-once, db.prepares)"},
	{ID: "I07", Sign: "a rather slow query", Done: "index on one-time tokens", Kind: KindIndex, Effect: "score 48,371"},
	{ID: "I08", Sign: "row-wise updates", Done: "one bulk update", Kind: KindSource, Effect: "score 52,373"},
	{ID: "I09", Sign: "logs and metrics cost", Done: "off", Kind: KindConfig, Trade: "observability", Effect: "+3,400 for the winners"},
	{ID: "I10", Sign: "granting items dominates", Done: "indexes on presents, item masters, sessions", Kind: KindIndex, Effect: "score 61,256"},
	{ID: "I11", Sign: "one row at a time in granting, gacha, decks", Done: "split by kind and batched", Kind: KindSource, Effect: "score 65,194–75,336"},
	{ID: "I12", Sign: "master data read in each request", Done: "kept in the process by version", Kind: KindSource, Trade: "staleness within a version", Effect: "score 80,022",
		Tried: "cases/idle, kept in cases/idle/hand/src: by version; source.patch keeps for a second what a function of Go does nothing but read, and no statement of the program writes"},
	{ID: "I13", Sign: "one database saturated", Done: "sharded by user", Kind: KindTopology, Effect: "no gain: something else bound"},
	{ID: "I14", Sign: "a new database connection in each request", Done: "long-lived workers", Kind: KindRuntime, Effect: "score 131,353",
		Left: "a Go program's pool is in its source (SetMaxOpenConns, SetMaxIdleConns): a finding says so"},
	{ID: "I15", Sign: "ban list read each time", Done: "kept in the worker", Kind: KindSource, Trade: "staleness", Effect: "score 152,704",
		Left: "what may be kept, and until when, only the program knows"},
	{ID: "I16", Sign: "interpreter time", Done: "JIT tried again once the database no longer bound", Kind: KindRuntime, Effect: "score 166,629"},
	{ID: "I17", Sign: "device check; number of workers", Done: "cached; 20 by trial", Kind: KindSearch, Effect: "score 180,356"},
	{ID: "I18", Sign: "low digits of IDs collide: one shard is hot", Done: "another shard key", Kind: KindSource, Effect: "score 185,120"},
	{ID: "I19", Sign: "state shared between workers", Done: "Redis over a unix socket, compact serialization", Kind: KindCache, Effect: "no gain: CPU saturated",
		Left: "a more compact serializer is chosen in the source, or by an extension that reads no session which another one wrote"},
	{ID: "I20", Sign: "no idle CPU, many context switches", Done: "diagnosis: the one web host has no CPU left", Kind: KindProof, How: binding},
	{ID: "I21", Sign: "an asynchronous server instead", Done: "tried", Kind: KindRuntime, Effect: "worse: score 147,015"},
	{ID: "I22", Sign: "database hosts have idle CPU", Done: "application workers on all hosts", Kind: KindTopology, Effect: "score 310,198"},
	{ID: "I23", Sign: "remaining reads", Done: "versions, tokens, device checks in Redis; bonus statements merged", Kind: KindSource, Effect: "score 317,157–352,674",
		Left: "tokens and versions that move to Redis are the program's own data model"},
	{ID: "I24", Sign: "uneven hosts", Done: "balancer weights, profile-guided build, newer PHP", Kind: KindTopology, Effect: "score 370,253"},

	{ID: "G01", Sign: "master data searched through in each request", Done: "reverse-lookup tables made at import", Kind: KindSource, Effect: "less CPU",
		Tried: "cases/api, kept in cases/api/hand/src: maps by ID"},
	{ID: "G02", Sign: "the same sorting and mapping again and again", Done: "derived data kept after first use", Kind: KindSource, Effect: "less CPU",
		Tried: "cases/api, kept in cases/api/hand/src: chances and offers made once"},
	{ID: "G03", Sign: "large byte slices in each request", Done: "streams and one buffer", Kind: KindSource, Effect: "less memory",
		Tried: "cases/api, kept in cases/api/hand/src: pooled buffers instead of whole copies"},
	{ID: "G04", Sign: "much allocation", Done: "pools for requests, responses, logs", Kind: KindSource, Effect: "less garbage collection",
		Tried: "cases/api, kept in cases/api/hand/src: buffers, encoders and packers of the log are pooled; source.patch does so for buffers and packers that stay in a function"},
	{ID: "G05", Sign: "what load to test with", Done: "two scenarios: mix from real play logs, and new users drawing again and again", Kind: KindLoad,
		How:   How{InLoop, "kasoku scenario from-log makes the mix, or the very requests, of an access log a scenario (internal/record)", "cases/login/login_test.go:TestBehaviour"},
		Tried: "cases/api: scenario.yaml has the mix of a play log (TestMix), reroll.yaml re-rolls"},
	{ID: "G06", Sign: "cost and clarity of load tests", Done: "one server tuned to the end, then more to check scaling", Kind: KindWork,
		How: How{InLoop, "`kasoku capacity` fits how throughput grows with hosts, workers or users, predicts the largest level from the others, and says where it is not to be followed", "cases/remedies/capacity/workers_test.go:TestPredictionHolds"}},
	{ID: "G07", Sign: "before testing", Done: "every API in a scenario, production-like data, profiler ready", Kind: KindWork,
		How: How{InLoop, "kasoku scenario from-log, from-har and from-openapi write the scenario; diagnostic runs profile by themselves", "cases/login/login_test.go:TestBehaviour"}},
	{ID: "G08", Sign: "several fixes at once hide each effect", Done: "one change at a time; load raised as CPU falls", Kind: KindWork,
		How: How{InLoop, "one change at a time, each proved; the workload is found again when CPU is idle", "internal/experiment/experiment_test.go:TestVerdicts"}},
	{ID: "G09", Sign: "old compression library", Done: "upgraded", Kind: KindSource, Effect: "−22 % CPU",
		Left:  "a module's major version is another import path: it is changed in the source and in go.mod, not by the host's packages",
		Tried: "cases/api, kept in cases/api/hand/src; as found lz4 v2 is half of the program's time, and Kasoku's session names it"},
	{ID: "G10", Sign: "slow log encoder", Done: "another one", Kind: KindSource, Effect: "−33 % CPU",
		Tried: "cases/api, kept in cases/api/hand/src: encoding/json instead of protojson"},
	{ID: "G11", Sign: "the garbage collector runs too often", Done: "off below a memory limit", Kind: KindRuntime, Effect: "−9 % CPU",
		Tried: "cases/api: kept by hand (GOGC=off) and by Kasoku (near 175 MiB, with four others)"},
	{ID: "G12", Sign: "CPU binds", Done: "profile-guided build", Kind: KindBuild, Effect: "−7 % CPU",
		Left:  "programs of other compilers do not say how they were built; name the build in kasoku.yaml and let kasoku compare judge two of them",
		Tried: "cases/api: planned by Kasoku, not reached within its budget"},
	{ID: "G13", Sign: "CPU binds", Done: "ARM instances", Kind: KindHardware, Effect: "−10–20 % CPU",
		// A run sees how much CPU a request takes on the processor that is there.
		// What another one would take is in no counter of it, and depends on the
		// program; a number would be somebody else's.
		OutOfReach: "no evidence of a run tells what another processor would take; measure the same stack there and compare the two with kasoku run"},
	{ID: "G14", Sign: "the API log carries whole responses", Done: "needless fields dropped", Kind: KindSource, Trade: "observability", Effect: "−34 % CPU",
		Tried: "cases/api, kept in cases/api/hand/src: the log leaves the common part out"},
	{ID: "G15", Sign: "several queries on one table in a request", Done: "merged", Kind: KindSource,
		Tried: "cases/api, kept in cases/api/hand/src: a player with his deck is one statement instead of eleven (TestAPI)"},

	{ID: "L01", Sign: "the benchmark's own concurrency is too low", Done: "workload 1 → 5", Kind: KindLoad, Effect: "1,286 → 2,573"},
	{ID: "L02", Sign: "which implementation", Done: "another language's", Kind: KindRuntime, Effect: "3,389"},
	{ID: "L03", Sign: "TCP between nginx, application and database on one host", Done: "unix sockets", Kind: KindConfig, Effect: "3,400"},
	{ID: "L04", Sign: "which application server", Done: "another one", Kind: KindRuntime, Effect: "3,452"},
	{ID: "L05", Sign: "static files through the application", Done: "served by nginx", Kind: KindConfig, Effect: "3,663"},
	{ID: "L06", Sign: "full scans", Done: "indexes on login, on user and success, on address and success", Kind: KindIndex, Effect: "32,953"},
	{ID: "L07", Sign: "default my.cnf", Done: "log flushed once a second, 1 GB buffer pool", Kind: KindConfig, Trade: "durability", Effect: "±0: the database no longer bound"},
	{ID: "L08", Sign: "nginx and the benchmark compete for CPU", Done: "one worker process, epoll", Kind: KindConfig, Effect: "+1–6 %"},
	{ID: "L09", Sign: "the Server header tells the version", Done: "server_tokens off", Kind: KindConfig, Effect: "+3 %"},
	{ID: "L10", Sign: "hot files opened again and again", Done: "open_file_cache", Kind: KindConfig, Trade: "staleness of replaced files", Effect: "±0"},
	{ID: "L11", Sign: "session files on disk", Done: "in memory", Kind: KindConfig, Trade: "durability of sessions", Effect: "+2 %"},
	{ID: "L12", Sign: "ports run out", Done: "wider port range, more open files for nginx", Kind: KindKernel},
	{ID: "L13", Sign: "top page and static files made each time", Done: "Varnish for files and pages without a session; workload raised again", Kind: KindCache, Trade: "staleness", Effect: "42,505"},
	{ID: "L14", Sign: "scores before a restart only", Done: "the score after a restart reported too", Kind: KindCheck, Effect: "43,961",
		How: How{InLoop, "every service is restarted at the end of a session and the score measured again", "cmd/kasoku/e2e_test.go:TestWholeStory"}},
}
