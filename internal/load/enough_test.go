package load

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
)

// A run that is ended early waits for the answers that are under way: none is given up,
// so that the service works at nothing any more.
func TestEnoughWaitsForAnswers(t *testing.T) {
	const text = `version: 1
name: enough
workload: 3
warmup: 1s
duration: 1h
sessions:
  - {name: reader, weight: 1, steps: [{request: "GET /"}]}
`
	for _, engine := range []Engine{EngineEpoll, EngineNet} {
		t.Run(string(engine), func(t *testing.T) {
			var under, answered, gone atomic.Int64
			release := make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				under.Add(1)
				select {
				case <-release:
					answered.Add(1)
				case <-r.Context().Done():
					gone.Add(1)
				}
			}))
			defer srv.Close()
			ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
			defer cancel()
			enough, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				_, err := Run(ctx, Options{Scenario: walkParse(t, text), URL: srv.URL, Engine: engine, Enough: enough})
				ended <- err
			}()
			await.For(t, "three requests under way", func() bool { return under.Load() == 3 })
			close(enough)
			select {
			case err := <-ended:
				t.Fatalf("it ended while requests were under way: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			close(release)
			if err := <-ended; !errors.Is(err, ErrEnough) {
				t.Errorf("it ended with %v", err)
			}
			if gone.Load() > 0 || answered.Load() != under.Load() {
				t.Errorf("of %d requests %d were given up and %d answered", under.Load(), gone.Load(), answered.Load())
			}
		})
	}
}
