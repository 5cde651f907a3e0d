package prove

import "testing"

// TestLeaveDrawn: an object that is drawn anew is not compared where two draws agreed
// by chance; one of which little varies is.
func TestLeaveDrawn(t *testing.T) {
	for _, c := range []struct {
		why, first, second, now string
		differs                 bool
	}{
		{"a kind that agreed by chance", `{"cards":[{"id":7,"name":"Card 9","kind":1,"power":30,"skill":3}],"coins":5}`,
			`{"cards":[{"id":8,"name":"Card 4","kind":1,"power":44,"skill":8}],"coins":5}`, `{"cards":[{"id":9,"name":"Card 2","kind":3,"power":12,"skill":5}],"coins":5}`, false},
		{"what stands around it", `{"cards":[{"id":7,"name":"Card 9","kind":1,"power":30,"skill":3}],"coins":5}`,
			`{"cards":[{"id":8,"name":"Card 4","kind":1,"power":44,"skill":8}],"coins":5}`, `{"cards":[{"id":9,"name":"Card 2","kind":1,"power":12,"skill":5}],"coins":6}`, true},
		{"half of the values", `{"id":1,"token":"a1","at":7,"coins":5,"name":"x","level":2}`, `{"id":2,"token":"b2","at":8,"coins":5,"name":"x","level":2}`, `{"id":3,"token":"c3","at":9,"coins":6,"name":"x","level":2}`, true},
		{"too few values", `{"id":1,"token":"a1","at":7,"coins":5}`, `{"id":2,"token":"b2","at":8,"coins":5}`, `{"id":3,"token":"c3","at":9,"coins":6}`, true},
		{"signs in texts", `{"a":"x, {1} \"q\"","b":10,"c":20,"d":30,"kind":1}`, `{"a":"x, {2} \"r\"","b":11,"c":21,"d":31,"kind":1}`, `{"a":"x, {3} \"s\"","b":12,"c":22,"d":32,"kind":2}`, false},
		{"the name of a value", `{"id":1,"n":10,"m":20,"d":30,"kind":1}`, `{"id":2,"n":11,"m":21,"d":31,"kind":1}`, `{"id":3,"n":12,"m":22,"d":32,"sort":1}`, true},
		{"a card of a list", `<li class="card r1" data-id="7"><b>Witch 9</b> level 1 attack 50 <i>Roar 3</i></li>`, `<li class="card r1" data-id="8"><b>Golem 4</b> level 1 attack 61 <i>Storm 5</i></li>`,
			`<li class="card r5" data-id="9"><b>Dragon 2</b> level 1 attack 70 <i>Thorn 4</i></li>`, false},
		{"its markup", `<li class="card r1" data-id="7"><b>Witch 9</b> level 1 attack 50 <i>Roar 3</i></li>`, `<li class="card r1" data-id="8"><b>Golem 4</b> level 1 attack 61 <i>Storm 5</i></li>`,
			`<li class="card r1" data-id="9"><u>Dragon 2</u> level 1 attack 70 <i>Thorn 4</i></li>`, true},
		{"a line that tells little new", `<p class="purse" id="me" title="you">ann: <b>7</b> coins <i>3</i></p>`, `<p class="purse" id="me" title="you">ann: <b>8</b> coins <i>4</i></p>`,
			`<p class="purse" id="me" title="you">bob: <b>9</b> coins <i>5</i></p>`, true},
		{"no markup", `7 a "8" b "9" c <1> d`, `8 a "9" b "7" c <2> d`, `9 a "7" b "8" c <3> e`, true},
		{"no JSON", `a {1: 2, 3: 4, 5: 6} 7`, `a {2: 3, 4: 5, 6: 7} 7`, `a {3: 4, 5: 6, 7: 8} 8`, true},
	} {
		p := NewPattern([]byte(c.first))
		p.Merge([]byte(c.second))
		p.leaveDrawn()
		if why := p.Differs([]byte(c.now)); (why != "") != c.differs {
			t.Errorf("%s: differs %q, want it to differ: %v", c.why, why, c.differs)
		}
	}
}
