package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
)

// A queue as most are: nearly all jobs are done, and those that wait are the newest.
var queue = []string{
	"CREATE TABLE jobs (id INT PRIMARY KEY AUTO_INCREMENT, queue VARCHAR(40) NOT NULL, state TINYINT NOT NULL, priority INT NOT NULL, run_at DATETIME NOT NULL, worker INT, payload VARCHAR(200))",
	"INSERT INTO jobs SELECT seq, CONCAT('q', CRC32(seq) % 12), IF(seq > 38000, 0, 2), CRC32(seq*5) % 5, '2026-01-01' + INTERVAL seq * 20 SECOND, IF(seq % 50 = 0, seq % 7, NULL), REPEAT('p', 80) FROM seq_1_to_40000",
}

// Who takes a job from a queue finds it by all that it compares, then in order: without one
// of these columns the server passes over what is done with.
func TestServerTakesFromQueues(t *testing.T) {
	await.SkipShort(t)
	check(t, []onServer{
		{"taken in order", queue, "UPDATE jobs SET state = 1, worker = 5 WHERE queue = 'q3' AND state = 0 ORDER BY run_at LIMIT 1", "jobs(queue,state,run_at)", 20, ""},
		{"taken by two columns of order", queue, "UPDATE jobs SET state = 1, worker = 5 WHERE state = 0 ORDER BY priority DESC, run_at LIMIT 1", "jobs(state,priority DESC,run_at)", 20, ""},
		{"taken when due", queue, "UPDATE jobs SET state = 1, worker = 5 WHERE queue = 'q3' AND state = 0 AND run_at <= '2026-01-11' ORDER BY priority DESC LIMIT 1", "jobs(queue,state,priority)", 200, ""},
		{"deleted", queue, "DELETE FROM jobs WHERE queue = 'q3' AND state = 0 ORDER BY run_at, id LIMIT 1", "jobs(queue,state,run_at)", 20, ""},
		{"cleaned up", queue, "DELETE FROM jobs WHERE state = 2 ORDER BY run_at LIMIT 10", "jobs(state,run_at)", 30, ""},
		{"read and locked", queue, "SELECT * FROM jobs WHERE queue = 'q3' AND state = 0 ORDER BY run_at LIMIT 1 FOR UPDATE", "jobs(queue,state,run_at)", 20, ""},
		{"that nobody has", queue, "UPDATE jobs SET worker = 5 WHERE worker IS NULL AND queue = 'q3' AND state = 0 ORDER BY id LIMIT 1", "jobs(queue,state)", 20, ""},
		{"found at once", queue, "UPDATE jobs SET worker = 5 WHERE worker IS NULL AND queue = 'q3' ORDER BY id LIMIT 1", "", 100, ""},
	})
}

// People of teams, and what is noted of them.
func notesOf(teams string, more ...string) []string {
	return append([]string{
		"CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, team INT NOT NULL, name VARCHAR(60) NOT NULL, age INT, KEY team (team))",
		"INSERT INTO people SELECT seq, CRC32(seq) % " + teams + ", MD5(seq), CRC32(seq*3) % 80 FROM seq_1_to_20000",
		"CREATE TABLE notes (id INT PRIMARY KEY AUTO_INCREMENT, person INT NOT NULL, kind INT NOT NULL, made DATETIME NOT NULL, text VARCHAR(200) NOT NULL)",
		"INSERT INTO notes SELECT seq, 1 + CRC32(seq*11) % 20000, CRC32(seq*3) % 6, '2026-01-01' + INTERVAL CRC32(seq*13) % 30000000 SECOND, REPEAT('n', 120) FROM seq_1_to_80000",
	}, more...)
}

// The newest of a joined table: by its order where that table is read first, else by what
// joins it. The server chooses which is first without regard to the limit, so an index that
// would only serve another choice is none.
func TestServerReadsNewestOfJoined(t *testing.T) {
	await.SkipShort(t)
	const newest = "SELECT n.*, p.name FROM people p JOIN notes n ON n.person = p.id WHERE $ ORDER BY n.made DESC LIMIT 10"
	where := func(condition string) string { return strings.Replace(newest, "$", condition, 1) }
	check(t, []onServer{
		{"of a few people", notesOf("400"), where("p.team = 17 AND n.made > '2026-06-01'"), "notes(person,made)", 700, ""},
		{"of one", notesOf("400"), where("p.id = 17 AND n.made > '2026-06-01'"), "notes(person,made)", 30, ""},
		{"of most people", notesOf("400"), where("p.age >= 20 AND n.made > '2026-06-01'"), "notes(made)", 60, ""},
		{"of a quarter of them", notesOf("4"), where("p.team = 3"), "notes(made)", 150, ""},
		{"of one kind", notesOf("400"), where("n.kind = 3"), "notes(kind,made)", 50, ""},
		{"of a quarter, lately", notesOf("4", "ALTER TABLE notes ADD KEY person (person)"), where("p.team = 3 AND n.made > '2026-12-01'"), "notes(made)", 150, ""},
	})
	for _, teams := range []float64{4, 40} { // the people are read first, and all that is noted of them sorted
		people := define("people", 20000, fmt.Sprintf("id:int(11):20000 team:int(11):%.0f name:varchar(60):20000", teams), "PRIMARY(id)", "team(team)")
		noted := define("notes", 80000, "id:int(11):80000 person:int(11):20000 kind:int(11):6 made:datetime:80000 text:varchar(200):1", "PRIMARY(id)", "person(person)")
		statement := run(where("p.team = 3"), 1000, 60*time.Second, 120000/teams, 10)
		statement.FullScans = 0
		advice, _ := Advise([]evidence.Statement{statement}, []evidence.Table{people, noted}, Options{})
		if got := columnsOf(advice); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "notes") }) {
			t.Errorf("%.0f teams: advised %v", teams, got)
		}
	}
}

// Where little is passed over, one column more is not worth its upkeep.
func TestFewRowsArePassedOver(t *testing.T) {
	visits := define("visits", 100000, "id:int(11):100000 person:int(11):10000 kind:int(11):2 made:datetime:100000", "PRIMARY(id)")
	statement := run("SELECT * FROM visits WHERE person = 5 AND kind = 1 ORDER BY id DESC LIMIT 2", 1000, 60*time.Second, 100000, 2)
	advice, _ := Advise([]evidence.Statement{statement}, []evidence.Table{visits}, Options{})
	if got := strings.Join(columnsOf(advice), " "); got != "visits(person)" {
		t.Errorf("advised %s", got)
	}
}

// What is found by a list, a prefix or a function, and sorted.
func TestServerSortsWhatIsFound(t *testing.T) {
	await.SkipShort(t)
	tables := notesOf("400")
	check(t, []onServer{
		{"a prefix, in another order", tables, "SELECT * FROM people WHERE name LIKE 'ab%' ORDER BY age LIMIT 10", "people(name)", 400, ""},
		{"a prefix, in its order", tables, "SELECT * FROM people WHERE name LIKE 'ab%' ORDER BY name LIMIT 10", "people(name)", 50, ""},
		{"a few of many", tables, "SELECT * FROM notes WHERE person IN (3, 4, 5) ORDER BY made DESC LIMIT 10", "notes(person)", 60, ""},
		{"many of a few", tables, "SELECT * FROM notes WHERE kind IN (2, 3) ORDER BY made DESC LIMIT 10", "notes(made)", 60, ""},
		{"either of two", tables, "SELECT * FROM notes WHERE person = 8 OR kind = 9 ORDER BY made DESC LIMIT 10", "notes(kind) notes(person)", 60, ""},
		{"counted", tables, "SELECT COUNT(*) FROM notes WHERE kind = 3", "notes(kind)", 14000, ""},
		{"some by chance", tables, "SELECT * FROM people ORDER BY RAND() LIMIT 5", "", 50000, "random keys"},
		{"by the day", tables, "SELECT * FROM notes WHERE DATE(made) = '2026-03-05'", "", 90000, "range of times"},
		{"by the year", tables, "SELECT COUNT(*) FROM notes WHERE YEAR(made) = 2025", "", 90000, "range of times"},
		{"a text by a number", tables, "SELECT * FROM people WHERE name = 12345", "", 30000, "as a string"},
	})
}
