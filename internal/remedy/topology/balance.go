// Package topology plans which host does what: the weights and servers of a
// balancer.
package topology

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// ways are how far to go from the weights as they are to those of equal use, in
// percent: what a request costs on a host is not the same when it gets more of
// them, so half the way and beyond are tried too.
var ways = []int{50, 100, 150}

// planBalance searches weights between those that are set and those by which
// every host is used alike, and beyond.
func planBalance(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	now, err := numbers(f.Subject["now"])
	if err != nil {
		return nil, err
	}
	to, err := numbers(f.Subject["to"])
	if err != nil || len(to) != len(now) {
		return nil, fmt.Errorf("upstream %s: the shares %q and %q do not belong together", f.Subject["upstream"], f.Subject["now"], f.Subject["to"])
	}
	at := func(way int) ([]change.Change, error) { return weigh(in, f, weightsAt(now, to, way)) }
	var values []int
	seen := []string{fmt.Sprint(weightsAt(now, to, 0))}
	for _, way := range ways {
		text := fmt.Sprint(weightsAt(now, to, way))
		if slices.Contains(seen, text) {
			continue
		}
		seen, values = append(seen, text), append(values, way)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("upstream %s: the weights of equal use differ by less than one request in a hundred", f.Subject["upstream"])
	}
	p := planning.Plan{ID: "nginx.balance:" + f.Service + ":" + f.Subject["upstream"] + ":" + strings.ReplaceAll(f.Subject["weights"], " ", "-"),
		Title:  fmt.Sprintf("Find the weights of upstream %s in %s, in percent of the way to equal use of its hosts", f.Subject["upstream"], f.Service),
		Search: &planning.Search{Name: "way to equal use, %", Current: 0, Values: values, At: at}}
	p.Changes, err = at(values[0])
	return []planning.Plan{p}, err
}

// weightsAt are the weights a part of the way from the shares now to others, in
// hundredths of all; 0 = no requests.
func weightsAt(now, to []float64, way int) []int {
	shares, sum := make([]float64, len(now)), 0.0
	for i := range now {
		shares[i] = math.Max(now[i]+float64(way)/100*(to[i]-now[i]), 0)
		sum += shares[i]
	}
	out := make([]int, len(now))
	for i := range shares {
		out[i] = int(math.Round(100 * shares[i] / sum))
	}
	return out
}

// planFewer searches how many of a balancer's hosts are enough.
func planFewer(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	least, err := strconv.Atoi(f.Subject["least"])
	if err != nil {
		return nil, err
	}
	keep := strings.Fields(f.Subject["keep"])
	var weights []int
	for w := range strings.FieldsSeq(f.Subject["weights"]) {
		n, err := strconv.Atoi(w)
		if err != nil {
			return nil, err
		}
		weights = append(weights, n)
	}
	at := func(hosts int) ([]change.Change, error) {
		left := make([]int, len(weights))
		for _, of := range keep[:hosts] {
			for i := range strings.SplitSeq(of, "+") {
				n, err := strconv.Atoi(i)
				if err != nil || n >= len(weights) {
					return nil, fmt.Errorf("upstream %s has no server %s", f.Subject["upstream"], i)
				}
				left[n] = weights[n]
			}
		}
		return weigh(in, f, left)
	}
	var values []int
	for n := least; n < len(keep); n++ {
		values = append(values, n)
	}
	if least < 1 || len(values) == 0 {
		return nil, fmt.Errorf("upstream %s needs all of its %d hosts", f.Subject["upstream"], len(keep))
	}
	p := planning.Plan{ID: "nginx.fewer-hosts:" + f.Service + ":" + f.Subject["upstream"] + ":" + strings.ReplaceAll(f.Subject["weights"], " ", "-"),
		Title:  fmt.Sprintf("Find how many hosts upstream %s in %s needs", f.Subject["upstream"], f.Service),
		Search: &planning.Search{Name: "hosts of upstream " + f.Subject["upstream"], Current: len(keep), Values: values, At: at}}
	p.Changes, err = at(values[len(values)-1])
	return []planning.Plan{p}, err
}

// weigh plans the weights of a balancer's servers, in the order of the block. A
// weight of 0 makes a server a backup; one that was idle stays as it is.
func weigh(in planning.Input, f diagnose.Finding, weights []int) ([]change.Change, error) {
	svc := in.Stack.Service(f.Service)
	if svc == nil || svc.Kind != stack.Nginx {
		return nil, fmt.Errorf("there is no nginx %q", f.Service)
	}
	conf, err := diagnose.NginxConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	all := diagnose.Balancers(in.Stack, in.Snapshot, svc, conf)
	i := slices.IndexFunc(all, func(b diagnose.Balancer) bool { return b.Name() == f.Subject["upstream"] })
	if i < 0 || len(all[i].Backends) != len(weights) {
		return nil, fmt.Errorf("upstream %s of %s has not the servers that were measured", f.Subject["upstream"], f.Service)
	}
	b := all[i]
	// A backup cannot be used with "random" (nginx documentation, "server").
	if slices.Contains(weights, 0) && b.Block.First("random") != nil {
		for n, s := range b.Backends {
			if weights[n] == 0 && !s.Idle {
				return nil, fmt.Errorf("upstream %s chooses at random, where no server can be a backup", b.Name())
			}
		}
	}
	for n, s := range b.Backends {
		if s.Idle {
			continue
		}
		if err := setWeight(s.Line, weights[n]); err != nil {
			return nil, err
		}
	}
	return planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Reload, f.Text)
}

// setWeight writes a server's weight, or makes it a backup with 0.
func setWeight(line *nginx.Directive, weight int) error {
	var args []string
	for _, a := range line.Args {
		if !strings.HasPrefix(a, "weight=") {
			args = append(args, a)
		}
	}
	switch weight {
	case 0:
		args = append(args, "backup")
	case 1: // nginx's own
	default:
		args = append(args, "weight="+strconv.Itoa(weight))
	}
	return line.SetArgs(args...)
}

// numbers reads shares as a finding's subject has them.
func numbers(text string) ([]float64, error) {
	var out []float64
	for w := range strings.FieldsSeq(text) {
		n, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no shares are known")
	}
	return out, nil
}
