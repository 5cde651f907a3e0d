package patch

import (
	"database/sql"
	"os/exec"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// No number is given out twice: by several processes at a time with several requests each,
// and by one whose counter is put back while it serves.
func TestNumbersOnce(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE ids SET id = 1000"); err != nil {
		t.Fatal(err)
	}
	program := plainProgram(t, true)
	draw := func(n, back string) *exec.Cmd {
		return exec.Command(program, dsn, "numbers", n, back)
	}
	asked := questions(t, dsn)
	outs := make([]strings.Builder, 3)
	var cmds []*exec.Cmd
	for i := range outs {
		cmd := draw("300", "false")
		cmd.Stdout = &outs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	seen := map[string]bool{}
	total := 0
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		numbers := strings.Fields(strings.Trim(strings.TrimSpace(outs[i].String()), "[]"))
		total += len(numbers)
		for _, n := range numbers {
			if seen[n] {
				t.Errorf("%s was given out twice", n)
			}
			seen[n] = true
		}
	}
	if total != 3*4*300 || seen["1000"] || !seen["1001"] {
		t.Errorf("%d numbers, the first of them given out: %v", total, seen["1001"])
	}
	if n := questions(t, dsn) - asked; n > total/20 {
		t.Errorf("%d statements for %d numbers", n, total)
	}
	out, err := draw("300", "true").Output()
	if err != nil {
		t.Fatal(err)
	}
	once := map[string]bool{}
	for _, n := range strings.Fields(strings.Trim(strings.TrimSpace(string(out)), "[]")) {
		if once[n] {
			t.Errorf("%s was given out twice after the counter was put back", n)
		}
		once[n] = true
	}
	if len(once) != 4*300 {
		t.Errorf("%d numbers", len(once))
	}
}
