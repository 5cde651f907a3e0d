package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// mutant is one site that was drawn.
type mutant struct {
	site
	number int
	group  string
	pack   *pack
}

// draw takes n mutants, as many of each group, and in a group as many of each
// kind as there are. Which ones is told by a hash of the seed and the site's
// id: an edit elsewhere leaves the draw as it is, but for what was edited.
func draw(ctx context.Context, root string, seed int64, n int) ([]mutant, map[string][]*pack, error) {
	var out []mutant
	all := map[string][]*pack{}
	for i, g := range groups {
		packs, err := load(ctx, root, g)
		if err != nil {
			return nil, nil, err
		}
		all[g] = packs
		want := n / len(groups)
		if i < n%len(groups) {
			want++
		}
		drawn, err := drawGroup(g, packs, seed, want)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, drawn...)
	}
	for i := range out {
		out[i].number = i + 1
	}
	return out, all, nil
}

// drawGroup goes over the kinds in turn and takes of each the next site that
// compiles, until there are n.
func drawGroup(group string, packs []*pack, seed int64, n int) ([]mutant, error) {
	byKind := map[kind][]mutant{}
	for _, p := range packs {
		if slices.Contains(helpers, p.dir) {
			continue
		}
		sites, err := p.sites()
		if err != nil {
			return nil, err
		}
		for _, s := range sites {
			byKind[s.kind] = append(byKind[s.kind], mutant{site: s, group: group, pack: p})
		}
	}
	for _, list := range byKind {
		slices.SortFunc(list, func(a, b mutant) int { return compare(rank(seed, a.id()), rank(seed, b.id())) })
	}
	turn := slices.Clone(kinds)
	slices.SortFunc(turn, func(a, b kind) int { return compare(rank(seed, group+string(a)), rank(seed, group+string(b))) })
	var out []mutant
	for len(out) < n {
		before := len(out)
		for _, k := range turn {
			for len(out) < n && len(byKind[k]) > 0 {
				m := byKind[k][0]
				byKind[k] = byKind[k][1:]
				if m.pack.compiles(m.site) {
					out = append(out, m)
					break
				}
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("%s has only %d mutants, fewer than %d; take a smaller -n", group, before, n)
		}
	}
	slices.SortStableFunc(out, func(a, b mutant) int {
		if c := compare(a.file, b.file); c != 0 {
			return c
		}
		return a.from - b.from
	})
	return out, nil
}

func rank(seed int64, id string) uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, id))
	return binary.BigEndian.Uint64(h[:8])
}

func compare[T uint64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
