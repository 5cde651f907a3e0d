package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Recording is a sequence of scored runs of one unchanged service, in the
// order in which they were made.
type Recording struct {
	Name  string `json:"name"`
	Made  string `json:"made"`  // date
	CPUs  int    `json:"cpus"`  // of the machine
	State string `json:"state"` // of the service: "found" or "tuned"
	// Switch made before a run when the coin changed the side: "none",
	// "reload" (a comment in nginx's file) or "restart" (one in my.cnf).
	Switch   string `json:"switch"`
	WindowMS int    `json:"window_ms"`
	WarmupMS int    `json:"warmup_ms"`
	// Beside says what else ran on the machine.
	Beside string     `json:"beside"`
	Runs   []Recorded `json:"runs"`
}

// Recorded is one run.
type Recorded struct {
	StartMS int64   `json:"at"`   // when it began with its switch, since the first run
	TookMS  int64   `json:"took"` // with switch, reset and warm-up
	Score   float64 `json:"score"`
	// Unfit as the run was judged when it was recorded; "" if fit.
	Unfit string `json:"unfit,omitempty"`
	// Foreign is the share of all CPUs that others used.
	Foreign  float64 `json:"foreign"`
	P99US    int64   `json:"p99"` // microseconds
	CPUUS    int64   `json:"cpu"` // of the services per request, microseconds
	Requests int64   `json:"n"`
	Switched bool    `json:"switched,omitempty"`
	// Series: right answers so far, at times since the window began in
	// milliseconds; the first point is 0, 0 and the last the window's end.
	Times  []int64 `json:"t"`
	Counts []int64 `json:"c"`
}

// at is how many answers had come after ms milliseconds, between two points
// of the series in proportion.
func (r Recorded) at(ms float64) float64 {
	i, _ := slices.BinarySearch(r.Times, int64(ms))
	if i == 0 {
		return 0
	}
	if i >= len(r.Times) {
		return float64(r.Counts[len(r.Counts)-1])
	}
	t0, t1 := float64(r.Times[i-1]), float64(r.Times[i])
	c0, c1 := float64(r.Counts[i-1]), float64(r.Counts[i])
	return c0 + (c1-c0)*(ms-t0)/(t1-t0)
}

const suffix = ".json.gz"

func (r *Recording) save(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(z).Encode(r); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}

func loadRecording(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var r Recording
	if err := json.NewDecoder(z).Decode(&r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(r.Runs) == 0 || r.WindowMS <= 0 {
		return nil, fmt.Errorf("%s: holds no runs; record it again", path)
	}
	return &r, nil
}

// loadAll reads all recordings of a folder, sorted by name.
func loadAll(dir string) ([]*Recording, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var out []*Recording
	for _, p := range paths {
		r, err := loadRecording(p)
		if err != nil {
			return nil, err
		}
		r.Name = strings.TrimSuffix(filepath.Base(p), suffix)
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no recordings; make some with `go run ./bench/verdict record`", dir)
	}
	return out, nil
}
