// Command compare runs two copies of the case in turn and prints the ratio of
// their scores: the one that Kasoku tuned against the one tuned by hand.
//
//	go run ./cases/login/compare -bar 0.9 KASOKU_DIR HAND_DIR
//
// It ends with 1 if the ratio falls short of the bar.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/stat"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

func main() {
	pairs := flag.Int("pairs", 8, "pairs of runs")
	bar := flag.Float64("bar", 0.9, "least ratio first/second")
	window := flag.Duration("d", 4*time.Second, "measured window")
	workload := flag.Int("c", 0, "virtual users; 0: the scenario's")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := compare(ctx, flag.Args(), *pairs, *bar, *window, *workload)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// side is one copy of the case.
type side struct {
	name   string
	bench  *tune.Bench
	scores []float64
}

func compare(ctx context.Context, dirs []string, pairs int, bar float64, window time.Duration, workload int) (bool, error) {
	if len(dirs) != 2 {
		return false, fmt.Errorf("name two directories made by case.sh up")
	}
	var sides []*side
	for _, d := range dirs {
		b, err := open(d, window)
		if err != nil {
			return false, err
		}
		defer b.Store.Close()
		sides = append(sides, &side{name: d, bench: b})
	}
	var ratios []float64
	for pair := range pairs {
		for i := range sides {
			s := sides[(i+pair)%2] // AB BA: drift cancels
			run, err := s.bench.Run(ctx, tune.RunOptions{Kind: store.Scored, Label: "compare", Workload: workload})
			if err != nil {
				return false, err
			}
			if run.Evidence.Load.Mismatches > 0 {
				return false, fmt.Errorf("%s: %d wrong answers", s.name, run.Evidence.Load.Mismatches)
			}
			s.scores = append(s.scores, run.Score)
		}
		a, b := sides[0].scores[pair], sides[1].scores[pair]
		ratios = append(ratios, a/b)
		fmt.Printf("pair %d: %.0f against %.0f points/s, ratio %.3f\n", pair+1, a, b, a/b)
	}
	ratio := stat.GeoMean(ratios)
	fmt.Printf("\n%-10s %.0f points/s\n%-10s %.0f points/s\nratio      %.3f (bar %.2f)\n", "first", stat.GeoMean(sides[0].scores), "second", stat.GeoMean(sides[1].scores), ratio, bar)
	return ratio >= bar, nil
}

func open(dir string, window time.Duration) (*tune.Bench, error) {
	st, err := stack.Load(filepath.Join(dir, "kasoku.yaml"))
	if err != nil {
		return nil, err
	}
	sc, err := load.LoadScenario(st.Load.Scenario)
	if err != nil {
		return nil, err
	}
	db, err := store.Open(filepath.Join(st.Dir, ".kasoku"))
	if err != nil {
		return nil, err
	}
	return &tune.Bench{Stack: st, Hosts: map[string]host.Host{"local": host.NewLocal()}, Scenario: sc, Store: db, Window: window}, nil
}
