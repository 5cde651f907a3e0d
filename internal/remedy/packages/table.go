// Package packages plans upgrades from the system's own sources.
package packages

import "kasoku/internal/remedy/planning"

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "packages.upgrade", Title: "Newer versions from the host's own package sources", Measures: []string{"C04", "W03", "I24"}, Rules: []string{"version.newer"},
		Reason: "Newer versions of a server and of the libraries that it uses do the same work with less; whether these do, the experiment tells. Other services take a new library on when they are restarted.",
		Source: "Debian Policy 5.6.12 (versions); apt-get(8), install package=version",
		Reach:  0.05, Plan: planUpgrade,
		Command: "apt-get install nginx=1.26.3-1; systemctl restart nginx",
		Undo:    "the packages of before, saved by Kasoku, are installed again in one apt-get run; configuration files and apt-mark come back as they were; the service is restarted",
		Test:    "TestPackagesUpgrade",
	},
}
