package wiki_test

import (
	"strings"
	"testing"

	"kasoku/internal/load"
)

// The minute in which the list of recent changes was made is masked: answers as
// found may all be of one minute, and then nothing else tells that it varies.
func TestMinuteIsMasked(t *testing.T) {
	s, err := load.LoadForRecording("scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	made := func(minute string) string {
		return string(s.Mask([]byte(`<a href="/index.php?title=x&amp;from=2026112318` + minute + `30&amp;fromFormatted=2026%E5%B9%B4+%28%E7%81%AB%29+03%3A` + minute +
			`&amp;days=30" data-params="{&quot;from&quot;:&quot;2026112318` + minute + `30&quot;}" data-keys="from,fromFormatted">2026年11月24日 (火)の03:` + minute + `以降の更新を表示する</a> 03:07 edit`)))
	}
	if one, other := made("07"), made("58"); one != other || !strings.Contains(one, "03:07 edit") {
		t.Errorf("masked too little or too much:\n%s\n%s", one, other)
	}
}

// A difference says whether it comes from the main cache.
func TestKeyOfADifferenceIsMasked(t *testing.T) {
	s, err := load.LoadForRecording("scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const rest = "</table><hr class='diff-hr' id='mw-oldid' />\n\t\t<h2>"
	found := string(s.Mask([]byte("<ins>a</ins></td></tr>\n" + rest)))
	cached := string(s.Mask([]byte("<ins>a</ins></td></tr>\n\n<!-- diff cache key wiki:diff::1.12:old-7381:rev-100104 -->\n" + rest)))
	other := string(s.Mask([]byte("<ins>b</ins></td></tr>\n" + rest)))
	if found != cached || found == other {
		t.Errorf("masked too little or too much:\n%s\n%s\n%s", found, cached, other)
	}
}
