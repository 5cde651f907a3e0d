// Command go is the idle game's service in Go: the same API and rules as the PHP
// variant. It runs in its own folder, which holds config/app.ini. See ../README.md.
package main

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/go-sql-driver/mysql"
)

// server holds what the handlers share.
type server struct {
	db *sql.DB
}

func main() {
	root := flag.String("root", ".", "folder with config/app.ini")
	flag.Parse()
	if err := run(*root); err != nil {
		log.Fatal(err)
	}
}

func run(root string) error {
	conf, err := loadSettings(filepath.Join(root, "config", "app.ini"))
	if err != nil {
		return err
	}
	db, err := sql.Open("mysql", conf.dsn)
	if err != nil {
		return fmt.Errorf("database DSN in config/app.ini: %w", err)
	}
	defer db.Close()
	listener, err := listen(conf.listen)
	if err != nil {
		return err
	}
	s := &server{db: db}
	return http.Serve(listener, s.routes())
}

// listen opens "host:port" or "unix:/path"; a stale socket file is replaced.
func listen(address string) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, "unix:")
	if !isUnix {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, fmt.Errorf("server.listen in config/app.ini: %w", err)
		}
		return l, nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("server.listen in config/app.ini: %w", err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, fmt.Errorf("open the socket to nginx: %w", err)
	}
	return l, nil
}
