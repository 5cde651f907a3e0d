package patch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kasoku/internal/await"
)

// phpNativeCorpus are programs whose statements the server prepares.
var phpNativeCorpus = filepath.Join("testdata", "phpnative")

func phpNativeFound(t *testing.T) (*Program, []*Place) {
	t.Helper()
	p, err := Load(t.Context(), phpNativeCorpus)
	if err != nil {
		t.Fatal(err)
	}
	return p, slices.DeleteFunc(p.Find(), func(at *Place) bool { return at.File == "run.php" })
}

// Statements that loops prepare are offered, or refused with the precondition that they
// violate; what is written is what testdata/phpnativegolden holds.
func TestPHPPrepares(t *testing.T) {
	p, places := phpNativeFound(t)
	wantPHPPlaces(t, p, places)
	wantPHPGolden(t, places, "phpnativegolden")
}

// What the programs answer and leave is the same with statements that are prepared once, and
// the server prepares fewer.
func TestPHPPreparedOnceAnswers(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	socket := phpSchema(t, dsn, phpNativeCorpus)
	_, places := phpNativeFound(t)
	after := phpPatchedOf(t, phpNativeCorpus, places)
	for _, seed := range phpSeeds() {
		from := status(t, dsn, "Com_stmt_prepare")
		wants := phpAnswers(t, phpNativeCorpus, socket, seed, "")
		each := status(t, dsn, "Com_stmt_prepare") - from
		gots := phpAnswers(t, after, socket, seed, "")
		once := status(t, dsn, "Com_stmt_prepare") - from - each
		sameAnswers(t, wants, gots)
		t.Logf("seed %s: %d answers, %d statements prepared before, %d after", seed, len(wants), each, once)
		if once > each*3/4 {
			t.Errorf("seed %s: %d statements prepared before, %d after", seed, each, once)
		}
	}
}

// Where PDO emulates, there is nothing to gain, and nothing is said.
func TestPHPPreparesNative(t *testing.T) {
	body := "$stmt = $pdo->prepare('INSERT INTO log (text) VALUES (?)');\n        $stmt->execute([$one]);"
	const mode, native = "PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION", "PDO::ATTR_EMULATE_PREPARES => false"
	for _, c := range []struct{ about, options, more, want string }{
		{"emulated", mode, "", ""},
		{"native", mode + ", " + native, "", "offered"},
		{"one connection emulates", mode + ", " + native, "new PDO('mysql:', '', '', [" + mode + "]);", ""},
		{"told later", mode + ", " + native, "$pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, $how);", ""},
		{"silent", native, "", "error"},
	} {
		t.Run(c.about, func(t *testing.T) {
			dir := t.TempDir()
			text := "<?php\nfunction logs(PDO $pdo, array $all, $how) {\n    " + c.more + "\n    foreach ($all as $one) {\n        " + body + "\n    }\n}\nlogs(new PDO('mysql:', '', '', [" + c.options + "]), ['a'], 1);\n"
			if err := os.WriteFile(filepath.Join(dir, "log.php"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := Load(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, at := range p.Find() {
				if at.Shape != "P5" {
					continue
				}
				if got = "offered"; at.Refused != nil {
					got = at.Refused.Need
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
