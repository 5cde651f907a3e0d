package prove

import (
	"testing"
	"time"
)

// What tells how long ago something was is hidden, with as many words as it has; numbers
// of other things stay.
func TestMaskAges(t *testing.T) {
	for text, want := range map[string]string{
		"activity: 1\u00a0hour, 46\u00a0minutes.":                   "activity: ‹time›.",
		"activity: 59\u00a0minutes.":                                "activity: ‹time›.",
		`{"age":"1\u00a0hour, 46\u00a0minutes"}`:                    `{"age":"‹time›"}`,
		"<td>2&nbsp;hours&nbsp;ago</td>":                            "<td>‹time›</td>",
		"Added by Anna about 1 hour ago. Updated 2 days ago":        "Added by Anna ‹time›. Updated ‹time›",
		"Added less than a minute ago, just now, a few seconds ago": "Added ‹time›, ‹time›, ‹time›",
		"age 3h 12m, up 2d 4h 7m 9s, 15m ago":                       "age ‹time›, up ‹time›, ‹time›",
		"3 days, 2 hours and 5 minutes to go":                       "‹time› to go",
		"due in 3 weeks; 5 years from now":                          "due ‹time›; ‹time›",
		"vor etwa 2 Stunden, vor einem Tag":                         "‹time›, ‹time›",
		"il y a 5 minutes; hace 3 horas; há 2 dias":                 "‹time›; ‹time›; ‹time›",
		"3分前、約2時間前、5 天前":                                            "‹time›、‹time›、‹time›",
		"within 30 days, 2 years of guarantee":                      "within 30 days, 2 years of guarantee",
		"5 minors, a secret, 12 m of rope, 3 days":                  "5 minors, a secret, 12 m of rope, 3 days",
		"h1 2m, #15m and 4d glasses":                                "h1 2m, #15m and 4d glasses",
	} {
		if got := string(maskAges([]byte(text))); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A page that tells an age is the same page later, when the age has another number of
// words, and another page if anything else differs.
func TestAgesThatGrow(t *testing.T) {
	now := time.Now()
	p := NewPattern(maskTimes([]byte("started 59 minutes ago by Anna\nend"), now))
	if why := p.Differs(maskTimes([]byte("started 1 hour, 3 minutes ago by Anna\nend"), now)); why != "" {
		t.Error(why)
	}
	if why := p.Differs(maskTimes([]byte("started 1 hour, 3 minutes ago by Bert\nend"), now)); why == "" {
		t.Error("another name is no difference")
	}
}
