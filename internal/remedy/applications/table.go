package applications

import (
	"kasoku/internal/knownapp"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

const (
	undoSettings = "LocalSettings.php's bytes, mode, owner and time come back, and the service that runs it is reloaded"
	undoFolder   = undoSettings + "; then the folder goes with all that is in it"
	test         = "cases/wiki/scenario_test.go:TestWiki"
)

// Remedies of this family. Each needs regulation.application_settings.
var Remedies = []planning.Remedy{
	{
		ID: knownapp.RemedyObjectCache, Title: "MediaWiki's object cache", Measures: []string{"W05"}, Rules: []string{"app.object-cache"},
		Reason: "Without one MediaWiki computes anew, or looks up in the database one by one, what it could take from memory. It goes into a memcached of the stack, or into APCu where PHP runs on one host; that is installed beforehand if PHP lacks it and regulation.install permits it. Sessions stay in the database, so nobody is logged out by a restart.",
		Source: "mediawiki.org, Manual:$wgMainCacheType, Manual:$wgSessionCacheType, Manual:Performance tuning",
		Reach:  0.5, Plan: planObjectCache, Test: test,
		Command: "in LocalSettings.php: `$wgMainCacheType = CACHE_MEMCACHED;`, `$wgMemCachedServers = [ '127.0.0.1:11211' ];`, `$wgSessionCacheType = CACHE_DB;`", Undo: undoSettings + "; then a package that was installed for it goes",
		Effect: "APCu +15.2 % (+9.0 to +21.8) on cases/wiki (`make case-wiki`, docs/measured/wiki.md)",
	},
	{
		ID: knownapp.RemedyCacheDirectory, Title: "Texts of MediaWiki's interface in files", Measures: []string{"W05"}, Rules: []string{"app.object-cache"},
		Reason: "Without a folder every text of the interface is a row of the table l10n_cache, asked for by itself. The folder is a new one that only PHP's user reads, outside of what the web server shows.",
		Source: "mediawiki.org, Manual:$wgCacheDirectory, Manual:$wgLocalisationCacheConf",
		Reach:  0.5, Plan: planCacheDirectory, Test: test,
		Command: "`install -d -m 700 -o www-data -g www-data /var/lib/kasoku-texts-app`, and in LocalSettings.php `$wgCacheDirectory = '/var/lib/kasoku-texts-app';`", Undo: undoFolder,
		Effect: "with OPcache and a my.cnf ×3.31 (×2.80 to ×3.92) on cases/wiki (`make case-wiki`, docs/measured/wiki.md)",
	},
	{
		ID: knownapp.RemedyFileCache, Title: "MediaWiki's file cache", Measures: []string{"W10"}, Rules: []string{"app.page-cache"},
		Reason: "Pages for readers who are not logged in are sent from files. MediaWiki makes a page anew when it is edited, and when a template of it is, as soon as a job has said so; other parts of a page may be older. Not where a cache of whole pages stands in front, which does the same sooner.",
		Source: "mediawiki.org, Manual:File cache; includes/cache/HTMLFileCache.php",
		Trades: []regulation.Trade{regulation.Staleness}, Reach: 0.5, Plan: planFileCache, Test: test,
		Command: "in LocalSettings.php: `$wgUseFileCache = true;`, `$wgFileCacheDirectory = '/var/lib/kasoku-pages-app';`", Undo: undoFolder,
		Effect: "+24.6 % (+17.0 to +32.8) of the whole score on cases/wiki (`make case-wiki`, docs/measured/wiki.md)",
	},
	{
		ID: knownapp.RemedyCdn, Title: "MediaWiki's pages in the Varnish in front", Measures: []string{"W10"}, Rules: []string{"app.page-cache"},
		Reason: "The Varnish answers strangers' pages until an edit purges them. Kept are only URLs that MediaWiki purges, for the regulation's limit at most; PURGE is the wiki's host's alone; who sends a cookie that tells anything goes to MediaWiki. Edits without a login count as made from the client's own address (X-Forwarded-For), no longer from Varnish's. Pages of an edited template are purged by a job.",
		Source: "mediawiki.org, Manual:Varnish caching, Manual:$wgUseCdn, Manual:$wgCdnServers, Manual:$wgCdnServersNoPurge, Manual:$wgCdnMaxAge; includes/cache/HtmlCacheUpdater.php, includes/MediaWiki.php of 1.39",
		Trades: []regulation.Trade{regulation.Staleness}, Reach: 0.8, Plan: planCdn, Test: "cases/wiki/cdn_test.go:TestCdn",
		Command: "in LocalSettings.php: `$wgUseCdn = true;`, `$wgCdnServers = [ '127.0.0.1:80' ];`, `$wgCdnServersNoPurge = [ '127.0.0.1' ];`, after an `acl` and `if (req.method == \"PURGE\") …` at the beginning of vcl_recv, `set beresp.ttl = 300s;` for what is purged and `set beresp.uncacheable = true;` for what is not purged in vcl_backend_response, `systemctl restart varnish`; see [caches of whole pages](../../explanation/page-cache.md)",
		Undo:    "LocalSettings.php's bytes, mode, owner and time come back, and the service that runs it is reloaded; then the VCL's bytes, and Varnish is started anew, so that nothing is left of what nobody purges any more",
	},
}
