package prove

// explanation is why a page differs though nothing is wrong with it, which a take has shown.
type explanation struct {
	of    func(*difference) bool
	first string                          // before what the first such page is
	all   func(e *equality, n int) string // of all n of them
}

var explanations = []explanation{
	{func(d *difference) bool { return d.loaded }, "beside load, and not alone,", func(_ *equality, n int) string {
		return count(n, "request", "requests") + " differed beside load and not without it: what the load writes is seen there"
	}},
	{func(d *difference) bool { return d.paced }, "with the time between two requests", func(_ *equality, n int) string {
		return count(n, "request tells", "requests tell") + " how much time lies between requests: where each took as long as it did as found, the answer was the same, and where each took longer it was another one"
	}},
	{func(d *difference) bool { return d.drawn }, "from one start of the application to the next", func(_ *equality, n int) string {
		return count(n, "request holds", "requests hold") + " what the application draws when it starts: restarted once more, it gave another value in the same places"
	}},
	{func(d *difference) bool { return d.order }, "in an order that its statement leaves open", (*equality).byIndex},
}

// explained reports whether one of them holds.
func (d *difference) explained() bool {
	for _, x := range explanations {
		if x.of(d) {
			return true
		}
	}
	return false
}
