package prefetch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kasoku/accelerator"
	"kasoku/internal/trace"
)

const (
	byID  = "SELECT name FROM users WHERE id = ?"
	posts = "SELECT id, user_id, editor_id FROM posts ORDER BY id LIMIT 4"
)

// follow is a read that came in n transactions after a list, with these keys.
func follow(n int, keys ...string) trace.Follow {
	f := trace.Follow{Statement: byID, Fingerprint: byID, Runs: n * len(keys)}
	for range n {
		f.Turns = append(f.Turns, trace.Turn{Keys: keys, Before: []trace.Earlier{{Statement: posts, Text: posts, Sent: true}}})
	}
	return f
}

// rows answers with columns of values: "id 1 2, user_id 5 3".
func rows(text string) Asked {
	return func(context.Context, string) (names []string, values [][]string, _ error) {
		for _, c := range strings.Split(text, ",") {
			words := strings.Fields(c)
			names, values = append(names, words[0]), append(values, words[1:])
		}
		return names, values, nil
	}
}

// A rule is made where one column has all keys; else the reason is told.
func TestLearn(t *testing.T) {
	changed := follow(2, "5", "3", "9")
	changed.Turns[0].Wrote, changed.Turns[1].Wrote = 1, 2
	counted := follow(2, "5", "3", "9")
	counted.Statement = "SELECT COUNT(*) FROM posts WHERE user_id = ?"
	alone := follow(2, "5", "3", "9")
	alone.Turns[0].Before, alone.Turns[1].Before = nil, nil
	for name, one := range map[string]struct {
		follow trace.Follow
		ask    Asked
		want   string // the column, or a part of the reason
	}{
		"one column":          {follow(2, "5", "3", "9"), rows("id 1 2 3 4,user_id 5 3 5 9,editor_id 1 3 5 1"), "user_id"},
		"in their order":      {follow(2, "5", "3", "9"), rows("id 1,user_id 5 3 5 9,editor_id 9 5 3"), "user_id"},
		"both in order":       {follow(2, "5", "3", "9"), rows("user_id 5 3 9,editor_id 5 3 9"), "columns editor_id, user_id of “SELECT id, user_id, editor_id FROM posts ORDER BY id LIMIT ?” have all its keys"},
		"most of them":        {follow(2, "5", "3", "9"), rows("id 1 2 3,user_id 5 3"), "column user_id of"},
		"a name twice":        {follow(2, "5", "3", "9"), rows("id 5 3 9,id 5 3 9"), "no column whose name is there once"},
		"one transaction":     {follow(1, "5", "3", "9"), rows("id 5 3 9"), "it was seen in 1 transaction"},
		"read in vain":        {follow(2, "5", "3", "9"), rows("id 5 3 9 1 2 4 6 7"), "the others would be read in vain"},
		"texts":               {follow(2, "'a'", "'b'", "'c'"), rows("id a b c"), "no integers"},
		"padded":              {follow(2, "05", "3", "9"), rows("id 05 3 9"), "no integers"},
		"writes between":      {changed, rows("id 5 3 9"), "a write comes between the reads in 2 of 2"},
		"no read by key":      {counted, rows("id 5 3 9"), "is expected at"},
		"nothing before":      {alone, rows("id 5 3 9"), "no plain read came before it"},
		"not to be had again": {follow(2, "5", "3", "9"), func(context.Context, string) ([]string, [][]string, error) { return nil, nil, errors.New("no right") }, "cannot be asked again: no right"},
		"outside":             {trace.Follow{Statement: byID, Fingerprint: byID, Runs: 3, Outside: 3}, rows("id 5"), "outside of transactions (3 of 3 runs)"},
		"values put in":       {trace.Follow{Fingerprint: byID, Runs: 3}, rows("id 5"), "its text is not in the log"},
	} {
		got, err := Learn(context.Background(), []trace.Follow{one.follow}, one.ask)
		if err != nil || len(got) != 1 {
			t.Fatal(name, got, err)
		}
		l := got[0]
		if rule := l.Rule != nil; rule == (l.Refused != "") || rule && l.Rule.Column != one.want || !rule && !strings.Contains(l.Refused, one.want) {
			t.Errorf("%s: %+v %+v", name, l.Rule, l)
		}
		if l.Rule != nil && (l.Turns != 2 || l.Keys != 6) {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// What is written is what the accelerator reads, with an ID for each rule.
func TestFile(t *testing.T) {
	two := []trace.Follow{follow(2, "5", "3", "9"), follow(2, "5", "3", "9")}
	two[1].Statement = "SELECT * FROM users WHERE id = ?"
	got, err := Learn(context.Background(), two, rows("user_id 5 3 9"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := accelerator.Parse(File(got))
	if err != nil {
		t.Fatalf("%v\n%s", err, File(got))
	}
	if ids := fmt.Sprint(rules.Counts()); !strings.Contains(ids, "users-by-user_id ") || !strings.Contains(ids, "users-by-user_id-2 ") {
		t.Error(ids)
	}
	if File([]Learned{{Refused: "so"}}) != nil {
		t.Error("a file without rules")
	}
}
