// Command gameapi is the game's API: JSON over HTTP. It runs in its own folder,
// which holds config/app.ini and the master data, master/*.csv. See ../README.md.
package main

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
)

// server holds what the handlers share.
type server struct {
	db     *sql.DB
	redis  *redis.Client
	master *master
	log    *apiLog
}

// connections are kept, as many as players ask at once on one host.
const connections = 32

func main() {
	root := flag.String("root", ".", "folder with config/app.ini and master/")
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
	s := &server{redis: redis.NewClient(&redis.Options{Network: conf.redisNetwork, Addr: conf.redisAddress, PoolSize: connections})}
	if s.master, err = loadMaster(filepath.Join(root, "master")); err != nil {
		return err
	}
	if s.log, err = openLog(conf.log); err != nil {
		return err
	}
	if s.db, err = sql.Open("mysql", conf.dsn); err != nil {
		return fmt.Errorf("database DSN in config/app.ini: %w", err)
	}
	s.db.SetMaxOpenConns(connections)
	s.db.SetMaxIdleConns(connections)
	if conf.debug != "" {
		go func() { log.Print(http.ListenAndServe(conf.debug, nil)) }() // net/http/pprof
	}
	listener, err := listen(conf.listen)
	if err != nil {
		return err
	}
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
