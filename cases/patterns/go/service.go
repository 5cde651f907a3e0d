package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"strconv"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/redis/go-redis/v9"
)

// service holds what requests share: one pool per server.
type service struct {
	conf  map[string]string
	db    *database
	cache *memcache.Client
	redis *redis.Client
}

func newService(conf map[string]string) *service {
	s := &service{conf: conf}
	s.db = s.newDatabase()
	s.cache = s.newMemcached(context.Background())
	s.redis = s.newRedis(context.Background())
	return s
}

func (s *service) close() {
	s.db.Close()
	s.cache.Close()
	s.redis.Close()
}

// answer is what becomes JSON.
type answer map[string]any

// act answers a request; id is 0 where the route has none.
type act func(s *service, ctx context.Context, id int) (answer, error)

// route has one act for both forms, or one for each.
type route struct {
	pattern    string // of net/http
	bad, clean act
}

func same(pattern string, a act) route { return route{pattern, a, a} }

func routes() []route {
	return []route{
		same("GET /ping", ping),
		same("GET /posts", posts),
		same("GET /home", home),
		same("POST /notes/{id}", note),
		{"GET /feed", feedBad, feedClean},
		{"GET /profiles/{id}", profileBad, profileClean},
		{"GET /accounts/{id}", accountBad, accountClean},
		{"GET /tags/{id}", tagBad, tagClean},
		{"POST /events", eventsBad, eventsClean},
		{"POST /stock", stockBad, stockClean},
		{"POST /orders", orderBad, orderClean},
		{"POST /grants", grantsBad, grantsClean},
		{"GET /banner", bannerBad, bannerClean},
		{"GET /cards", cardsBad, cardsClean},
		{"GET /scores", scoresBad, scoresClean},
		{"POST /motd", motdBad, motdClean},
		{"GET /connect/db", connectDBBad, connectDBClean},
		{"GET /connect/memcached", connectMemcachedBad, connectMemcachedClean},
		{"GET /connect/redis", connectRedisBad, connectRedisClean},
	}
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes() {
		chosen := r.clean
		if s.conf["form"] == "bad" {
			chosen = r.bad
		}
		mux.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) { s.serve(w, req, chosen) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusNotFound, answer{"error": "not found"})
	})
	return mux
}

func (s *service) serve(w http.ResponseWriter, req *http.Request, a act) {
	id := 0
	if text := req.PathValue("id"); text != "" {
		// IDs go from 1 to 50.
		var err error
		if id, err = strconv.Atoi(text); err != nil || id < 1 || id > 50 {
			write(w, http.StatusNotFound, answer{"error": "not found"})
			return
		}
	}
	ctx, span := startRequest(req)
	status := http.StatusOK
	out, err := a(s, ctx, id)
	if err != nil {
		log.Printf("%s %s: %v", req.Method, req.URL.Path, err)
		status, out = http.StatusInternalServerError, answer{"error": "see the log"}
	}
	endRequest(span, status)
	write(w, status, out)
}

func write(w http.ResponseWriter, status int, out answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(out); err != nil {
		log.Printf("answer: %v", err) // the visitor has gone
	}
}

func ping(*service, context.Context, int) (answer, error) { return answer{"ok": true}, nil }
