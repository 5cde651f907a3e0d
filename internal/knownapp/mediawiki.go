package knownapp

import "kasoku/internal/regulation"

// Remedies of internal/remedy/applications that settings of the table name.
const (
	RemedyObjectCache    = "mediawiki.object-cache"
	RemedyCacheDirectory = "mediawiki.cache-directory"
	RemedyFileCache      = "mediawiki.file-cache"
	RemedyCdn            = "mediawiki.cdn"
)

const localSettings = "LocalSettings.php"

// Defaults are those of includes/MainConfigSchema.php of MediaWiki 1.39.
var mediawiki = []Application{{
	ID: "mediawiki", Name: "MediaWiki",
	Marks:       []Mark{{Files: []string{"includes/Defines.php"}, Holds: `MW_VERSION`}, {Files: []string{"load.php"}}},
	Version:     Mark{Files: []string{"includes/Defines.php"}, Holds: `'MW_VERSION',\s*'([^']+)'`},
	Settings:    []string{localSettings},
	CacheTables: []string{"objectcache", "l10n_cache"},
	Knobs: []Knob{
		{
			Area: ObjectCache, Name: "$wgMainCacheType", In: localSettings, Default: "CACHE_NONE",
			Propose: "CACHE_MEMCACHED with $wgMemCachedServers where a memcached is reached, CACHE_ACCEL where PHP has APCu and runs on one host; with $wgSessionCacheType = CACHE_DB",
			Why:     "What MediaWiki has computed is looked up in the table objectcache, or computed again.",
			Note:    "Sessions go to the main cache unless $wgSessionCacheType says otherwise, and would end with it.",
			Source:  "mediawiki.org, Manual:$wgMainCacheType, Manual:$wgSessionCacheType, Manual:Performance tuning",
			Sign:    Sign{Files: []string{localSettings}, Lacks: `(?m)^[ \t]*\$wgMainCacheType\s*=\s*(?:CACHE_MEMCACHED|CACHE_ACCEL|['"])`},
			Remedy:  RemedyObjectCache,
		},
		{
			Area: ObjectCache, Name: "$wgCacheDirectory", In: localSettings, Default: "false",
			Propose: "a folder that PHP's user may write and that the web server does not show",
			Why:     "Texts of the interface come from the table l10n_cache one by one; with a folder they come from one file for each language.",
			Source:  "mediawiki.org, Manual:$wgCacheDirectory, Manual:$wgLocalisationCacheConf",
			Sign:    Sign{Files: []string{localSettings}, Lacks: `(?m)^[ \t]*(?:\$wgCacheDirectory|\$wgLocalisationCacheConf)\b[^;]*=`},
			Remedy:  RemedyCacheDirectory,
		},
		{
			Area: PageCache, Name: "$wgUseFileCache", In: localSettings, Default: "false",
			Propose: "true, with $wgFileCacheDirectory, where nothing in front caches pages",
			Why:     "Pages for readers who are not logged in are kept as files, and sent without rendering them.",
			Trade:   regulation.Staleness,
			Front:   Alone,
			Params:  []string{"title", "curid", "action"}, // HTMLFileCache::useFileCache
			Note:    "A page is made anew when it or a template of it is edited (the latter by a job); what else it shows, e.g. a menu or a count, may be older.",
			Source:  "mediawiki.org, Manual:File cache, Manual:$wgUseFileCache",
			Sign:    Sign{Files: []string{localSettings}, Lacks: `(?m)^[ \t]*\$wgUse(?:FileCache|Cdn|Squid)\s*=\s*true`},
			Remedy:  RemedyFileCache,
		},
		{
			Area: PageCache, Name: "$wgUseCdn", In: localSettings, Default: "false",
			Propose: "true, with the cache's addresses in $wgCdnServers, which then get PURGE at each edit, and in $wgCdnServersNoPurge",
			Why:     "With it MediaWiki tells a cache in front how long a page may be kept, and which pages an edit has changed.",
			Trade:   regulation.Staleness,
			Front:   Behind,
			Params:  []string{"title", "action"}, // HtmlCacheUpdater::getUrls
			Note:    "PURGE goes to /wiki/X and its history only: index.php?title=X is sent with s-maxage, too, and must not be cached or be rewritten in the cache. Pages of an edited template are purged by a job. Without $wgCdnServersNoPurge a proxy that is named with its port is not believed what X-Forwarded-For says (T132538).",
			Source:  "mediawiki.org, Manual:Varnish caching, Manual:$wgUseCdn, Manual:$wgCdnServers, Manual:$wgCdnServersNoPurge, Manual:$wgCdnMaxAge",
			Sign:    Sign{Files: []string{localSettings}, Lacks: `(?m)^[ \t]*\$wgUse(?:FileCache|Cdn|Squid)\s*=\s*true`},
			Remedy:  RemedyCdn,
		},
		{
			Area: Jobs, Name: "$wgJobRunRate", In: localSettings, Default: "1",
			Propose: "0, and a unit that runs maintenance/runJobs.php --wait --maxjobs=1000 as PHP's user and is started again when it ends",
			Why:     "Each request may run a job at its end, in the process that serves it.",
			Trade:   regulation.Staleness,
			Note:    "Without the unit, pages that use an edited template stay as they are until somebody runs the jobs.",
			Source:  "mediawiki.org, Manual:Job queue, Manual:$wgJobRunRate",
			Sign:    Sign{Files: []string{localSettings}, Lacks: `(?m)^[ \t]*\$wgJobRunRate\s*=\s*0`},
		},
	},
}}
