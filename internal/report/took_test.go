package report

import (
	"testing"
	"time"

	"kasoku/internal/store"
)

// How long a session took is without the time for which it stood still.
func TestTook(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	for name, s := range map[string]store.Session{
		"whole":              {Started: at(10), Ended: at(15)},
		"taken up":           {Started: at(10), Resumed: at(2000), Ended: at(2002), Worked: 5 * time.Minute},
		"running":            {Started: at(5995)},
		"taken up, and runs": {Started: at(10), Resumed: at(5998), Worked: 3 * time.Minute},
	} {
		m := &Model{Session: s, Created: at(6000)}
		m.addTook()
		if m.Took != 5*time.Minute {
			t.Errorf("%s: %s", name, m.Took)
		}
	}
}
