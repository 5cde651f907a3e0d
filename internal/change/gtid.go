package change

import (
	"slices"
	"strconv"
	"strings"
)

// gtid names a write of MariaDB: DOMAIN-SERVER-NUMBER (manual, "Global Transaction
// ID"). Within a domain the numbers grow in the order in which a server logs them.
type gtid struct {
	domain, server string
	number         uint64
}

// gtids parses a list of them, which commas part; false if something is none.
func gtids(list string) (out []gtid, ok bool) {
	for s := range strings.SplitSeq(list, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		p := strings.Split(s, "-")
		if len(p) != 3 {
			return nil, false
		}
		n, err := strconv.ParseUint(p[2], 10, 64)
		if err != nil {
			return nil, false
		}
		out = append(out, gtid{p[0], p[1], n})
	}
	return out, true
}

// covers reports whether a server with a state, the last write by each server in
// each domain (gtid_binlog_state), has all that a position is of. It is what a
// server asks itself when a follower comes with its position.
func covers(state, position string) bool {
	has, ok := gtids(state)
	wants, ok2 := gtids(position)
	if !ok || !ok2 {
		return false
	}
	for _, want := range wants {
		if !slices.ContainsFunc(has, func(g gtid) bool {
			return g.domain == want.domain && g.server == want.server && g.number >= want.number
		}) {
			return false
		}
	}
	return true
}
