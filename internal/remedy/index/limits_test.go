package index

import (
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
		{"found at once", queue, "UPDATE jobs SET worker = 5 WHERE worker IS NULL AND queue = 'q3' ORDER BY id LIMIT 1", "", 100, ""},
	})
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
