package index

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

// IS NULL meets as many rows as a sample says, not one in as many as there are values.
func TestIsNull(t *testing.T) {
	for _, c := range []struct {
		nulls float64
		want  string
	}{{0.9, "visits(guest)"}, {0.0001, "visits(ended)"}} {
		visits := define("visits", 50000, "id:int(11):50000 guest:int(11):1500 ended:datetime:20000 room:int(11):40", "PRIMARY(id)")
		visits.Columns[2].Nulls = c.nulls
		advice, _ := Advise([]evidence.Statement{run("SELECT room, COUNT(*) FROM visits WHERE ended IS NULL AND guest = 7 GROUP BY room", 1000, 60*second, 50000, 4)}, []evidence.Table{visits}, Options{MaxColumns: 1})
		if got := strings.Join(columnsOf(advice), " "); got != c.want {
			t.Errorf("%g of the rows have none: advised %s, want %s", c.nulls, got, c.want)
		}
	}
}
