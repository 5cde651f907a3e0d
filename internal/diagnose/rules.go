package diagnose

import "kasoku/internal/trace"

// Rules is the table of everything that is looked for.
var Rules = slicesOf(
	statementRules, databaseRules, phpRules, webRules, webServerRules, apacheRules, cacheRules, requestRules, profileRules(), appRules, programRules, knownRules, systemRules, loadRules,
	kernelRules, packageRules, unitRules, bootRules,
)

func slicesOf(groups ...[]Rule) []Rule {
	var out []Rule
	for _, g := range groups {
		out = append(out, g...)
	}
	return out
}

const (
	needStatements = "statements of a diagnostic run"
	needDB         = "database variables and counters"
	needPHP        = "effective PHP settings"
	needWeb        = "web server configuration"
	needLog        = "access log"
	needSystem     = "system counters"
	needRequests   = "requests followed one at a time, or spans"
	needCalls      = "requests followed one at a time, spans, or digests of statements"
	needProfile    = "a profile of a diagnostic run"
	needCache      = "counters of memcached, Redis or Varnish"
)

var statementRules = []Rule{
	{"db.full-scan", []string{"I02", "I07", "I10", "L06", "W06"}, needStatements, judgeFullScan},
	{"db.sorts", []string{"W06", "W09", "C25"}, needStatements, judgeSorts},
	{"db.row-locks", []string{"I03"}, needDB, judgeRowLocks},
	{"db.hot-row", []string{"I03"}, needDB, judgeHotRow},
	{"db.isolation", []string{"C21"}, needDB, judgeIsolation},
	{"db.deadlocks", []string{"C15"}, needDB, judgeDeadlocks},
	{"db.prepares", []string{"I06"}, needDB, judgePrepares},
	{"db.many-commits", []string{"I08", "C15"}, needDB, judgeManyCommits},
	{"db.spare-index", []string{"I02"}, "schema and counters", judgeSpareIndexes},
}

var databaseRules = append([]Rule{
	{"db.memory", []string{"C21", "W07", "L07"}, needDB, judgeDBMemory},
	{"db.pool-too-large", []string{"C21"}, needDB, judgePoolTooLarge},
	{"db.overcommit", []string{"C21", "C25"}, needDB, judgeOvercommit},
	{"db.commit-flush", []string{"W07", "L07"}, needDB, judgeCommitFlush},
	{"db.binlog-sync", []string{"C21"}, needDB, judgeBinlogSync},
	{"db.connect-per-request", []string{"I14", "C12"}, "database counters", judgeConnects},
	{"app.db-persistent", []string{"I14", "C12"}, needDB, judgeKeptDatabase},
	{"db.connections", []string{"C22", "C24"}, needDB, judgeMaxConnections},
	{"db.aborted", []string{"C24"}, needDB, judgeAborted},
	{"db.query-cache", []string{"W07"}, needDB, judgeQueryCache},
	{"db.name-resolve", []string{"W07"}, needDB, judgeNameResolve},
	{"db.defaults", []string{"W07", "I01", "L07"}, needDB, judgeEmptyConfig},
	{"db.pool-cold", []string{"W16"}, needDB, judgePoolCold},
	{"db.unknown-settings", []string{"W08"}, "option files", judgeGone},
	{"db.myisam", []string{"W07"}, needDB, judgeMyISAM},
	{"db.loopback-tcp", []string{"L03"}, "application settings", judgeLoopbackDB},
}, append(limitRules(), dbSettingRules...)...)

// limitMeasures are what each of dbLimits stands for.
var limitMeasures = map[string][]string{
	"db.thread-cache": {"C22", "C24"}, "db.table-cache": {"C22"}, "db.definition-cache": {"C22"}, "db.binlog-cache": {"C23"},
	"db.tmp-disk": {"C25", "W06"}, "db.sort-merge": {"C25"}, "db.log-buffer": {"C21"}, "db.pool-wait": {"C26"},
}

func limitRules() []Rule {
	var out []Rule
	for _, l := range dbLimits {
		out = append(out, Rule{l.rule, limitMeasures[l.rule], needDB, judgeLimit(l)})
	}
	return out
}

var phpRules = []Rule{
	{"php.opcache-off", []string{"W03"}, needPHP, judgeOPcache},
	{"php.opcache-full", []string{"W03"}, "OPcache status", judgeOPcacheFull},
	{"php.timestamps", []string{"W03"}, needPHP, judgeTimestamps},
	{"php.realpath", []string{"W03"}, needPHP, judgeRealpath},
	{"php.preload", []string{"W03"}, needKnown, judgePreload},
	{"php.debugger", []string{"W14"}, needPHP, judgeDebuggers},
	{"php.jit-off", []string{"I16"}, needPHP, judgeJIT},
	{"php.workers", []string{"C18", "I17"}, "pool configuration", judgeWorkers},
	{"php.mode", []string{"C18"}, "pool configuration", judgeMode},
	{"php.pool-full", []string{"C18", "I17"}, "PHP-FPM status", judgePoolFull},
	{"php.too-many", []string{"C18", "C20"}, "memory by service", judgeTooManyProcesses},
	{"php.max-requests", []string{"C18"}, "pool configuration", judgeShortLives},
	{"php.session-files", []string{"L11"}, needPHP, judgeSessions},
	{"php.locale-archive", []string{"C20"}, "memory maps of PHP-FPM", judgeLocaleArchive},
	{"php.session-connect", []string{"C13"}, needPHP, judgeSessionConnect},
}

var webRules = []Rule{
	{"web.static-through-app", []string{"L05"}, "sampled answers and application files", judgeStatic},
	{"web.cacheable", []string{"L13", "W10"}, "sampled answers", judgeCacheable},
	{"web.cache-misses", []string{"W11"}, needLog, judgeCacheStatus},
	{"web.loopback-tcp", []string{"L03"}, "web server and pool configuration", judgeLoopbackWeb},
	{"web.loopback-http", []string{"L03"}, "web server configuration", judgeLoopbackHTTP},
	{"web.workers", []string{"L08"}, needWeb, judgeNginxWorkers},
	{"web.connections", []string{"L12"}, needWeb, judgeNginxConnections},
	{"web.delivery", []string{"C19"}, needWeb, judgeNginxDelivery},
	{"web.gzip", []string{"C27"}, "sampled answers and web server configuration", judgeGzip},
	{"web.brotli", []string{"C27"}, "sampled answers and web server configuration", judgeBrotli},
	{"web.gzip-static", []string{"C27"}, "sampled answers and application files", judgeGzipStatic},
	{"web.server-tokens", []string{"L09"}, needWeb, judgeTokens},
	{"web.file-cache", []string{"C19", "L10"}, needWeb, judgeFileCache},
	{"web.access-log", []string{"I09", "W14"}, needWeb, judgeAccessLog},
	{"web.health-check", []string{"C17"}, needLog, judgeHealthCheck},
	{"app.go-build", []string{"G12"}, "pprof address", judgeGoBuild},
	{"version.old", []string{"C04", "W03", "I24"}, "versions", judgeOldVersions},
}

var cacheRules = []Rule{
	{"cache.evictions", []string{"C06", "C07"}, needCache, judgeEvictions},
	{"cache.hit-rate", []string{"W11"}, needCache, judgeHitRate},
	{"cache.connections", []string{"C13"}, needCache, judgeCacheRefuses},
	{"cache.connect-per-request", []string{"C12", "C13"}, needCache, judgeCacheConnects},
	{"app.cache-persistent", []string{"C12", "C13"}, needCache, judgeKeptMemcached},
	{"cache.many-gets", []string{"C10", "C12"}, needCache, judgeManyGets},
	{"cache.latency", []string{"C07"}, "latency probes", judgeCacheLatency},
	{"cache.loopback-tcp", []string{"C06", "I19"}, "kasoku.yaml", judgeCacheLoopback},
	{"cache.none", []string{"W05"}, needDB, judgeNoCache},
	{"redis.persistence", []string{"I19"}, needCache, judgeRedisPersistence},
	{"redis.slow-command", []string{"C10"}, needCache, judgeRedisSlow},
	{"varnish.storage", []string{"W11"}, needCache, judgeVarnishStorage},
	{"varnish.pages", []string{"W10"}, "sampled answers and VCL", judgeVarnishPages},
	{"varnish.file-storage", []string{"W11"}, "varnishd's arguments", judgeVarnishFile},
	{"varnish.threads", []string{"W13", "C18"}, needCache, judgeVarnishQueue},
}

var requestRules = []Rule{
	{"request.n+1", []string{"I04"}, needCalls, judgePattern(trace.NPlusOne)},
	{"request.same-read", []string{"C08"}, needRequests, judgePattern(trace.SameRead)},
	{"request.same-table", []string{"G15"}, needRequests, judgePattern(trace.SameTable)},
	{"request.row-writes", []string{"C15", "I08"}, needCalls, judgePattern(trace.RowWrites)},
	{"request.id-by-update", []string{"I03"}, needCalls, judgePattern(trace.IDByUpdate)},
	{"request.single-gets", []string{"C10"}, needRequests, judgePattern(trace.SingleGets)},
	{"request.single-redis", []string{"C10"}, needRequests, judgePattern(trace.SingleRedis)},
	{"request.connects", []string{"C12", "C13", "I14"}, needRequests, judgePattern(trace.RowConnects)},
	{"request.prepare-once", []string{"I06"}, needRequests, judgePattern(trace.PrepareOnce)},
	{"request.same-write", []string{"C09"}, needRequests, judgePattern(trace.SameWrite)},
	{"request.calls-per-item", []string{"G15", "I11"}, needRequests, judgePattern(trace.QueriesInLoop)},
	{"request.many-calls", []string{"C11", "I11", "I23"}, needCalls, judgeManyCalls},
	{"request.master-data", []string{"I12", "I15", "I23", "G01"}, needCalls, judgeMasterData},
}

// profileMeasures are what each of profileSigns stands for.
var profileMeasures = map[string][]string{
	"profile.gc": {"G03", "G04", "G11"}, "profile.compression": {"G09"}, "profile.encoding": {"G10", "G14"}, "profile.logging": {"G14", "I09"},
	"profile.sorting": {"G01", "G02"}, "profile.regexp": {"C14"}, "profile.compile": {"W03"}, "profile.crypto": {"C14"},
}

func profileRules() []Rule {
	out := []Rule{{"profile.hot", []string{"C14", "I20"}, needProfile, judgeHot}}
	for _, s := range profileSigns {
		out = append(out, Rule{s.rule, profileMeasures[s.rule], needProfile, judgeProfile(s)})
	}
	return out
}

var systemRules = []Rule{
	{"tcp.time-wait", []string{"C02", "C06"}, needSystem, judgeTimeWait},
	{"tcp.ports", []string{"C16", "L12"}, needSystem, judgePorts},
	{"tcp.accept-queue", []string{"C16", "L12"}, needSystem, judgeAcceptQueue},
	{"tcp.retransmits", []string{"C16"}, needSystem, judgeRetransmits},
	{"system.files", []string{"L12"}, needSystem, judgeFiles},
	{"system.memory", []string{"C16", "C20"}, needSystem, judgeLowMemory},
	{"system.steal", []string{"W13"}, needSystem, judgeSteal},
	{"system.quota", []string{"C05"}, needSystem, judgeQuota},
	{"system.switching", []string{"I20"}, needSystem, judgeSwitching},
	{"system.disk", []string{"C26"}, needSystem, judgeDisk},
	{"system.network", []string{"C27"}, needSystem, judgeNetwork},
	{"system.serial", []string{"W13"}, needSystem, judgeSerial},
	{"system.unsaturated", []string{"W13"}, needSystem, judgeUnsaturated},
	{"topology.hosts", []string{"W12", "I22", "I24", "C28", "G06"}, needMore, judgeHosts},
	{"topology.hot-shard", []string{"I18"}, "several databases or instances of memcached that share keys", judgeHotShard},
	{"topology.balance", []string{"W12", "I22"}, "an upstream of several hosts", judgeBalance},
	{"topology.fewer", []string{"W12", "W13"}, "an upstream of several hosts", judgeFewer},
	{"topology.spare", []string{"W12", "I22"}, "a service that is spare for another (spare_for)", judgeSpare},
	{"topology.code", []string{"W17"}, "a service that is spare for another (spare_for)", judgeCode},
	{"topology.boot", []string{"W15", "W16"}, needMore, judgeBoot},
	{"topology.runtime", []string{"L02", "L04", "I21", "G13"}, needMore, judgeRuntime},
	{"app.variant", []string{"L02", "L04", "I21", "I14"}, "variants in kasoku.yaml", judgeVariants},
	{"topology.database-apart", []string{"I05", "I13", "I22"}, "CPU by service", judgeDatabaseApart},
}

var loadRules = []Rule{
	{"load.workload", []string{"L01", "G08"}, "a load result", judgeWorkload},
	{"load.generator", []string{"L08"}, "a load result", judgeGenerator},
	{"load.errors", []string{"W17"}, "a load result", judgeWrongAnswers},
	{"load.heavy-route", []string{"C01", "W11"}, "access log or load result", judgeHeavyRoute},
	{"log.server-errors", []string{"C01", "W17"}, needLog, judgeServerErrors},
	{"log.messages", []string{"C16", "C24", "L12"}, "error logs", judgeLogs},
}
