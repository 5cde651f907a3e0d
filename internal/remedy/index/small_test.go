package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// A statement that reads seven rows by an index, and finds nothing, is worth one that holds
// its last condition where it takes most of all time; not where it comes now and then.
func TestLastConditionOfWhatIsAskedMost(t *testing.T) {
	booked := define("bookings", 190000, "id:int(10):190000 event:int(10):20 seat:int(10):1000 owner:int(10):5000 made:datetime(6):190000 gone:tinyint(4):2", "PRIMARY(id)", "event_seat(event,seat)")
	const asked = "SELECT * FROM bookings WHERE event = 7 AND seat = 8 AND gone = 0"
	often := run(asked, 305000, 22*time.Second, 7, 0)
	report := scan("SELECT COUNT(*) FROM bookings WHERE made > '2026-01-01 00:00:00' AND owner <> 3", 8, 8*time.Second, 190000, 1, 8)
	for _, c := range []struct {
		name       string
		statements []evidence.Statement
		want       []string
	}{
		{"most of the time", []evidence.Statement{often, report}, []string{"bookings(seat,event,gone)"}},
		{"now and then", []evidence.Statement{run(asked, 300, 22*time.Millisecond, 7, 0), report}, nil},
		{"it reads one row more", []evidence.Statement{run(asked, 305000, 22*time.Second, 2, 0), report}, nil},
	} {
		advice, notes := Advise(c.statements, []evidence.Table{booked}, Options{})
		if got := slices.DeleteFunc(columnsOf(advice), func(s string) bool { return s == "bookings(made,owner)" || s == "bookings(made)" }); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v (%v)", c.name, got, c.want, notes)
		}
	}
}

// A text that is only read makes no index cover: an index holds its first letters. So none
// is advised that the server has without them.
func TestTextOnlyReadCoversNothing(t *testing.T) {
	names := make([]string, 165)
	for i := range names {
		names[i] = fmt.Sprintf("'t%d'", i)
	}
	s := scan("SELECT title, template FROM templates WHERE title IN ("+strings.Join(names, ", ")+") AND sid IN ('-2', '-1', '1') ORDER BY sid", 1398, 40*time.Second, 1139, 165, 500)
	for _, engine := range []string{"MyISAM", "InnoDB"} {
		table := define("templates", 974, "tid:int(10):974 title:varchar(120):974 template:text sid:smallint(6):3", "PRIMARY(tid)", "sid(sid,title)")
		table.Engine = engine
		advice, notes := Advise([]evidence.Statement{s}, []evidence.Table{table}, Options{})
		for _, a := range advice {
			if slices.ContainsFunc(a.Columns, func(c string) bool { return strings.HasPrefix(c, "template") }) {
				t.Errorf("%s: %v (%v)", engine, a.Columns, notes)
			}
		}
	}
}
