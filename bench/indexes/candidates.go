package main

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// index that is tried: columns as CREATE INDEX has them.
type index struct {
	Table   string
	Columns []string
}

func (x index) key() string { return x.Table + "(" + strings.Join(x.Columns, ",") + ")" }

// first is the name of its first column.
func (x index) first() string {
	name, _, _ := strings.Cut(x.Columns[0], "(")
	return strings.TrimSuffix(name, " DESC")
}

// smallTable has fewer rows than any index is worth (docs/explanation/indexes.md).
const smallTable = 1000

// mostCandidates of a schema.
const mostCandidates = 40

// candidates are what the statements name, of each statement and table: every column,
// pairs and triples in any order, a mixed order with its directions, and what covers. Where
// that is too many, longer ones are drawn.
func (s *schema) candidates() []index {
	var short, long []index
	seen := map[string]bool{}
	add := func(to *[]index, t *table, columns ...string) {
		for _, had := range append(slices.Clone(t.keys), t.primary) {
			if len(columns) <= len(had) && slices.Equal(had[:len(columns)], columns) {
				return
			}
		}
		x := index{t.name, columns}
		if !seen[x.key()] && (columns[0] != "id" || len(columns) > 1) {
			seen[x.key()] = true
			*to = append(*to, x)
		}
	}
	for _, st := range s.stmts {
		for _, t := range s.tables {
			if t.rows < smallTable {
				continue
			}
			names := st.Names[t.name]
			for _, list := range ordered(names) {
				if len(list) == 1 {
					add(&short, t, list...)
				} else {
					add(&long, t, list...)
				}
			}
			if st.Desc != nil && len(names) > 1 {
				add(&short, t, directed(names, st.Desc)...)
			}
			if full := s.covering(t, st); len(full) > len(names) && len(names) > 0 {
				add(&long, t, full...)
			}
		}
	}
	r := rand.New(rand.NewPCG(uint64(s.seed), 1))
	short = short[:min(len(short), mostCandidates)]
	if room := mostCandidates - len(short); len(long) > room {
		r.Shuffle(len(long), func(i, j int) { long[i], long[j] = long[j], long[i] })
		long = long[:room]
	}
	return append(short, long...)
}

// covering is the statement's columns with all that it reads besides; nil if that is the
// whole row or a long text.
func (s *schema) covering(t *table, st statement) []string {
	if strings.Contains(st.Form, "*") && !strings.Contains(st.Form, "COUNT(*)") || st.Write {
		return nil
	}
	full := slices.Clone(st.Names[t.name])
	for _, c := range st.Reads[t.name] {
		if t.column(c).role == roleBody {
			return nil
		}
		if c != "id" && !slices.Contains(full, c) {
			full = append(full, c)
		}
	}
	return full
}

func directed(names []string, desc map[string]bool) []string {
	out := slices.Clone(names)
	for i, n := range out {
		if desc[n] {
			out[i] += " DESC"
		}
	}
	return out
}

// ordered are the names one by one, and pairs and triples in any order.
func ordered(names []string) (out [][]string) {
	for _, a := range names {
		out = append(out, []string{a})
	}
	for _, a := range names {
		for _, b := range names {
			if a != b {
				out = append(out, []string{a, b})
			}
		}
	}
	for _, a := range names {
		for _, b := range names {
			for _, c := range names {
				if a != b && b != c && a != c {
					out = append(out, []string{a, b, c})
				}
			}
		}
	}
	return out
}
