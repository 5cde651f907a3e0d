package index

// block is one query block: what a SELECT, UPDATE or DELETE reads from its
// tables at one level.
type block struct {
	accesses []*access
	order    []orderColumn // nil if none, or if no index can give it
	sorted   bool          // it has an ORDER BY
	group    []orderColumn
	grouped  bool // it has a GROUP BY or DISTINCT
	// aggregate without GROUP BY: one row comes out.
	aggregate bool
	extreme   *extreme // the only output is MIN or MAX of one column
	minmax    bool     // grouped, and every aggregate is MIN or MAX
	limit     float64  // rows; 0 if none
	writes    bool     // UPDATE or DELETE: whole rows are fetched
	subs      []subquery
}

// subquery of a block: run once, or for each row that comes out of it.
type subquery struct {
	block  *block
	perRow bool
	// list: its rows may be kept and searched instead (IN, EXISTS).
	list bool
}

// access is one table as one block uses it.
type access struct {
	block *block
	table *table // nil for a derived table
	alias string // lower case
	// derived is the block that a derived table comes from.
	derived *block
	preds   []*pred
	ors     []*orGroup      // each must be met by one of its arms
	needed  map[string]bool // columns that are read
	all     bool            // all columns are read
	// after lists accesses that must come first (outer joins).
	after []*access
	// residual selectivity of conditions that no index serves.
	residual float64
	// actual is the share of rows that pass all conditions as the server
	// counted them; 0 unknown.
	actual float64
	hinted bool // it names its indexes itself
	semi   bool // it is only asked whether a row is there: IN (SELECT …), EXISTS
	// merged are the indexes that are there whose entries the server compares with each
	// other to find the rows (index merge, intersection), by its own plan.
	merged []indexDef
}

type predKind int

const (
	predEqual predKind = iota // = constant, IS NULL
	predIn                    // IN (n constants)
	predRange                 // <, >, BETWEEN, LIKE 'x%'
	predJoin                  // = a column of another access of the same block
)

// pred is one condition that an index on column can serve.
type pred struct {
	column string
	kind   predKind
	n      float64 // predIn: values
	sel    float64 // share of rows, if told otherwise than by distinct; 0 not
	// null: IS NULL.
	null bool
	// outer: it is compared with a column of a query around this one.
	outer bool
	other *access // predJoin
	// otherColumn of other, "" for a derived table's unknown one.
	otherColumn string
}

type orderColumn struct {
	access *access
	column string
	desc   bool
}

type extreme struct {
	access *access
	column string
}

func (b *block) walk(visit func(*block)) {
	visit(b)
	for _, a := range b.accesses {
		if a.derived != nil {
			a.derived.walk(visit)
		}
	}
	for _, s := range b.subs {
		s.block.walk(visit)
	}
}

// selectivity of one condition: the share of the table's rows that meets it.
func (a *access) selectivity(p *pred) float64 {
	if p.sel > 0 {
		return p.sel
	}
	if a.table == nil {
		return 0.1
	}
	if share := a.table.columns[p.column].Nulls; p.null && share > 0 {
		return share
	}
	d := a.table.distinct(p.column)
	switch p.kind {
	case predEqual:
		d = max(d, fewestValues)
	case predIn:
		return min(1, p.n/d)
	case predRange:
		return rangeSelectivity
	case predJoin:
		if p.other.table != nil && p.otherColumn != "" {
			d = max(d, p.other.table.distinct(p.otherColumn))
		}
	}
	return 1 / d
}

// fewestValues of a column that is compared with one: a sample sees the rows that are oldest,
// and may know of no other value than that of all which is done with.
const fewestValues = 2

// rangeSelectivity of an inequality whose bounds are unknown: one third, as
// System R assumed (Selinger et al. 1979, Access path selection).
const rangeSelectivity = 1.0 / 3
