package digest

import (
	"testing"
	"time"
)

// --since 22:00 is this machine's, and so are a log's times that name no zone.
func TestAccessZone(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	const log = "[GIN] 2024/05/12 - 21:59:00 | 200 |    15.5ms |       10.0.0.1 | GET      \"/a\"\n" +
		"[GIN] 2024/05/12 - 22:06:00 | 200 |    15.5ms |       10.0.0.1 | GET      \"/b\"\n"
	a := digestText(t, log, AccessOptions{Zone: tokyo, Since: time.Date(2024, 5, 12, 22, 0, 0, 0, tokyo)})
	if a.requests() != 1 || !a.From.Equal(time.Date(2024, 5, 12, 13, 6, 0, 0, time.UTC)) {
		t.Errorf("%d requests from %v, want 1 from 13:06 UTC", a.requests(), a.From)
	}
	if got := newAccessRun(nil, AccessOptions{}, nil).o.Zone; got != time.Local {
		t.Errorf("the zone is %v unless it is given", got)
	}
}
