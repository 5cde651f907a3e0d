package knownapp

import "kasoku/internal/regulation"

// debianConfig is where Debian's package has a site's settings, one file for each host
// name; the wp-config.php in its folder reads it (README.Debian). debianContent is the
// content's folder there, where plugins put their drop-ins.
const (
	debianConfig  = "../../../etc/wordpress/config-*.php"
	debianContent = "../../../var/lib/wordpress/wp-content/"
)

var php = []Application{
	{
		ID: "wordpress", Name: "WordPress",
		Marks:    []Mark{{Files: []string{"wp-includes/version.php"}}, {Files: []string{"wp-settings.php"}}},
		Version:  Mark{Files: []string{"wp-includes/version.php"}, Holds: `\$wp_version\s*=\s*'([^']+)'`},
		Settings: []string{debianConfig, "wp-config.php"},
		Knobs: []Knob{
			{
				Area: ObjectCache, Name: "object-cache.php", In: "wp-content/object-cache.php", Default: "none: objects are kept for one request",
				Propose: "the drop-in of a plugin for the memcached, Redis or APCu that is there",
				Why:     "Without it every request reads options, posts and terms from the database anew.",
				Source:  "developer.wordpress.org, reference: WP_Object_Cache, wp_start_object_cache()",
				Sign:    Sign{Files: []string{"wp-content/object-cache.php", debianContent + "object-cache.php"}, Absent: true},
			},
			{
				Area: PageCache, Name: "WP_CACHE", In: "wp-config.php", Default: "false",
				Propose: "true, with the advanced-cache.php of a plugin that caches pages",
				Why:     "Pages for strangers are rendered each time.", Trade: regulation.Staleness,
				Source: "developer.wordpress.org, Advanced Administration: wp-config.php (\"Cache\")",
				Sign:   Sign{Files: []string{"wp-content/advanced-cache.php", debianContent + "advanced-cache.php"}, Absent: true},
			},
			{
				Area: Jobs, Name: "DISABLE_WP_CRON", In: "wp-config.php", Default: "not set: each request looks for due events",
				Propose: "true, and wp-cron.php by a timer every few minutes",
				Why:     "Due events are started by requests, and run beside them.",
				Note:    "Without the timer nothing that is scheduled happens.",
				Source:  "developer.wordpress.org, Plugin Handbook: Hooking WP-Cron Into the System Task Scheduler",
				Sign:    Sign{Files: []string{debianConfig, "wp-config.php", "../wp-config.php"}, Lacks: `DISABLE_WP_CRON['"]\s*,\s*(?i:true|1)`},
			},
			{
				Area: Production, Name: "WP_DEBUG", In: "wp-config.php", Default: "false",
				Propose: "false", Why: "Notices are made and logged for each request.", Trade: regulation.Observability,
				Source: "developer.wordpress.org, Advanced Administration: Debugging in WordPress",
				Sign:   Sign{Files: []string{debianConfig, "wp-config.php", "../wp-config.php"}, Holds: `define\(\s*['"]WP_DEBUG['"]\s*,\s*(?i:true|1)\s*\)`},
			},
		},
	},
	{
		ID: "drupal", Name: "Drupal",
		Marks:       []Mark{{Files: []string{"core/lib/Drupal.php", "web/core/lib/Drupal.php", "docroot/core/lib/Drupal.php"}}},
		Version:     Mark{Files: []string{"core/lib/Drupal.php", "web/core/lib/Drupal.php", "docroot/core/lib/Drupal.php"}, Holds: `const VERSION = '([^']+)'`},
		Settings:    []string{"sites/*/settings.php", "web/sites/*/settings.php", "docroot/sites/*/settings.php"},
		CacheTables: []string{"cache_*", "cachetags"},
		Knobs: []Knob{
			{
				Area: ObjectCache, Name: "$settings['cache']['default']", In: "settings.php", Default: "cache.backend.database",
				Propose: "'cache.backend.memcache' or 'cache.backend.redis', with the module of that name, where one is there",
				Why:     "Every cache bin is a table of the database.",
				Note:    "The module must be installed before the line is written, or no page is answered.",
				Source:  "drupal.org, Cache API; project/memcache, project/redis (README)",
				Sign:    Sign{Files: []string{"sites/default/settings.php", "web/sites/default/settings.php", "docroot/sites/default/settings.php"}, Lacks: `\$settings\['cache'\]\['default'\]\s*=`},
			},
		},
	},
	{
		ID: "nextcloud", Name: "Nextcloud",
		Marks:       []Mark{{Files: []string{"lib/base.php"}}, {Files: []string{"version.php"}, Holds: `OC_Version`}},
		Version:     Mark{Files: []string{"version.php"}, Holds: `\$OC_VersionString\s*=\s*'([^']+)'`},
		Settings:    []string{"config/config.php"},
		CacheTables: []string{"file_locks"},
		Knobs: []Knob{
			{
				Area: ObjectCache, Name: "memcache.local", In: "config/config.php", Default: "none",
				Propose: `'\OC\Memcache\APCu' where PHP has APCu, on one host; else '\OC\Memcache\Redis'`,
				Why:     "What is asked for often is read from the database at each request.",
				Source:  "docs.nextcloud.com, Administration manual: Memory caching",
				Sign:    Sign{Files: []string{"config/config.php"}, Lacks: `['"]memcache\.local['"]\s*=>`},
			},
			{
				Area: Sessions, Name: "memcache.locking", In: "config/config.php", Default: "locks in the database",
				Propose: `'\OC\Memcache\Redis' with the section redis`,
				Why:     "Locks of files are rows of the database otherwise, which its manual calls a significant load.",
				Source:  "docs.nextcloud.com, Administration manual: Transactional file locking",
				Sign:    Sign{Files: []string{"config/config.php"}, Lacks: `['"]memcache\.locking['"]\s*=>`},
			},
		},
	},
}
