package index

import (
	"sort"
	"strings"
)

// workload is all that is weighed against each other.
type workload struct {
	opts       Options
	catalog    *catalog
	statements []*statement
	writers    []*statement // that change or delete rows
	total      float64      // seconds of all statements
	candidates []*candidate
	bundles    []bundle
	memo       map[string]saving
}

// candidate is an index that could be created.
type candidate struct {
	indexDef
	alone float64 // objective if it is the only one
	// covering: its last columns are there only to be read.
	covering bool
	keys     int // columns before those
	// armed: it serves an arm of an OR, maybe only together with others.
	armed bool
	// leading distinct values: ties go to the most selective first column.
	leading float64
}

// maxCandidates per table kept for the search, best alone first.
const maxCandidates = 60

func (w *workload) listCandidates() []*candidate {
	found := map[string]*candidate{}
	for _, s := range w.statements {
		s.root.walk(func(b *block) {
			for _, a := range b.accesses {
				if a.table == nil || a.hinted || !a.table.indexable() || a.table.rows*(1+a.width()) < float64(w.opts.MinRows) {
					continue
				}
				w.addCandidates(found, a)
				w.addBundles(found, a)
			}
		})
	}
	perTable := map[*table][]*candidate{}
	for _, k := range sortedKeys(found) {
		c := found[k]
		c.alone = w.objective([]*candidate{c})
		if c.alone > 0 || c.armed {
			perTable[c.table] = append(perTable[c.table], c)
		}
	}
	var out []*candidate
	for _, t := range w.catalog.all {
		list := perTable[t]
		sort.SliceStable(list, func(i, j int) bool {
			if list[i].covering != list[j].covering {
				return !list[i].covering
			}
			return better(list[i], list[i].alone, list[j], list[j].alone)
		})
		plain := 0
		for plain < len(list) && !list[plain].covering {
			plain++
		}
		out = append(out, list[:min(plain, maxCandidates)]...)
		out = append(out, list[plain:plain+min(len(list)-plain, maxCandidates)]...)
	}
	return out
}

func (w *workload) addCandidates(found map[string]*candidate, a *access) {
	plain, covering := w.sequences(a)
	for i, list := range [][]keyed{plain, covering} {
		for _, columns := range list {
			c := w.candidate(a, columns.list)
			if c == nil {
				continue
			}
			c.covering, c.keys = i == 1, min(columns.keys, len(c.columns))
			if c.covering && (c.copiesTable() || !a.coveredBy(c.indexDef)) {
				continue // a text's first letters are not the text
			}
			key := c.table.key + ":" + c.key
			if have := found[key]; have == nil {
				found[key] = c
			} else {
				have.covering, have.keys = have.covering && c.covering, max(have.keys, c.keys)
			}
		}
	}
}

// copiesTable: with the primary key it holds every column, two and more of them only to be
// read: the whole table once more, whose entries are no shorter than the rows.
func (c *candidate) copiesTable() bool {
	columns, _ := c.withPrimary()
	return c.table.innodb() && len(columns) >= len(c.table.columns) && len(c.columns)-c.keys > 1
}

// keyed is a list of columns, of which those after the first keys are only read.
type keyed struct {
	list []string
	keys int
}

// sequences lists column orders that could serve an access: some of its equal
// columns in any order, then what it ranges, sorts or groups by; covering ones
// go on with the rest of what it reads.
func (w *workload) sequences(a *access) (plain, covering []keyed) {
	var equal, join, ranged []string
	for _, p := range a.preds {
		switch p.kind {
		case predEqual, predIn:
			equal = appendNew(equal, p.column)
		case predRange:
			ranged = appendNew(ranged, p.column)
		case predJoin:
			join = appendNew(join, p.column)
		}
	}
	var tails [][]string
	tails = append(tails, nil)
	for _, r := range ranged {
		tails = append(tails, []string{r})
	}
	for _, list := range [][]orderColumn{a.block.order, a.block.group} {
		if tail := ownColumns(a, list); !a.table.told(tail) {
			tails = append(tails, tail)
			if e := a.block.extreme; e != nil && e.access == a {
				tails = append(tails, append(append([]string(nil), tail...), e.column))
			}
		}
	}
	if e := a.block.extreme; e != nil && e.access == a {
		tails = append(tails, []string{e.column})
	}
	if group := ownColumns(a, a.block.group); len(group) > 0 && a.block.minmax && len(equal) > 0 {
		list := appendNew(appendNew(group, equal...), sortedKeys(a.needed)...)
		list = list[:min(len(list), len(group)+len(equal)+1)]
		plain = append(plain, keyed{list, len(list)})
	}
	var rest []string
	if !a.all && !a.block.writes {
		for _, c := range sortedKeys(a.needed) {
			if !a.table.innodb() || !contains(a.table.primary, c) { // InnoDB adds those by itself
				rest = append(rest, c)
			}
		}
	}
	for _, head := range heads(equal, join) {
		for _, order := range orders(a.table, head) {
			for _, tail := range tails {
				keys := appendNew(append([]string(nil), order...), tail...)
				plain = append(plain, keyed{keys, len(keys)})
				if full := appendNew(append([]string(nil), keys...), rest...); len(full) > len(keys) {
					covering = append(covering, keyed{full, len(keys)})
				}
			}
		}
	}
	return plain, covering
}

// heads are the sets of equal columns worth leading an index.
func heads(equal, join []string) [][]string {
	seen := map[string]bool{}
	var out [][]string
	add := func(set []string) {
		set = appendNew(nil, set...)
		key := append([]string(nil), set...)
		sort.Strings(key)
		if k := strings.Join(key, ","); !seen[k] {
			seen[k] = true
			out = append(out, set)
		}
	}
	add(nil)
	add(equal)
	add(append(append([]string(nil), equal...), join...))
	add(join)
	all := appendNew(append([]string(nil), equal...), join...)
	for i, c := range all {
		add([]string{c})
		add(append(append([]string(nil), equal...), c))
		for _, d := range all[i+1:] {
			add([]string{c, d})
		}
	}
	return out
}

// orders of a set: all of them up to three columns; beyond, the most selective
// first with each column in turn put in front.
func orders(t *table, set []string) [][]string {
	bySelectivity := append([]string(nil), set...)
	sort.SliceStable(bySelectivity, func(i, j int) bool {
		a, b := t.distinct(bySelectivity[i]), t.distinct(bySelectivity[j])
		if a != b {
			return a > b
		}
		return bySelectivity[i] < bySelectivity[j]
	})
	if len(set) <= 1 {
		return [][]string{bySelectivity}
	}
	if len(set) <= 3 {
		return permutations(bySelectivity)
	}
	var out [][]string
	for _, front := range bySelectivity {
		out = append(out, appendNew([]string{front}, bySelectivity...))
	}
	return out
}

func permutations(set []string) [][]string {
	if len(set) <= 1 {
		return [][]string{append([]string(nil), set...)}
	}
	var out [][]string
	for i, c := range set {
		rest := append(append([]string(nil), set[:i]...), set[i+1:]...)
		for _, p := range permutations(rest) {
			out = append(out, append([]string{c}, p...))
		}
	}
	return out
}

// ownColumns are the columns of an order, with descends behind those that do where some
// do and others do not: any other order is read from one end of an index or the other.
func ownColumns(a *access, list []orderColumn) (out []string) {
	directed := mixed(list) != nil
	for _, o := range list {
		if o.access != a {
			return nil
		}
		if directed && o.desc {
			o.column += descends
		}
		out = appendNew(out, o.column)
	}
	return out
}

// descends stands behind the name of a column in descending order.
const descends = " desc"

// directions takes that word away from the columns, each of which stays once.
func directions(columns []string) (names []string, desc []bool) {
	for i, c := range columns {
		name, down := strings.CutSuffix(c, descends)
		if contains(names, name) {
			continue
		}
		names = append(names, name)
		if down && desc == nil {
			desc = make([]bool, len(names)-1, len(columns)-i+len(names))
		}
		if desc != nil {
			desc = append(desc, down)
		}
	}
	return names, desc
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// candidate makes an index of the columns, or nil if it must not be one.
func (w *workload) candidate(a *access, columns []string) *candidate {
	t := a.table
	columns, desc := directions(columns)
	if desc == nil {
		columns = trimPrimary(t, columns)
	}
	if len(columns) == 0 || len(columns) > w.opts.MaxColumns || t.beginsWithPrimary(columns) {
		return nil
	}
	d := indexDef{table: t, desc: desc}
	bytes := 0
	for i, c := range columns {
		col, ok := t.columns[c]
		if !ok {
			return nil
		}
		length, ok := prefixLength(col, w.opts.PrefixLength)
		if !ok {
			return nil
		}
		if bytes+keyBytes(col, length) > maxKeyBytes {
			if base, _ := columnType(col); !textual(base) || i == 0 {
				return nil
			}
			length = w.opts.PrefixLength
		}
		bytes += keyBytes(col, length)
		d.columns = append(d.columns, c)
		d.lengths = append(d.lengths, length)
	}
	if bytes > maxKeyBytes || d.lengths[len(d.lengths)-1] > 0 && len(a.preds) == 0 {
		return nil
	}
	for _, have := range t.indexes {
		if d.prefixOf(have) {
			return nil
		}
	}
	if !w.selective(a, d) {
		return nil
	}
	d.key = d.spec()
	return &candidate{indexDef: d, leading: t.distinct(d.columns[0])}
}

// beginsWithPrimary reports whether the first columns are InnoDB's primary key: whoever
// knows these finds the row itself by as many pages as its entry in another index.
func (t *table) beginsWithPrimary(columns []string) bool {
	n := len(t.primary)
	if !t.innodb() || n == 0 || len(columns) < n {
		return false
	}
	for _, c := range columns[:n] {
		if !contains(t.primary, c) {
			return false
		}
	}
	return true
}

// maxKeyBytes of an InnoDB index with row format DYNAMIC and 16 KiB pages.
const maxKeyBytes = 3072

// trimPrimary drops trailing columns that InnoDB adds by itself.
func trimPrimary(t *table, columns []string) []string {
	if !t.innodb() {
		return columns
	}
	for cut := 0; cut < len(columns); cut++ {
		tail := columns[cut:]
		if len(tail) > len(t.primary) {
			continue
		}
		same := true
		for i, c := range tail {
			same = same && t.primary[i] == c
		}
		if same {
			return columns[:cut]
		}
	}
	return columns
}

// minDistinct of an index's columns together; below it a lookup reads more
// than a tenth of the table, and a scan is about as fast.
const minDistinct = 10

// selective refuses indexes on flags alone, unless the counts of rows sent
// prove that the value asked for is rare, or no row has to be fetched.
func (w *workload) selective(a *access, d indexDef) bool {
	distinct := 1.0
	for _, c := range d.columns {
		distinct *= a.table.distinct(c)
	}
	return distinct >= minDistinct || a.actual > 0 && a.actual < 0.01 || a.coveredBy(d) && distinct >= 2
}
