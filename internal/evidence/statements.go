package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/sqllog"
)

const (
	// maxClasses bounds memory: an application whose statements cannot be told
	// apart by values (names of tables built from numbers) has endless classes.
	maxClasses = 5000
	// keptClasses go into Evidence, most total time first. What comes after
	// them is less than a per mille of the time in every log looked at.
	keptClasses = 200
	// otherClass gathers the rest.
	otherClass = "(other statements)"
)

// classes sums entries by schema and fingerprint.
type classes struct {
	service string
	skip    map[uint64]bool // threads that are Kasoku's own
	byKey   map[[2]string]*class
	cache   map[string]string // statement → fingerprint: most repeat often
	// Seen statements and administrator commands, without Kasoku's own.
	statements, commands int64
}

type class struct {
	Statement
	slowest time.Duration
}

func newClasses(service string, skip map[uint64]bool) *classes {
	return &classes{service: service, skip: skip, byKey: map[[2]string]*class{}, cache: map[string]string{}}
}

func (c *classes) add(e sqllog.SlowEntry) error {
	if c.skip[e.Thread] {
		return nil
	}
	if e.Command != "" {
		c.commands++
		return nil
	}
	c.statements++
	print := c.fingerprint(e.SQL)
	key := [2]string{e.Schema, print}
	k := c.byKey[key]
	if k == nil {
		if len(c.byKey) >= maxClasses {
			key, print = [2]string{"", otherClass}, otherClass
			k = c.byKey[key]
		}
		if k == nil {
			k = &class{Statement: Statement{Service: c.service, Schema: key[0], Fingerprint: print}, slowest: -1}
			c.byKey[key] = k
		}
	}
	k.Count++
	k.Total += e.QueryTime
	k.LockTime += e.LockTime
	k.RowsExamined += e.RowsExamined
	k.RowsSent += e.RowsSent
	k.FullScans += int64(btoi(e.FullScan))
	k.TmpTables += e.TmpTables
	k.TmpDisk += e.TmpDisk
	k.Filesorts += int64(btoi(e.Filesort))
	if e.QueryTime > k.slowest && print != otherClass {
		k.slowest, k.Example = e.QueryTime, e.SQL // masked in list
	}
	return nil
}

func (c *classes) fingerprint(sql string) string {
	if p, ok := c.cache[sql]; ok {
		return p
	}
	p := sqllog.Fingerprint(sql)
	if len(c.cache) < 20000 && len(sql) < 1024 {
		c.cache[sql] = p
	}
	return p
}

// list returns the classes, most total time first, with masked examples.
func (c *classes) list() []Statement {
	out := make([]Statement, 0, len(c.byKey))
	for _, k := range c.byKey {
		s := k.Statement
		s.Example = strings.ToValidUTF8(sqllog.Mask(s.Example), "?")
		out = append(out, s)
	}
	sortStatements(out)
	return out[:min(len(out), keptClasses)]
}

func sortStatements(s []Statement) {
	slices.SortFunc(s, func(a, b Statement) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
