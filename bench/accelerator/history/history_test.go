package history

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// parsed is a history in short: a line per transaction, "process begin end outcome: ops",
// where "a 1 5" appends 5 to 1, "r 1 5 6" reads 5, 6 of 1, "l" locks, "s" and "u" are
// savepoints and the way back; "!" behind an append says that it was refused. A statement
// is sent when its transaction begins.
func parsed(t *testing.T, text string) (out []Txn) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		head, rest, _ := strings.Cut(line, ":")
		var one Txn
		if n, err := fmt.Sscan(head, &one.Process, &one.Begin, &one.End, &one.Outcome); n != 4 {
			t.Fatal(line, err)
		}
		for _, text := range strings.Split(rest, ",") {
			words := strings.Fields(text)
			op := Op{Kind: Kind(words[0]), At: one.Begin}
			var numbers []int
			for _, w := range words[1:] {
				if w == "!" {
					op.Failed = true
					continue
				}
				var n int
				if _, err := fmt.Sscan(w, &n); err != nil {
					t.Fatal(line, err)
				}
				numbers = append(numbers, n)
			}
			if len(numbers) > 0 {
				op.Key = numbers[0]
				if op.Kind == Append {
					op.Value = numbers[1]
				} else {
					op.List = numbers[1:]
				}
			}
			one.Ops = append(one.Ops, op)
		}
		out = append(out, one)
	}
	return out
}

// Each class is found where it is, and nothing else.
func TestClasses(t *testing.T) {
	for name, one := range map[string]struct {
		history string
		want    []string
	}{
		"one after another":              {"0 1 2 ok: a 1 5\n1 3 4 ok: r 1 5, a 1 6, r 1 5 6\n-1 5 6 ok: r 1 5 6", nil},
		"rolled back, and nobody saw it": {"0 1 2 no: a 1 5\n1 3 4 ok: r 1, a 1 6\n-1 5 6 ok: r 1 6", nil},
		"taken back, and nobody saw it":  {"0 1 2 ok: s, a 1 5, r 1 5, u, r 1, a 1 7, a 1 8 !\n-1 5 6 ok: r 1 7", nil},
		"read, and taken back":           {"0 1 9 ok: s, r 1, u, r 1 5\n1 2 3 ok: a 1 5\n-1 10 11 ok: r 1 5", nil},
		"read before, and taken back":    {"0 1 9 ok: r 1, s, u, r 1 5\n1 2 3 ok: a 1 5\n-1 10 11 ok: r 1 5", []string{GSingle, Unrepeatable}},
		"not known, seen or not":         {"0 1 0 maybe: a 1 5\n0 1 0 maybe: a 1 6\n1 3 4 ok: r 1 6\n-1 5 6 ok: r 1 6", nil},
		"aborted read":                   {"0 1 9 no: a 1 5\n1 2 3 ok: r 1 5", []string{AbortedRead}},
		"of what was taken back":         {"0 1 9 ok: s, a 1 5, u\n1 2 3 ok: r 1 5", []string{AbortedRead}},
		"intermediate read":              {"0 1 9 ok: a 1 5, a 1 6\n1 2 3 ok: r 1 5\n-1 10 11 ok: r 1 5 6", []string{GSingle, Intermediate}},
		"of nobody":                      {"0 1 2 ok: r 1 7", []string{OfNobody}},
		"twice":                          {"0 1 2 ok: a 1 5\n1 3 4 ok: r 1 5 5", []string{Duplicate}},
		"incompatible":                   {"0 1 9 ok: a 1 5\n1 1 9 ok: a 1 6\n2 1 9 ok: r 1 5\n3 1 9 ok: r 1 6 5", []string{Incompatible, GSingle}},
		"lost":                           {"0 1 2 ok: a 1 5\n-1 3 4 ok: r 1", []string{LostAppend}},
		"own not seen":                   {"0 1 4 ok: r 1, a 1 5, r 1\n-1 5 6 ok: r 1 5", []string{OwnMissing}},
		"undone seen":                    {"0 1 4 ok: s, a 1 5, u, r 1 5\n-1 5 6 ok: r 1", []string{UndoneSeen}},
		"unrepeatable":                   {"0 1 9 ok: r 1, r 1 5\n1 2 3 ok: a 1 5\n-1 10 11 ok: r 1 5", []string{GSingle, Unrepeatable}},
		"goes back":                      {"0 1 9 ok: r 1 5, r 1\n1 1 3 ok: a 1 5\n-1 10 11 ok: r 1 5", []string{GSingle, GoesBack, Unrepeatable}},
		"back after a locking read":      {"0 1 9 ok: l 1 5, r 1\n1 1 3 ok: a 1 5\n-1 10 11 ok: r 1 5", []string{GSingle}},
		"stale":                          {"0 1 2 ok: a 1 5\n1 3 4 ok: r 1\n-1 5 6 ok: r 1 5", []string{GSingle + RealTime, StaleStatement, StaleTxn}},
		"fractured":                      {"0 1 9 ok: a 1 5, a 2 6\n1 1 9 ok: r 1 5, r 2\n-1 10 11 ok: r 1 5, r 2 6", []string{Fractured, GSingle}},
		"write skew":                     {"0 1 9 ok: r 1, a 2 5\n1 1 9 ok: r 2, a 1 6\n-1 10 11 ok: r 1 6, r 2 5", []string{G2}},
		"writes crossed":                 {"0 1 9 ok: a 1 5, a 2 6\n1 1 9 ok: a 1 7, a 2 8\n-1 10 11 ok: r 1 5 7, r 2 8 6", []string{G0}},
		"read of each other":             {"0 1 9 ok: a 1 5, r 2 6\n1 1 9 ok: a 2 6, r 1 5\n-1 10 11 ok: r 1 5, r 2 6", []string{G1c}},
		"lost update":                    {"0 1 9 ok: r 1, a 1 5\n1 1 9 ok: r 1, a 1 6\n-1 10 11 ok: r 1 5 6", []string{GSingle}},
	} {
		r := Check(parsed(t, one.history))
		got := slices.Sorted(maps.Keys(r.Counts))
		slices.Sort(one.want)
		if !slices.Equal(got, one.want) {
			t.Errorf("%s: %q, want %q: %q", name, got, one.want, r.Examples)
		}
	}
}

// Transactions one after another have no anomaly; of those that all read a state from
// before, cycles are found.
func TestDrawn(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		lists, old := map[int][]int{}, map[int][]int{}
		var serial, stale []Txn
		for n := range 60 {
			one := Txn{Process: n % 3, Begin: int64(10 * n), End: int64(10*n + 5), Outcome: Committed}
			late := one
			for range 1 + random.IntN(4) {
				key := 1 + random.IntN(3)
				if random.IntN(2) == 0 {
					lists[key] = append(slices.Clip(lists[key]), 100*n+len(one.Ops))
					op := Op{Kind: Append, Key: key, Value: 100*n + len(one.Ops), At: one.Begin}
					one.Ops, late.Ops = append(one.Ops, op), append(late.Ops, op)
					continue
				}
				op := Op{Kind: Read, Key: key, List: lists[key], At: one.Begin}
				one.Ops = append(one.Ops, op)
				op.List = old[key]
				late.Ops = append(late.Ops, op)
			}
			if n%5 == 0 {
				old = maps.Clone(lists)
			}
			serial, stale = append(serial, one), append(stale, late)
		}
		last := Txn{Process: -1, Begin: 1000, End: 1001, Outcome: Committed}
		for key, list := range lists {
			last.Ops = append(last.Ops, Op{Kind: Read, Key: key, List: list, At: 1000})
		}
		if r := Check(append(serial, last)); len(r.Counts) > 0 {
			t.Fatalf("seed %d, one after another: %v %v", seed, r.Counts, r.Examples)
		}
		if r := Check(append(stale, last)); r.Counts[StaleTxn] == 0 || r.Counts[GSingle]+r.Counts[GSingle+RealTime] == 0 {
			t.Fatalf("seed %d, of an old state: %v", seed, r.Counts)
		}
	}
}
