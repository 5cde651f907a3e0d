package load

import (
	"testing"
	"time"
)

// moment is a page with content v, asked for and given at second s.
func moment(v byte, s float64) page {
	at := time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second)))
	return page{status: 200, sum: [32]byte{v}, sent: at, arrived: at.Add(time.Millisecond)}
}

func TestJudgeFresh(t *testing.T) {
	// The page is 1 until second 4, then 2, and 3 once at second 9.
	var origin []page
	for s := range 12 {
		v := byte(1)
		if s >= 4 {
			v = 2
		}
		if s == 9 {
			v = 3
		}
		origin = append(origin, moment(v, float64(s)))
	}
	for _, c := range []struct {
		name  string
		p     page
		wrong bool
		known bool
	}{
		{"the present one", moment(2, 6.5), false, true},
		{"one that is not too old", moment(1, 4.5), false, true},
		{"at the limit: it changed at some time between 3 and 4", moment(1, 6), false, true},
		{"older than the limit", moment(1, 7.5), true, true},
		{"one that came while it changed", moment(2, 3.5), false, true},
		{"one that is still to come", moment(2, 2.9), true, true},
		{"one that may be from before the first", moment(7, 1), false, false},
		{"somebody else's page while nothing changed", moment(7, 7.2), true, true},
		{"an unseen one while it changed", moment(7, 9.5), false, false},
	} {
		why, known := judgeFresh(c.p, origin, 2*time.Second)
		if (why != "") != c.wrong || known != c.known {
			t.Errorf("%s: %q, known %v", c.name, why, known)
		}
	}
	if _, err := CheckFresh(t.Context(), Options{URL: "http://192.0.2.1/"}, FreshCheck{URLs: []string{"/"}}); err == nil {
		t.Error("a request was sent to another machine")
	}
}

// Another user's page is told from one that all get and that changed between two
// looks of this user's.
func TestJudgeOthersPages(t *testing.T) {
	user := func(name string, pages ...page) *asking { return &asking{url: "/", name: name, origin: pages} }
	for _, c := range []struct {
		why   string
		mine  *asking
		other *asking
		got   page
		wrong bool
	}{
		{"all get the same, and it was 2 in between", user("ann", moment(1, 0), moment(3, 2)), user("bob", moment(1, 0.5), moment(2, 1), moment(3, 1.8)), moment(2, 1.1), false},
		{"the same, but 2 was gone before", user("ann", moment(1, 2), moment(3, 4)), user("bob", moment(2, 1), moment(1, 2), moment(3, 4)), moment(2, 3), true},
		{"each has its own", user("ann", moment(1, 0), moment(3, 2)), user("bob", moment(2, 1)), moment(2, 1.1), true},
		{"own ones that change", user("ann", moment(1, 0), moment(3, 2)), user("bob", moment(4, 0.5), moment(2, 1), moment(5, 1.8)), moment(2, 1.1), true},
	} {
		c.mine.cached = []page{c.got}
		var r FreshReport
		c.mine.judge(0, []*asking{c.mine, c.other}, &r)
		if (len(r.Wrong) > 0) != c.wrong {
			t.Errorf("%s: %+v", c.why, r)
		}
	}
}

// What is only too old is told apart from what the application gives to somebody else,
// or to nobody: the first can be left out of a cache, the second ends it.
func TestTooOldIsToldApart(t *testing.T) {
	var origin []page
	for s := range 12 {
		v := byte(1)
		if s >= 4 {
			v = 2
		}
		origin = append(origin, moment(v, float64(s)))
	}
	for _, c := range []struct {
		got         page
		old, others int
	}{{moment(2, 6.5), 0, 0}, {moment(1, 7.5), 1, 0}, {moment(7, 7.2), 0, 1}} {
		a := &asking{url: "/x", name: "a stranger", origin: origin, cached: []page{c.got}}
		var r FreshReport
		a.judge(2*time.Second, []*asking{a}, &r)
		if len(r.Old) != c.old || r.Others != c.others || len(r.Wrong) != c.old+c.others {
			t.Errorf("%+v: %+v", c.got, r)
		}
	}
}
