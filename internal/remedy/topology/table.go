package topology

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

const topologyTest = "cases/remedies/topology/balance_test.go:TestBalance"

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "nginx.balance", Title: "Weights of a balancer by what each host has left", Measures: []string{"W12", "I22", "I24"}, Rules: []string{"topology.balance"},
		Reason: "A host that also runs the database or the balancer has less CPU for requests. The weights that would use all hosts alike follow from what each spends per request; how far towards them, and beyond, is found by trying.",
		Source: "nginx documentation, ngx_http_upstream_module, \"server\": weight, backup; Lazowska et al. 1984, Quantitative System Performance, ch. 5",
		Reach:  0.5, Plan: planBalance, Test: topologyTest,
		Command: "upstream app { server 10.0.0.1:9000 weight=20; server 10.0.0.2:9000 weight=80; }; `nginx -s reload`; measure; try the next weights", Undo: "The file's bytes come back, then nginx is reloaded.",
	},
	{
		ID: "nginx.spare-host", Title: "Requests for a further host", Measures: []string{"I22", "W12"}, Rules: []string{"topology.spare"},
		Reason: "A host that can do the same work takes part of it off those that are busy. Which share pays follows from what each host spends per request, and is found by trying. Both sides stay ready: a unit that does not run on that host is started (and enabled) before, and only nginx's file differs between them.",
		Source: "nginx documentation, ngx_http_upstream_module, \"server\": weight; Lazowska et al. 1984, Quantitative System Performance, ch. 5",
		Reach:  0.5, Plan: PlanSpare, Test: topologyTest,
		Command: "upstream php { server 127.0.0.1:9000 weight=40; server 10.0.0.2:9000 weight=60; } … fastcgi_pass php; `nginx -s reload`; on the host, before: systemctl enable --now php8.2-fpm", Undo: "The file's bytes come back, then nginx is reloaded; then the unit is stopped and disabled again.",
		Effect: "a second host +94.6 % (with apache.nginx-in-front), a third +39.4 % on the wiki's hosts with 0.45 of a CPU each (docs/measured/wiki.md tells the commands)",
	},
	{
		ID: "nginx.fewer-hosts", Title: "Fewer hosts behind a balancer", Measures: []string{"W12"}, Rules: []string{"topology.fewer"},
		Reason: "Where no host is saturated, another one adds its network's time to a request and takes warmth from caches. Those left out stay as backup: they answer when the others fail.",
		Source: "nginx documentation, ngx_http_upstream_module, \"server\": backup",
		Reach:  0.05, Plan: planFewer, Test: topologyTest,
		Command: "upstream app { server 10.0.0.1:9000; server 10.0.0.2:9000 backup; }; `nginx -s reload`", Undo: "The file's bytes come back, then nginx is reloaded.",
	},
	{
		ID: "database.apart", Title: "Database on a host of its own", Measures: []string{"I05", "W12"}, Rules: []string{"topology.database-apart"},
		Reason: "A database and an application that share a full host take CPU from each other. On another host each has its own; a round trip over the network is added to each statement, so which is faster is found by trying. The other database is prepared as a copy that follows; each switch holds writes back until the other one has all of them.",
		Source: "MariaDB manual, \"Setting Up Replication\", \"Global Transaction ID\", \"read_only\"; Denning & Buzen 1978",
		Reach:  0.5, Trades: []regulation.Trade{regulation.Security}, Plan: planApart, Test: "cases/remedies/topology/apart_test.go:TestDatabaseApart",
		Command: "kasoku.yaml: {name: db2, kind: mariadb, host: h2, spare_for: db}; log_bin, log_slave_updates, server_id on both, read_only on db2, restart; mariadb-dump | mariadb; CHANGE MASTER; then db: SET GLOBAL read_only = 1; db2: MASTER_GTID_WAIT, SET GLOBAL read_only = 0; the application's settings: mysql:host=10.0.0.2", Undo: "The same way back: writes are held back on db2 until db has them all. Then the copy is dropped, and both servers' files come back and they are restarted.",
		Effect: "+92.1 % (+81.1 to +104) on two disposable hosts of 0.4 CPU each, half of the work the database's (docs/explanation/database-apart.md)",
	},
}
