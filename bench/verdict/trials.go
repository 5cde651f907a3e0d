package main

import "regexp"

// trial is one change on a real copy of the bank login, of which it is known
// whether it is to be kept.
type trial struct {
	part   string // aa, harm, good
	title  string
	base   base
	before act // made part of the base first, and taken away at the end
	act    act
}

// Parts, in the order in which they are tried.
const (
	partAA   = "aa"
	partHarm = "harm"
	partGood = "good"
)

// manyAA is how many candidates change a comment.
const manyAA = 30

// Files of the case (cases/login/case.sh).
const (
	nginxConf  = "etc/nginx/nginx.conf"
	serverConf = "etc/nginx/conf.d/login.conf"
	myCnf      = "etc/mysql/my.cnf"
	phpIni     = "etc/php/php.ini"
	poolConf   = "etc/php/pool.d/www.conf"
	loginPHP   = "app/src/login.php"
	pagesPHP   = "app/src/pages.php"
	dbPHP      = "app/src/database.php"
)

var (
	web, php, db = []string{"web"}, []string{"php"}, []string{"db"}

	// comments change a file and nothing else, one for each way of putting a
	// change in force: reload, restart of the database, restart of PHP-FPM, none.
	comments = []trial{
		{title: "a comment in nginx.conf", act: act{edits: []edit{{nginxConf, "http {\n", "http {\n    # this line changes nothing\n"}}, reload: web}},
		{title: "a comment in my.cnf", act: act{edits: []edit{{myCnf, "[mysqld]\n", "[mysqld]\n# this line changes nothing\n"}}, restart: db}},
		{title: "a comment in the FPM pool", act: act{edits: []edit{{poolConf, "[www]\n", "[www]\n; this line changes nothing\n"}}, restart: php}},
		{title: "a comment in login.php", act: act{edits: []edit{{loginPHP, "<?php\n", "<?php\n// this line changes nothing\n"}}}},
	}

	// What is wrong with each is said in its title.
	noOPcache    = act{edits: []edit{{phpIni, "opcache.enable = 1", "opcache.enable = 0"}}, restart: php}
	oneProcess   = act{edits: []edit{{poolConf, "pm.max_children = 8", "pm.max_children = 1"}}, restart: php}
	shortLives   = act{edits: []edit{{poolConf, "pm = static\n", "pm = static\npm.max_requests = 1\n"}}, restart: php}
	staticByPHP  = act{edits: []edit{{serverConf, "    location /css/ {\n    }\n\n    location /images/ {\n    }\n\n    location / {\n", "    location / {\n"}}, reload: web}
	sleepy       = act{edits: []edit{{pagesPHP, "    [$user, $reason] =", "    usleep(100000);\n    [$user, $reason] ="}}}
	connectOften = act{edits: []edit{{dbPHP, "if ($pdo === null) {", "if (true) {"}}}
	neverBans    = act{edits: []edit{{loginPHP, "if (ip_banned()) {", "if (false) {"}}}

	loginIndex = act{sql: "ALTER TABLE users ADD INDEX IF NOT EXISTS login (login)", unsql: "ALTER TABLE users DROP INDEX IF EXISTS login"}
	userIndex  = act{sql: "ALTER TABLE login_log ADD INDEX IF NOT EXISTS user_succeeded (user_id, succeeded)", unsql: "ALTER TABLE login_log DROP INDEX IF EXISTS user_succeeded"}
	addrIndex  = act{sql: "ALTER TABLE login_log ADD INDEX IF NOT EXISTS ip_succeeded (ip, succeeded)", unsql: "ALTER TABLE login_log DROP INDEX IF EXISTS ip_succeeded"}
	bothIndex  = act{sql: userIndex.sql + "; " + addrIndex.sql, unsql: userIndex.unsql + "; " + addrIndex.unsql}

	opcacheOn   = act{edits: []edit{{phpIni, "opcache.enable = 0", "opcache.enable = 1"}}, restart: php}
	staticByWeb = act{edits: []edit{{serverConf, "    location / {\n", "    location ~ ^/(css|images)/ {\n        root ../../app/public;\n    }\n\n    location / {\n"}}, reload: web}
	persistent  = act{edits: []edit{{dbPHP, "PDO::ATTR_EMULATE_PREPARES => false,", "PDO::ATTR_EMULATE_PREPARES => false,\n            PDO::ATTR_PERSISTENT => true,"}}}
)

// trials are all of them, one base after the other, so that each copy is
// brought up once: those of a part ("": of each) whose title matches, at most
// so many of each part (0: all).
func trials(only string, match *regexp.Regexp, most int) []trial {
	var all []trial
	for n := range manyAA {
		t := comments[n%len(comments)]
		t.part, t.base = partAA, byHand
		all = append(all, t)
	}
	all = append(all, harmful...)
	all = append(all, good...)
	counts, out := map[string]int{}, []trial{}
	for _, t := range all {
		if only != "" && t.part != only || !match.MatchString(t.title) || most > 0 && counts[t.part] >= most {
			continue
		}
		counts[t.part]++
		out = append(out, t)
	}
	return out
}

// harmful are of the case tuned by hand, where there is most to lose.
var harmful = []trial{
	{partHarm, "OPcache off", byHand, act{}, noOPcache},
	{partHarm, "one FPM process", byHand, act{}, oneProcess},
	{partHarm, "an FPM process ends after each request", byHand, act{}, shortLives},
	{partHarm, "the index on users.login dropped", byHand, act{}, loginIndex.back()},
	{partHarm, "the index on login_log.user_id dropped", byHand, act{}, userIndex.back()},
	{partHarm, "the index on login_log.ip dropped", byHand, act{}, addrIndex.back()},
	{partHarm, "static files through PHP", byHand, act{}, staticByPHP},
	{partHarm, "100 ms asleep in each login", byHand, act{}, sleepy},
	{partHarm, "a connection for each statement", byHand, act{}, connectOften},
	{partHarm, "addresses are not banned any more (faster, and wrong)", byHand, act{}, neverBans},
}

// good are of the case as found, of it with indexes, where PHP binds, and of it
// tuned by hand but for one thing.
var good = []trial{
	{partGood, "index on users.login", asFound, act{}, loginIndex},
	{partGood, "indexes on login_log", asFound, act{}, bothIndex},
	{partGood, "OPcache on", indexed, act{}, opcacheOn},
	{partGood, "static files by nginx", indexed, act{}, staticByWeb},
	{partGood, "8 FPM processes, not 1", byHand, oneProcess, oneProcess.back()},
	{partGood, "FPM processes that stay", byHand, shortLives, shortLives.back()},
	{partGood, "persistent connections", byHand, act{}, persistent},
	{partGood, "logins without 100 ms asleep", byHand, sleepy, sleepy.back()},
	{partGood, "index on login_log.user_id", byHand, userIndex.back(), userIndex},
	{partGood, "index on login_log.ip", byHand, addrIndex.back(), addrIndex},
}
