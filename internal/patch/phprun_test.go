package patch

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// With random rows and keys every program answers the same before and after, and leaves the
// same rows; with fewer statements. Statements are emulated or the server's by turns of
// the seeds, and both for each seed if KASOKU_PATCH_SEEDS is set.
func TestPHPAnswersStay(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	socket := phpSchema(t, dsn, phpCorpus)
	_, places := phpFound(t)
	after := phpPatched(t, places)
	for i, seed := range phpSeeds() {
		modes := []string{"1", "0"}
		if os.Getenv("KASOKU_PATCH_SEEDS") == "" {
			modes = modes[i%2 : i%2+1]
		}
		for _, emulate := range modes {
			wants, single := phpBefore(t, dsn, socket, seed, emulate)
			countersBack(t, dsn)
			asked := questions(t, dsn)
			gots := phpAnswers(t, after, socket, seed, emulate)
			all := questions(t, dsn) - asked
			sameAnswers(t, wants, gots)
			t.Logf("seed %s: %d answers, %d statements before, %d after", seed, len(wants), single, all)
			if all >= single {
				t.Errorf("seed %s: %d statements before, %d after", seed, single, all)
			}
		}
	}
}

// phpRan is what phpBefore found.
type phpRan struct {
	answers    []string
	statements int
}

var phpRuns = map[string]*phpRan{}

// phpBefore are the answers of the corpus as it is, and the statements that they take; run
// once for all tests.
func phpBefore(t *testing.T, dsn, socket, seed, emulate string) ([]string, int) {
	t.Helper()
	of := seed + " " + emulate
	if phpRuns[of] == nil {
		countersBack(t, dsn)
		asked := questions(t, dsn)
		answers := phpAnswers(t, phpCorpus, socket, seed, emulate)
		phpRuns[of] = &phpRan{answers, questions(t, dsn) - asked}
	}
	return phpRuns[of].answers, phpRuns[of].statements
}

// phpSeeds of random data: two, or as many as KASOKU_PATCH_SEEDS says.
func phpSeeds() (out []string) {
	n, err := strconv.Atoi(os.Getenv("KASOKU_PATCH_SEEDS"))
	if err != nil || n < 1 {
		n = 2
	}
	for i := range n {
		out = append(out, strconv.Itoa(i+1))
	}
	return out
}

// phpSchema makes the corpus's tables in the place of those of Go, and gives the server's socket.
func phpSchema(t *testing.T, dsn, corpus string) string {
	t.Helper()
	socket := strings.TrimSuffix(strings.TrimPrefix(dsn, "root@unix("), ")/app")
	schema, err := os.ReadFile(filepath.Join(corpus, "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	load := exec.Command("mariadb", "-uroot", "-S", socket)
	load.Stdin = strings.NewReader("DROP DATABASE app; CREATE DATABASE app; USE app; " + string(schema))
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return socket
}

// countersBack has both programs draw the same numbers.
func countersBack(t *testing.T, dsn string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"ids", "small_ids", "text_ids", "shared_ids", "seen_ids", "lent_ids"} {
		if _, err := db.Exec("UPDATE " + table + " SET id = 0"); err != nil {
			t.Fatal(err)
		}
	}
}
