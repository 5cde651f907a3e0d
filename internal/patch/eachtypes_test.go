package patch

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// columnsOfAllTypes with two values each.
var columnsOfAllTypes = [][3]string{
	{"TINYINT(1)", "1", "-7"}, {"SMALLINT UNSIGNED", "0", "65535"}, {"MEDIUMINT", "-5", "8388607"}, {"INT", "-1", "2147483647"}, {"BIGINT", "0", "-9223372036854775808"},
	{"BIGINT UNSIGNED", "0", "18446744073709551615"}, {"DECIMAL(10,3)", "1.5", "-1234567.125"}, {"DOUBLE", "0.1", "1e300"}, {"DOUBLE(9,2)", "0.126", "12.3"},
	{"CHAR(8)", "'a '", "'ä'"}, {"VARCHAR(20)", "'b '", "'日本'"}, {"TEXT", "''", "'long'"}, {"LONGTEXT", "'x'", "'y'"}, {"BINARY(4)", "'a'", "'bc'"}, {"VARBINARY(4)", "'a'", "'\\0b'"},
	{"BLOB", "'a'", "'\\0'"}, {"LONGBLOB", "''", "'b'"}, {"ENUM('a','b')", "'a'", "'b'"}, {"SET('a','b')", "'a,b'", "''"}, {"JSON", "'{\"a\": 1}'", "'[]'"},
	{"DATE", "'2024-02-29'", "'1970-01-01'"}, {"DATETIME", "'2024-02-29 01:02:03'", "'1000-01-01 00:00:00'"}, {"DATETIME(6)", "'2024-02-29 01:02:03.000010'", "'2024-02-29 01:02:03'"},
	{"TIMESTAMP", "'2024-02-29 01:02:03'", "'1970-01-02 00:00:00'"}, {"TIMESTAMP(3)", "'2024-02-29 01:02:03.5'", "'1970-01-02 00:00:00'"}, {"TIME", "'-838:59:59'", "'00:00:01'"}, {"TIME(2)", "'00:00:01.5'", "'12:00:00'"},
	{"BOOLEAN", "TRUE", "FALSE"}, {"CHAR(4) CHARACTER SET latin1", "'é'", "'x'"}, {"VARCHAR(9) COLLATE utf8mb4_bin", "'A'", "'a'"},
	{"FLOAT", "0.1", "16777216"}, {"BIT(9)", "b'1'", "b'111'"}, {"YEAR", "1999", "2024"}, {"INT ZEROFILL", "7", "42"}, {"POINT", "POINT(1,2)", "POINT(0,0)"},
}

// A UNION ALL gives each type of column as the table does, in both protocols, but for
// those that are refused.
func TestUnionKeepsTypes(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	for _, parameters := range []string{"?parseTime=true&loc=Asia%2FTokyo&charset=utf8mb4", "?parseTime=true&interpolateParams=true&charset=utf8mb4", "?charset=utf8mb4"} {
		db, err := sql.Open("mysql", dsn+parameters)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, c := range columnsOfAllTypes {
			for _, q := range []string{"DROP TABLE IF EXISTS one_type", "CREATE TABLE one_type (id INT PRIMARY KEY, v " + c[0] + " NULL) CHARACTER SET utf8mb4",
				"INSERT INTO one_type VALUES (0, " + c[1] + "), (1, " + c[2] + "), (2, NULL)"} {
				if _, err := db.Exec(q); err != nil {
					t.Fatal(q, err)
				}
			}
			var alone, together []string
			for id := range 3 {
				alone = append(alone, valuesOf(t, db, "SELECT v FROM one_type WHERE id = ?", id)...)
			}
			branch, why := parseBranch("SELECT v FROM one_type WHERE id = ?")
			if why != "" {
				t.Fatal(why)
			}
			head, tail := branch.withNumber("n")
			together = valuesOf(t, db, strings.Join([]string{head + "0" + tail, head + "1" + tail, head + "2" + tail}, " UNION ALL "), 0, 1, 2)
			s := &schema{tables: map[string]*table{}}
			s.read("CREATE TABLE one_type (id INT PRIMARY KEY, v " + c[0] + ")")
			refused := s.unlikeInUnion("one_type") != ""
			if same := fmt.Sprint(alone) == fmt.Sprint(together); !same && !refused {
				t.Errorf("%s %s: %q alone, %q in a UNION", parameters, c[0], alone, together)
			} else if same && refused {
				t.Logf("%s %s: refused, though it is the same here", parameters, c[0])
			}
		}
	}
}

// valuesOf the first column, with the types that they have in Go.
func valuesOf(t *testing.T, db *sql.DB, query string, args ...any) (out []string) {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var v, n any
		to := []any{&v, &n}
		if err := rows.Scan(to[:len(columns)]...); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%T %v", v, v))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
