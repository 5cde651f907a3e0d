package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kasoku/accelerator"
	"kasoku/internal/prefetch"
)

const (
	theList    = "SELECT id, user_id FROM posts WHERE board = ? ORDER BY id"
	theReader  = "SELECT name FROM users WHERE id = ?"
	theCounter = "SELECT COUNT(*) FROM posts WHERE user_id = ?"
)

// pages reads two boards' posts, and for each its user and how many posts that has.
func pages(t *testing.T, db *sql.DB) (out []string) {
	t.Helper()
	ctx := context.Background()
	for board := range 2 {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := tx.QueryContext(ctx, theList, board)
		if err != nil {
			t.Fatal(err)
		}
		var users []int
		for rows.Next() {
			var id, user int
			if err := rows.Scan(&id, &user); err != nil {
				t.Fatal(err)
			}
			users = append(users, user)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for _, u := range users {
			var name, n string
			if err := tx.QueryRowContext(ctx, theReader, u).Scan(&name); err != nil {
				t.Fatal(err)
			}
			if err := tx.QueryRowContext(ctx, theCounter, u).Scan(&n); err != nil {
				t.Fatal(err)
			}
			out = append(out, name+" "+n)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// The whole way on a real server: a program's general log is read, a rule is learned and
// written, what is no read by key is refused, and by the rule the program's reads are
// answered from memory with the same answers.
func TestAcceleratorRules(t *testing.T) {
	socket := mariaDBForExplain(t)
	log := filepath.Join(t.TempDir(), "general.log")
	db, err := sql.Open("mysql", "root@unix("+socket+")/?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE DATABASE board; USE board;
		CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB; CREATE TABLE posts (id INT PRIMARY KEY, board INT, user_id INT) ENGINE=InnoDB;
		INSERT INTO users SELECT seq, CONCAT('u', seq) FROM seq_1_to_40; INSERT INTO posts SELECT seq, seq MOD 2, 41 - seq FROM seq_1_to_20;
		SET GLOBAL general_log_file = '` + log + `'; SET GLOBAL general_log = ON`); err != nil {
		t.Fatal(err)
	}
	cfg, err := mysql.ParseDSN("root@unix(" + socket + ")/board")
	if err != nil {
		t.Fatal(err)
	}
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	plain := sql.OpenDB(c)
	defer plain.Close()
	want := pages(t, plain)
	if _, err := db.Exec("SET GLOBAL general_log = OFF"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.json")
	var out, errs bytes.Buffer
	if status := run([]string{"accelerator", "rules", "--log", log, "--database", "root@unix(" + socket + ")/board", "-o", file, "--json"}, &out, &errs); status != 0 {
		t.Fatal(status, errs.String())
	}
	fits(t, "accelerator rules", out.String())
	var told struct{ Statements []prefetch.Learned }
	if err := json.Unmarshal(out.Bytes(), &told); err != nil {
		t.Fatal(err, out.String())
	}
	for _, l := range told.Statements {
		switch {
		case l.Statement == theReader && l.Rule != nil && l.Rule.After == theList && l.Rule.Column == "user_id" && l.Turns == 2 && l.Keys == 20:
		case l.Statement == theCounter && l.Rule == nil && strings.Contains(l.Refused, "is expected at"):
		default:
			t.Errorf("%+v %+v", l, l.Rule)
		}
	}
	if len(told.Statements) != 2 {
		t.Errorf("%d statements", len(told.Statements))
	}
	rules, err := accelerator.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	fast := sql.OpenDB(accelerator.Connector(c, rules))
	defer fast.Close()
	if got := pages(t, fast); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, without the rule %q", got, want)
	}
	if n := rules.Counts()[0].Answered; n != 20 {
		t.Errorf("%d of 20 reads were answered from memory", n)
	}
	// In words; and what is wrong is said.
	out.Reset()
	if status := run([]string{"accelerator", "rules", "--log", log, "--database", "root@unix(" + socket + ")/board"}, &out, &errs); status != 0 || !strings.Contains(out.String(), "all 20 keys are in that column") || !strings.Contains(out.String(), "refused:") {
		t.Error(status, out.String(), errs.String())
	}
	for want, args := range map[int][]string{2: {"--log", log, "--database", "root@unix(" + socket + ")/"}, 3: {"--log", file, "--database", "root@unix(" + socket + ")/board"}} {
		if status := run(append([]string{"accelerator", "rules"}, args...), &out, &errs); status != want {
			t.Errorf("%q: %d, want %d", args, status, want)
		}
	}
}

// git runs git in a folder.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@localhost"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// The library and its use are a commit on a branch that builds; the checkout stays.
func TestAcceleratorAdd(t *testing.T) {
	dir := t.TempDir()
	var sums []string
	data, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(l, "github.com/go-sql-driver/mysql ") || strings.HasPrefix(l, "filippo.io/edwards25519 ") {
			sums = append(sums, l)
		}
	}
	main := "package main\n\nimport (\n\t\"database/sql\"\n\t\"log\"\n\n\t_ \"github.com/go-sql-driver/mysql\"\n)\n\nfunc main() {\n\tdb, err := sql.Open(\"mysql\", \"app@/app\")\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer db.Close()\n}\n"
	for name, text := range map[string]string{
		"go.mod":        "module shop\n\ngo 1.26.0\n\nrequire github.com/go-sql-driver/mysql v1.10.1\n\nrequire filippo.io/edwards25519 v1.2.0 // indirect\n",
		"go.sum":        strings.Join(sums, "\n") + "\n",
		"main.go":       main,
		"other/open.go": "package other\n\nimport \"database/sql\"\n\nfunc Open(driver string) (*sql.DB, error) { return sql.Open(driver, \"\") }\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOPROXY", "off")
	add := func(more ...string) (int, string) {
		var out bytes.Buffer
		status := run(append([]string{"accelerator", "add", "--source", dir}, more...), &out, &out)
		return status, out.String()
	}
	if status, said := add(); status != 3 || !strings.Contains(said, "git") {
		t.Errorf("no repository: %d %s", status, said)
	}
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "commit", "-qm", "a shop")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(main+"\n// not committed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, said := add(); status != 3 || !strings.Contains(said, "not committed") {
		t.Errorf("open work: %d %s", status, said)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o644); err != nil {
		t.Fatal(err)
	}
	status, said := add()
	if status != 0 || !strings.Contains(said, "used at main.go:11") || !strings.Contains(said, "not changed: other/open.go:5: the driver's name is no constant there") {
		t.Fatalf("%d %s", status, said)
	}
	if status, said := add("--branch", "kasoku/described", "--json"); status != 0 {
		t.Errorf("%d %s", status, said)
	} else {
		fits(t, "accelerator add", said)
	}
	if gitIn(t, dir, "status", "--porcelain") != "" {
		t.Error("the checkout was touched")
	}
	diff := gitIn(t, dir, "diff", "HEAD", "kasoku/accelerator", "--", "main.go")
	for _, line := range []string{"-\tdb, err := sql.Open(\"mysql\", \"app@/app\")", "+\tdb, err := sql.Open(\"mysql-accelerated\", \"app@/app\")", "+\t_ \"shop/internal/accelerator/mysqldriver\""} {
		if !strings.Contains(diff, line+"\n") {
			t.Errorf("%q is not in\n%s", line, diff)
		}
	}
	if strings.Count(diff, "\n+") != 3 || strings.Count(diff, "\n-") != 2 { // with the names of the files
		t.Errorf("more was changed\n%s", diff)
	}
	gitIn(t, dir, "checkout", "-q", "kasoku/accelerator")
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = dir
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	if status, said := add(); status != 3 || !strings.Contains(said, "is there already") {
		t.Errorf("twice: %d %s", status, said)
	}
}
