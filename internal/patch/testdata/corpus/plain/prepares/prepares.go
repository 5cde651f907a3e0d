// Package prepares has statements that are prepared, and connections.
package prepares

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// want P5
func name(db *sql.DB, id int64) (name string, err error) {
	stmt, err := db.Prepare("SELECT name FROM users WHERE id = ?")
	if err != nil {
		return "", err
	}
	defer stmt.Close()

	err = stmt.QueryRow(id).Scan(&name)
	if err == sql.ErrNoRows {
		return "nobody", nil
	}
	if err != nil {
		return "", err
	}
	return name, nil
}

// want P5
func touch(ctx context.Context, tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		st, err := tx.PrepareContext(ctx, "UPDATE posts SET seen = ? WHERE id = ?")
		if err != nil {
			return err
		}
		if _, err := st.ExecContext(ctx, p.Seen+1, p.ID); err != nil {
			return err
		}
		st.Close()
	}
	return nil
}

// want P5
func members(db *sqlx.DB, nick string) (out []env.Member, err error) {
	query := "SELECT id, name, nick FROM users WHERE nick = ?"
	stmt, err := db.Preparex(query)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	if err := stmt.Select(&out, nick); err != nil {
		return nil, err
	}
	return out, nil
}

// What it has read comes with an error of running it.
//
// want P5 refused: once
func partly(db *sqlx.DB, nick string) (out []env.Member, err error) {
	stmt, err := db.Preparex("SELECT id, name, nick FROM users WHERE nick = ?")
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	return out, stmt.Select(&out, nick)
}

// It is kept and run many times: that is what preparing is for.
func kept(db *sql.DB, posts []env.Post) error {
	stmt, err := db.Prepare("UPDATE posts SET seen = 1 WHERE id = ?")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, p := range posts {
		if _, err := stmt.Exec(p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P5 refused: once
func toldApart(db *sql.DB, id int64) error {
	stmt, err := db.Prepare("UPDATE posts SET seen = 1 WHERE id = ?")
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	defer stmt.Close()
	if _, err := stmt.Exec(id); err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	return nil
}

// want P5 refused: once
func between(db *sql.DB, id int64) error {
	stmt, err := db.Prepare("UPDATE posts SET seen = 1 WHERE id = ?")
	if err != nil {
		return err
	}
	defer stmt.Close()
	if _, err := db.Exec("DELETE FROM likes WHERE post_id = ?", id); err != nil {
		return err
	}
	if _, err := stmt.Exec(id); err != nil {
		return err
	}
	return nil
}

// want P5 refused: once
func unlooked(db *sql.DB, id int64) error {
	stmt, _ := db.Prepare("UPDATE posts SET seen = 1 WHERE id = ?")
	_, err := stmt.Exec(id)
	return err
}

// want P5
func open() (*sql.DB, error) {
	return sql.Open("mysql", "app@tcp(127.0.0.1:3306)/app?parseTime=true&charset=utf8mb4")
}

// want P5
func openFormat() (*sqlx.DB, error) {
	dsn := fmt.Sprintf("%s@tcp(%s:%s)/%s?parseTime=true&loc=Local",
		os.Getenv("DB_USER"), os.Getenv("DB_HOST"), os.Getenv("DB_PORT"), os.Getenv("DB_NAME"))
	return sqlx.Connect("mysql", dsn)
}

const local = "root@unix(/run/mysqld/mysqld.sock)/app"

// want P5
func openConstant() (*sql.DB, error) { return sql.Open("mysql", local) }

// want P5
func openAdded(user string) (*sql.DB, error) {
	return sql.Open("mysql", user+"@tcp(127.0.0.1:3306)/app")
}

// want P5
func openConfig() (*sqlx.DB, error) {
	conf := mysql.Config{
		User:                 os.Getenv("DB_USER"),
		Net:                  "tcp",
		Addr:                 net.JoinHostPort("127.0.0.1", "3306"),
		DBName:               "app",
		AllowNativePasswords: true,
	}
	return sqlx.Open("mysql", conf.FormatDSN())
}

// want P5
func openNew() (*sqlx.DB, error) {
	conf := mysql.NewConfig()
	conf.Net = "tcp"
	conf.Addr = "127.0.0.1:3306"
	conf.Collation = "utf8mb4_general_ci"
	return sqlx.Open("mysql", conf.FormatDSN())
}

// want P5 refused: option
func openSet() (*sql.DB, error) {
	return sql.Open("mysql", "app@tcp(127.0.0.1:3306)/app?interpolateParams=false")
}

// want P5 refused: option
func openSetNew() (*sqlx.DB, error) {
	conf := mysql.NewConfig()
	conf.InterpolateParams = os.Getenv("PREPARE") == ""
	return sqlx.Open("mysql", conf.FormatDSN())
}

// want P5 refused: charset
func openJapanese() (*sql.DB, error) {
	return sql.Open("mysql", "app@tcp(127.0.0.1:3306)/app?charset=sjis")
}

// want P5 refused: charset
func openAny(charset string) (*sql.DB, error) {
	return sql.Open("mysql", fmt.Sprintf("app@tcp(127.0.0.1:3306)/app?charset=%s", charset))
}

// want P5 refused: charset
func openChinese() (*sqlx.DB, error) {
	conf := &mysql.Config{Net: "tcp", Addr: "127.0.0.1:3306", Params: map[string]string{"charset": "gbk"}}
	return sqlx.Open("mysql", conf.FormatDSN())
}

// want P5 refused: option
func openEnvironment() (*sql.DB, error) { return sql.Open("mysql", os.Getenv("DSN")) }

// want P5 refused: option
func openParameters(params string) (*sql.DB, error) {
	return sql.Open("mysql", "app@tcp(127.0.0.1:3306)/app?"+params)
}

// want P5 refused: option
func openChanged(slow bool) (*sql.DB, error) {
	dsn := "app@tcp(127.0.0.1:3306)/app"
	if slow {
		dsn += "?timeout=10s"
	}
	return sql.Open("mysql", dsn)
}
