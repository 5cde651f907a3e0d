// Command engines measures ways to move the bytes of a load generator, on the
// same nginx and in one run: the prototypes behind docs/adr/0006-load-engine.md.
// Each sends one GET per connection, again and again, and reads the answer by
// its Content-Length; nothing is checked or recorded, so the differences are
// those of the ways to wait and to call the kernel.
//
// In: flags. Out: requests/s and CPU µs per request of each variant and of
// wrk -t1, median and range of interleaved rounds.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kasoku/bench/load/peer"
	"kasoku/bench/load/proc"
	"kasoku/bench/load/ratio"
	"kasoku/bench/load/target"
)

// settings are the command line.
type settings struct {
	duration      time.Duration
	rounds, conns int
	only          string
	// child and address make this process one variant under measurement.
	child, address string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var s settings
	flag.DurationVar(&s.duration, "d", 3*time.Second, "how long a variant runs in a round; whole seconds, for wrk")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds")
	flag.IntVar(&s.conns, "c", 32, "connections")
	flag.StringVar(&s.only, "only", "", "only variants with this in their name")
	flag.StringVar(&s.child, "child", "", "be this variant (for the program's own use)")
	flag.StringVar(&s.address, "address", "", "of the target, with -child")
	flag.Parse()
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected %q; see -help", flag.Arg(0))
	case s.duration < time.Second || s.duration%time.Second != 0 || s.rounds < 1 || s.conns < 1:
		err = errors.New("-d takes whole seconds; -rounds and -c must be 1 or more")
	case s.child != "":
		err = child(s, os.Stdout)
	default:
		err = compare(ctx, s, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-engines:", err)
		os.Exit(1)
	}
}

// outcome is what a child reports on its standard output.
type outcome struct {
	Requests int64         `json:"requests"`
	Elapsed  time.Duration `json:"elapsed"`
	Refused  string        `json:"refused,omitempty"` // why the kernel does not allow it
}

// errRefused marks a way that the kernel does not allow here.
var errRefused = errors.New("not allowed here")

// child runs one variant in this process.
func child(s settings, stdout io.Writer) error {
	i := slices.IndexFunc(variants, func(v variant) bool { return v.name == s.child })
	if i < 0 {
		return fmt.Errorf("there is no variant %q", s.child)
	}
	address, err := resolve(s.address)
	if err != nil {
		return err
	}
	began := time.Now()
	n, err := variants[i].run(job{address: address, conns: s.conns, until: began.Add(s.duration)})
	o := outcome{Requests: n, Elapsed: time.Since(began)}
	if errors.Is(err, errRefused) {
		o.Refused = err.Error()
	} else if err != nil {
		return fmt.Errorf("%s: %w", s.child, err)
	}
	return json.NewEncoder(stdout).Encode(o)
}

// row collects a variant's figures by round.
type row struct {
	name, note       string
	cpu, rate        []float64
	user             []float64
	refused, trouble string
}

const wrkName = "wrk -t1"

// compare runs all variants and wrk in interleaved rounds and prints a table.
func compare(ctx context.Context, s settings, stdout, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	nginx, err := target.Start(ctx)
	if err != nil {
		return err
	}
	defer nginx.Stop()
	var rows []*row
	for _, v := range variants {
		if strings.Contains(v.name, s.only) {
			rows = append(rows, &row{name: v.name, note: v.note})
		}
	}
	wrk := peer.Wrk()
	if wrk.Find() {
		rows = append(rows, &row{name: wrkName, note: "C, epoll; for comparison"})
	} else {
		fmt.Fprintln(stderr, "wrk is not installed; run: scripts/peers.sh")
	}
	for round := range s.rounds {
		fmt.Fprintf(stderr, "round %d of %d\n", round+1, s.rounds)
		for _, i := range rand.Perm(len(rows)) {
			r := rows[i]
			if r.refused != "" {
				continue
			}
			if r.name == wrkName {
				err = measureWrk(ctx, s, wrk, nginx, r)
			} else {
				err = measure(ctx, s, self, nginx, r)
			}
			if ctx.Err() != nil {
				return err
			}
			if err != nil {
				r.trouble = err.Error()
				fmt.Fprintln(stderr, err)
			}
		}
	}
	return report(stdout, s, rows)
}

func measure(ctx context.Context, s settings, self string, nginx *target.Nginx, r *row) error {
	out, err := proc.Run(ctx, proc.Command{Limit: s.duration + 10*time.Second, Args: []string{self, "-child", r.name,
		"-address", nginx.Address(), "-c", strconv.Itoa(s.conns), "-d", s.duration.String()}})
	if err != nil {
		return err
	}
	var o outcome
	if err := json.Unmarshal(out.Stdout, &o); err != nil {
		return fmt.Errorf("%s: read its report: %w", r.name, err)
	}
	if r.refused = o.Refused; o.Refused == "" {
		r.add(out, o.Requests, o.Elapsed)
	}
	return nil
}

func measureWrk(ctx context.Context, s settings, wrk *peer.Tool, nginx *target.Nginx, r *row) error {
	job := peer.Job{URL: nginx.URL(target.Page), Users: s.conns, Threads: 1, Duration: s.duration}
	out, err := proc.Run(ctx, proc.Command{Args: wrk.Args(job), Limit: s.duration + 10*time.Second})
	if err != nil {
		return err
	}
	report, err := wrk.Read(job, out.Stdout)
	if err != nil {
		return err
	}
	r.add(out, report.Requests, report.Elapsed)
	return nil
}

func (r *row) add(used proc.Result, requests int64, elapsed time.Duration) {
	if requests == 0 || elapsed <= 0 {
		r.trouble = "no request answered"
		return
	}
	per := func(d time.Duration) float64 {
		return float64(d) / float64(time.Microsecond) / float64(requests)
	}
	r.cpu, r.user = append(r.cpu, per(used.CPU())), append(r.user, per(used.User))
	r.rate = append(r.rate, float64(requests)/elapsed.Seconds())
}

func report(w io.Writer, s settings, rows []*row) error {
	fmt.Fprintf(w, "%d connections, %d bytes, %d rounds of %s; median (range)\n", s.conns, target.PageSize, s.rounds, s.duration)
	fmt.Fprintf(w, "%-22s %-20s %-8s %-26s %s\n", "variant", "CPU µs/request", "user", "requests/s", "")
	failed := false
	for _, r := range rows {
		note := r.note
		switch {
		case r.refused != "":
			note = r.refused
		case r.trouble != "":
			note, failed = "failed: "+r.trouble, true
		}
		fmt.Fprintf(w, "%-22s %-20s %-8s %-26s %s\n", r.name, ratio.Of(r.cpu).Text(2),
			fmt.Sprintf("%.2f", ratio.Of(r.user).Median), ratio.Of(r.rate).Text(0), note)
	}
	if failed {
		return errors.New("a variant failed")
	}
	return nil
}
