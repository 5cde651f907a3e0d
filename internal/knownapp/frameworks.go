package knownapp

import "kasoku/internal/regulation"

var frameworks = []Application{
	{
		ID: "laravel", Name: "Laravel",
		Marks:       []Mark{{Files: []string{"artisan"}}, {Files: []string{"vendor/laravel/framework/src/Illuminate/Foundation/Application.php", "bootstrap/app.php"}}},
		Version:     Mark{Files: []string{"vendor/laravel/framework/src/Illuminate/Foundation/Application.php"}, Holds: `const VERSION = '([^']+)'`},
		Settings:    []string{".env", "config/database.php", "config/cache.php", "config/session.php", "config/queue.php"},
		CacheTables: []string{"cache", "cache_locks"},
		Knobs: []Knob{
			{
				Area: ObjectCache, Name: "CACHE_STORE", In: ".env (CACHE_DRIVER before Laravel 11)", Default: "database (file before Laravel 11)",
				Propose: "redis or memcached, where one is there",
				Why:     "What the application caches goes through the database or files.",
				Source:  "laravel.com/docs, Cache: Configuration",
				Sign:    Sign{Files: []string{".env"}, Holds: `(?m)^CACHE_(?:STORE|DRIVER)=["']?(?:database|file)\b`},
			},
			{
				Area: Sessions, Name: "SESSION_DRIVER", In: ".env", Default: "database (file before Laravel 11)",
				Propose: "redis or memcached", Trade: regulation.SessionDurability,
				Why:    "Each request reads and writes its session in the database or a file.",
				Note:   "Who is logged in must log in again.",
				Source: "laravel.com/docs, HTTP Session: Configuration",
				Sign:   Sign{Files: []string{".env"}, Holds: `(?m)^SESSION_DRIVER=["']?(?:database|file)\b`},
			},
			{
				Area: Jobs, Name: "QUEUE_CONNECTION", In: ".env", Default: "database (sync before Laravel 11)",
				Propose: "redis or database, with `php artisan queue:work` as a service",
				Why:     "With sync a job is done within the request that dispatches it.",
				Note:    "Without a worker jobs are kept and never done.",
				Source:  "laravel.com/docs, Queues",
				Sign:    Sign{Files: []string{".env"}, Holds: `(?m)^QUEUE_CONNECTION=["']?sync\b`},
			},
			{
				Area: Production, Name: "config:cache", In: "bootstrap/cache/config.php", Default: "not made",
				Propose: "`php artisan optimize` (configuration, events, routes, views) at each deployment",
				Why:     "Every request reads .env and all files of config/, and registers all routes.",
				Note:    "From then on .env is read only by that command; env() outside of config/ answers null.",
				Source:  "laravel.com/docs, Deployment: Optimization",
				Sign:    Sign{Files: []string{"bootstrap/cache/config.php"}, Absent: true},
			},
			{
				Area: Production, Name: "APP_DEBUG", In: ".env", Default: "false", Propose: "false",
				Why: "Errors show the configuration to visitors, and are collected for it.", Trade: regulation.Observability,
				Source: "laravel.com/docs, Deployment: Debug Mode",
				Sign:   Sign{Files: []string{".env"}, Holds: `(?m)^APP_DEBUG=["']?true\b`},
			},
		},
	},
	{
		ID: "symfony", Name: "Symfony",
		Marks:       []Mark{{Files: []string{"bin/console"}}, {Files: []string{"config/bundles.php", "vendor/symfony/framework-bundle/composer.json"}}},
		Version:     Mark{Files: []string{"vendor/symfony/http-kernel/Kernel.php"}, Holds: `const VERSION = '([^']+)'`},
		Settings:    []string{".env", ".env.local", ".env.local.php", "config/packages/*.yaml"},
		CacheTables: []string{"cache_items"},
		Preload:     &Preload{File: "config/preload.php", Needs: "var/cache/prod/*.preload.php", Source: "symfony.com/doc, Performance: Use the OPcache class preloading"},
		Knobs: []Knob{
			{
				Area: Production, Name: "APP_ENV", In: ".env.local or .env", Default: "dev", Propose: "prod",
				Why: "In dev each request looks whether configuration and templates have changed, and collects what the toolbar shows.", Trade: regulation.Observability,
				Source: "symfony.com/doc, Configuration environments; How to Deploy a Symfony Application",
				Sign:   Sign{Files: []string{".env.local", ".env"}, Holds: `(?m)^APP_ENV=["']?dev\b`},
			},
			{
				Area: Production, Name: "dump-env", In: ".env.local.php", Default: "not made",
				Propose: "`composer dump-env prod` at each deployment",
				Why:     "Otherwise .env files are parsed at each request.",
				Source:  "symfony.com/doc, Configuration: Configuring Environment Variables in Production",
				Sign:    Sign{Files: []string{".env.local.php"}, Absent: true},
			},
			{
				Area: Jobs, Name: "MESSENGER_TRANSPORT_DSN", In: ".env", Default: "sync:// where none is set",
				Propose: "a queue (redis, amqp, doctrine), with `messenger:consume` as a service",
				Why:     "With sync:// a message is handled within the request that sends it.",
				Source:  "symfony.com/doc, Messenger: Transports",
				Sign:    Sign{Files: []string{".env.local", ".env"}, Holds: `(?m)^MESSENGER_TRANSPORT_DSN=["']?sync:`},
			},
		},
	},
	{
		ID: "rails", Name: "Ruby on Rails",
		Marks:       []Mark{{Files: []string{"config/application.rb"}, Holds: `Rails::Application`}},
		Version:     Mark{Files: []string{"Gemfile.lock"}, Holds: `(?m)^    rails \(([^)]+)\)`},
		Settings:    []string{"config/database.yml", "config/cable.yml", "config/environments/production.rb", ".env"},
		CacheTables: []string{"solid_cache_entries"},
		Knobs: []Knob{
			{
				Area: ObjectCache, Name: "config.cache_store", In: "config/environments/production.rb", Default: ":file_store",
				Propose: ":mem_cache_store or :redis_cache_store, where one is there",
				Why:     "Fragments are files below tmp/cache otherwise.",
				Source:  "guides.rubyonrails.org, Caching with Rails: Cache Stores",
				Sign:    Sign{Files: []string{"config/environments/production.rb"}, Lacks: `(?m)^[ \t]*config\.cache_store\s*=\s*:(?:mem_cache|redis_cache|solid_cache|memory)`},
			},
			{
				Area: ObjectCache, Name: "config.action_controller.perform_caching", In: "config/environments/production.rb", Default: "true in production",
				Propose: "true", Why: "With false nothing of a page is cached.", Trade: regulation.Staleness,
				Source: "guides.rubyonrails.org, Caching with Rails",
				Sign:   Sign{Files: []string{"config/environments/production.rb"}, Holds: `(?m)^[ \t]*config\.action_controller\.perform_caching\s*=\s*false`},
			},
			{
				Area: Jobs, Name: "config.active_job.queue_adapter", In: "config/environments/production.rb", Default: ":async, threads of the process that serves",
				Propose: "an adapter with workers of its own (Sidekiq, Solid Queue, …)",
				Why:     "Jobs take CPU of the processes that answer, and are lost when those end.",
				Source:  "guides.rubyonrails.org, Active Job Basics: Starting the Backend",
				Sign:    Sign{Files: []string{"config/environments/production.rb"}, Holds: `(?m)^[ \t]*config\.active_job\.queue_adapter\s*=\s*:(?:async|inline)\b`},
			},
		},
	},
	{
		ID: "django", Name: "Django",
		Marks:       []Mark{{Files: []string{"manage.py"}, Holds: `DJANGO_SETTINGS_MODULE`}},
		Settings:    []string{"*/settings.py", "*/settings/*.py", "settings.py", ".env"},
		CacheTables: []string{"django_session"},
		Knobs: []Knob{
			{
				Area: ObjectCache, Name: "CACHES", In: "settings.py", Default: "LocMemCache: one of its own in each process",
				Propose: "django.core.cache.backends.redis.RedisCache or memcached.PyMemcacheCache, where one is there",
				Why:     "Each worker process computes and keeps everything for itself.",
				Source:  "docs.djangoproject.com, Django's cache framework",
				Sign:    Sign{Files: []string{"*/settings.py", "*/settings/production.py", "*/settings/base.py"}, Lacks: `(?i)RedisCache|Memcache`},
			},
			{
				Area: Sessions, Name: "SESSION_ENGINE", In: "settings.py", Default: "django.contrib.sessions.backends.db",
				Propose: "django.contrib.sessions.backends.cached_db, with a cache that all processes share",
				Why:     "Each request of a user reads its session from the database; cached_db still writes it there.",
				Source:  "docs.djangoproject.com, How to use sessions: Using cached sessions",
				Sign:    Sign{Files: []string{"*/settings.py", "*/settings/production.py", "*/settings/base.py"}, Lacks: `(?m)^SESSION_ENGINE\s*=\s*["']django\.contrib\.sessions\.backends\.(?:cache|cached_db|signed_cookies)`},
			},
			{
				Area: Production, Name: "CONN_MAX_AGE", In: "settings.py (DATABASES)", Default: "0: a connection for each request",
				Propose: "60 or more seconds, below the database's wait_timeout", Why: "Each request connects to the database anew.",
				Note:   "Workers × threads connections stay open, and must be below max_connections.",
				Source: "docs.djangoproject.com, Databases: Persistent connections",
				Sign:   Sign{Files: []string{"*/settings.py", "*/settings/production.py", "*/settings/base.py"}, Lacks: `(?i)CONN_MAX_AGE`},
			},
			{
				Area: Production, Name: "DEBUG", In: "settings.py", Default: "False", Propose: "False",
				Why: "Every statement of a request is remembered, and templates are read anew.", Trade: regulation.Observability,
				Source: "docs.djangoproject.com, Settings: DEBUG; Deployment checklist",
				Sign:   Sign{Files: []string{"*/settings/production.py", "*/settings.py"}, Holds: `(?m)^DEBUG\s*=\s*True`},
			},
		},
	},
}
