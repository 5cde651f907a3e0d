package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
)

// A text that is joined to a number is told, and the server does read all of the texts although
// an index is there; none is told of columns of one kind.
func TestServerConvertsJoinedTexts(t *testing.T) {
	await.SkipShort(t)
	conn, err := startMariaDB(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	execute(t, conn, "CREATE DATABASE app")
	execute(t, conn, "USE app")
	execute(t, conn, "CREATE TABLE members (id INT PRIMARY KEY, code INT NOT NULL)")
	execute(t, conn, "INSERT INTO members SELECT seq, seq FROM seq_1_to_2000")
	execute(t, conn, "CREATE TABLE visits (id INT PRIMARY KEY, member VARCHAR(20) NOT NULL, number INT NOT NULL, KEY member (member), KEY number (number))")
	execute(t, conn, "INSERT INTO visits SELECT seq, seq % 2000, seq % 2000 FROM seq_1_to_20000")
	execute(t, conn, "ANALYZE TABLE members, visits")
	for column, note := range map[string]bool{"member": true, "number": false} {
		query := fmt.Sprintf("SELECT v.id FROM members m JOIN visits v ON v.%s = m.code WHERE m.id = 7", column)
		read := takenBack(t, conn, query)
		_, notes := Advise([]evidence.Statement{run(query, 1000, 60*second, read, 10)}, tablesOf(t, conn, "app"), Options{})
		if said := slices.ContainsFunc(notes, func(n Note) bool { return strings.Contains(n.Text, "one type") }); said != note || (read > 10000) != note {
			t.Errorf("%s: %.0f rows read, notes %v", query, read, notes)
		}
	}
}

// The generated column of a JSON value takes a string, and reads a few rows; a number reads all.
func TestServerFindsJSONByString(t *testing.T) {
	await.SkipShort(t)
	conn, err := startMariaDB(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	execute(t, conn, "CREATE DATABASE app")
	execute(t, conn, "USE app")
	execute(t, conn, "CREATE TABLE people (id INT PRIMARY KEY, data JSON)")
	execute(t, conn, "INSERT INTO people SELECT seq, JSON_OBJECT('area', CRC32(seq) % 900) FROM seq_1_to_9000")
	const query = "SELECT id FROM people WHERE JSON_EXTRACT(data, '$.area') = 7"
	_, notes := Advise([]evidence.Statement{run(query, 1000, 60*second, 9000, 10)}, tablesOf(t, conn, "app"), Options{})
	if len(notes) != 1 || notes[0].DDL == "" || !strings.Contains(notes[0].Text, "as a string") {
		t.Fatalf("notes %v", notes)
	}
	execute(t, conn, notes[0].DDL)
	if n := takenBack(t, conn, "SELECT id FROM people WHERE data_json_extract = '7'"); n > 40 {
		t.Errorf("a string: %.0f rows read", n)
	}
	if n := takenBack(t, conn, "SELECT id FROM people WHERE data_json_extract = 7"); n < 9000 {
		t.Errorf("a number: %.0f rows read", n)
	}
}
