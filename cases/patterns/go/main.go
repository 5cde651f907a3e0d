// Command go is the patterns service in Go: the same routes and answers as the
// one in PHP, each route in a bad and a clean form. See ../README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	file := flag.String("settings", "app.ini", "file of settings")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *file); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, file string) error {
	conf, err := readSettings(file)
	if err != nil {
		return err
	}
	flush, err := startTracing(ctx, conf)
	if err != nil {
		return err
	}
	defer flush()
	s := newService(conf)
	defer s.close()
	server := &http.Server{Addr: conf["listen"], Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s (listen in %s): %w", conf["listen"], file, err)
	}
	return nil
}

// readSettings reads lines of the form name = "value".
func readSettings(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	conf := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if ok && !strings.HasPrefix(name, ";") {
			conf[name] = strings.Trim(value, `"`)
		}
	}
	return conf, nil
}
