package remedy

import (
	"slices"

	"kasoku/internal/remedy/applications"
	"kasoku/internal/remedy/apps"
	"kasoku/internal/remedy/boot"
	"kasoku/internal/remedy/cache"
	"kasoku/internal/remedy/database"
	"kasoku/internal/remedy/front"
	"kasoku/internal/remedy/kernel"
	"kasoku/internal/remedy/packages"
	"kasoku/internal/remedy/pagecache"
	"kasoku/internal/remedy/php"
	"kasoku/internal/remedy/topology"
	"kasoku/internal/remedy/units"
	"kasoku/internal/remedy/web"
	"kasoku/internal/remedy/workload"
)

// Table holds every remedy, in the order in which they are listed for people.
var Table = slices.Concat(
	database.Remedies,
	web.Remedies,
	pagecache.Remedies,
	front.Remedies,
	php.Remedies,
	apps.Remedies,
	applications.Remedies,
	cache.Remedies,
	kernel.Remedies,
	packages.Remedies,
	units.Remedies,
	boot.Remedies,
	topology.Remedies,
	workload.Remedies,
)
